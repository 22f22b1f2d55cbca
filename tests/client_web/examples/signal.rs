use quillgate::{AgentJob, Client, Error};
use web_sys::AbortSignal;

/// Reads a job unless `signal` aborts first.
pub async fn read_job(client: &Client, id: &str, signal: AbortSignal) -> Result<AgentJob, Error> {
    client.agent_jobs().get(id).signal(signal).send().await
}
