use quillgate::client::{AbortSignal, Client, Error, Headers};
use quillgate::{AgentJob, CallOptions, GetAgentJob, JobId, Millis};

/// Reads a job in 2 s or not at all.
pub async fn look(client: &Client, id: &str, left: AbortSignal) -> Result<AgentJob, Error> {
    let headers = Headers::new();
    headers.set("x-purpose", "dashboard");
    let options = CallOptions {
        timeout: Millis::from_seconds(2),
        max_retries: 0,
        ..CallOptions::default()
    };
    client
        .agent_jobs()
        .get(GetAgentJob::new(JobId::new(id)?))
        .with_options(options)
        .with_signal(left)
        .with_headers(&headers)
        .await
}
