use quillgate::client::{Client, Error, IdempotencyKey};
use quillgate::{AgentJob, CreateAgentJob};

/// Creates a job, and tries again if the outcome of the first attempt is unknown.
pub async fn create(
    client: &Client,
    create: CreateAgentJob,
    key: IdempotencyKey,
) -> Result<AgentJob, Error> {
    let first = client.agent_jobs().create(create.clone());
    match first.with_idempotency_key(key.clone()).await {
        Err(Error::Api(error)) if error.code.as_deref() == Some("/problems/outcome-unknown") => {
            client.agent_jobs().create(create).force(key).await
        }
        result => result,
    }
}
