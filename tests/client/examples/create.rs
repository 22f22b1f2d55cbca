use quillgate::client::{Client, Error};
use quillgate::{AgentJob, CreateAgentJob, Prompt};

pub async fn document_endpoint(client: &Client) -> Result<AgentJob, Error> {
    let prompt = Prompt::new("Document the new endpoint")?;
    client
        .agent_jobs()
        .create(CreateAgentJob::new(prompt))
        .await
}
