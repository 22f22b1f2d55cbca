use quillgate::client::http::Method;
use quillgate::{Client, Error};
use serde_json::{Value, json};

/// Starts a deployment of the site, for which the client has no method.
pub async fn deploy(client: &Client) -> Result<Value, Error> {
    let path = format!("/v1/project/update/{}", client.project());
    let request = client.request(Method::POST, path);
    request.body(json!({})).send().await
}
