use quillgate::{Client, Error, JobStatus, ListedJob};

/// Returns the five newest jobs that failed.
pub async fn failed_jobs(client: &Client) -> Result<Vec<ListedJob>, Error> {
    let failed = client.agent_jobs().list(..).state(JobStatus::Failed);
    Ok(failed.limit(5).send().await?.jobs)
}
