use std::time::Duration;

use quillgate::client::http::{HeaderMap, HeaderValue};
use quillgate::{AgentJob, Client, Error, ValidationError};

/// Returns a client with a timeout of 10 s per attempt and 25 s per call.
pub fn connect(token: &str, host: impl quillgate::client::Host) -> Result<Client, ValidationError> {
    Client::builder()
        .gateway("https://gate.example", token)
        .project("acme")
        .timeout(Duration::from_secs(10))
        .total_timeout(Duration::from_secs(25))
        .host(host)
        .build()
}

/// Reads a job without retries, with an additional header.
pub async fn read_job(client: &Client, id: &str) -> Result<AgentJob, Error> {
    let mut headers = HeaderMap::new();
    headers.insert("x-purpose", HeaderValue::from_static("dashboard"));
    let call = client.agent_jobs().get(id);
    call.headers(headers).max_retries(0).send().await
}
