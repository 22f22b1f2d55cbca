use quillgate::client::http::Method;
use quillgate::{Client, Error};
use serde_json::{Value, json};

/// Creates a page, for which the client has no method.
pub async fn create_page(client: &Client) -> Result<Value, Error> {
    let path = format!("/v1/project/pages/{}", client.project());
    let request = client.request(Method::POST, path);
    request.body(json!({})).send().await
}

/// Returns October's views as CSV, from a gateway.
pub async fn export(client: &Client) -> Result<String, Error> {
    let path = format!("/v1/analytics/{}/views/export", client.project());
    let request = client.request(Method::GET, path).query("format", "csv");
    let request = request.query("dateFrom", "2026-10-01");
    let response = request
        .query("dateTo", "2026-11-01")
        .send_for_text()
        .await?;
    Ok(response.result)
}
