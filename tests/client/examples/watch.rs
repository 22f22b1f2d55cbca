use quillgate::{Client, Error, JobStatus};

pub async fn follow(client: &Client, id: &str) -> Result<Vec<JobStatus>, Error> {
    let mut watch = client.agent_jobs().watch(id);
    let mut statuses = Vec::new();
    while let Some(change) = watch.next().await? {
        statuses.extend(change.job.status);
    }
    Ok(statuses)
}
