use quillgate::client::{AbortSignal, Client, Error, Headers};
use quillgate::{AgentJob, CallOptions, GetAgentJob, JobId, Millis};

pub async fn finish(client: &Client, id: &str, signal: AbortSignal) -> Result<AgentJob, Error> {
    let headers = Headers::new();
    headers.set("x-purpose", "release");
    let options = CallOptions {
        timeout: Millis::from_seconds(5),
        ..CallOptions::default()
    };
    client
        .agent_jobs()
        .wait(GetAgentJob::new(JobId::new(id)?))
        .with_options(options)
        .with_signal(signal)
        .with_headers(&headers)
        .await
}
