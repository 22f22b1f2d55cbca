use std::time::Duration;

use quillgate::{Client, Error, JobStatus};

/// Watches a job for at most ten minutes, with a timeout of 5 s per poll.
pub async fn follow(client: &Client, id: &str) -> Result<JobStatus, Error> {
    let mut watch = client
        .agent_jobs()
        .watch(id)
        .watch_timeout(Duration::from_mins(10))
        .timeout(Duration::from_secs(5));
    let mut status = JobStatus::Active;
    while let Some(change) = watch.next().await? {
        status = change.job.status.unwrap_or(status);
    }
    Ok(status)
}
