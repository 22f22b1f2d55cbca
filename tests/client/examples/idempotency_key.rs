use quillgate::client::{Client, Error, IdempotencyKey};
use quillgate::{AgentJob, CreateAgentJob, Prompt};

/// Creates one job for a release, even if called several times within a day.
pub async fn announce(client: &Client, version: &str) -> Result<AgentJob, Error> {
    let prompt = Prompt::new(format!("Update the changelog for {version}"))?;
    let key = IdempotencyKey::new(format!("changelog-{version}"))?;
    client
        .agent_jobs()
        .create(CreateAgentJob::new(prompt))
        .with_idempotency_key(key)
        .await
}
