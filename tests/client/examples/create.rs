use quillgate::AgentJob;
use quillgate::client::{Client, Error};

pub async fn document_endpoint(client: &Client) -> Result<AgentJob, Error> {
    client
        .agent_jobs()
        .create("Document the new endpoint")
        .send()
        .await
}
