use quillgate::{Client, CreatedJob, Error};

/// Creates a job, and tries again if the outcome of the first attempt is unknown. That may create a
/// second job.
pub async fn create(client: &Client, prompt: &str, key: &str) -> Result<CreatedJob, Error> {
    let call = || client.agent_jobs().create(prompt).idempotency_key(key);
    match call().send().await {
        Err(Error::OutcomeUnknown(_)) => call().force().send().await,
        result => result,
    }
}
