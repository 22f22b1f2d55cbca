use quillgate::client::{AbortSignal, Client, Error, Headers};
use quillgate::{CallOptions, GetAgentJob, JobId, JobStatus, Millis};

/// Watches a job for at most ten minutes, with a timeout of 5 s per poll.
pub async fn follow(client: &Client, id: &str, signal: AbortSignal) -> Result<JobStatus, Error> {
    let headers = Headers::new();
    headers.set("x-purpose", "dashboard");
    let mut watch = client
        .agent_jobs()
        .watch(GetAgentJob::new(JobId::new(id)?))
        .with_timeout(Millis::from_seconds(600))
        .with_options(CallOptions {
            timeout: Millis::from_seconds(5),
            ..CallOptions::default()
        })
        .with_signal(signal)
        .with_headers(&headers);
    let mut status = JobStatus::Active;
    while let Some(change) = watch.next().await? {
        status = change.job.status.unwrap_or(status);
    }
    Ok(status)
}
