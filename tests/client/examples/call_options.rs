use quillgate::client::{AbortSignal, Client, Error, Headers};
use quillgate::{AgentJob, CallOptions, GetAgentJob, JobId, Millis};

/// Reads a job within 2 s, without retries.
pub async fn read_job(client: &Client, id: &str, signal: AbortSignal) -> Result<AgentJob, Error> {
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
        .with_signal(signal)
        .with_headers(&headers)
        .await
}
