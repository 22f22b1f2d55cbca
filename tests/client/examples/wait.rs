use quillgate::client::{Client, Error};
use quillgate::{GetAgentJob, JobId, Millis};

/// Returns the pull request of a job, or `None` if the job takes longer than ten minutes.
pub async fn pull_request(client: &Client, id: &str) -> Result<Option<String>, Error> {
    let job = GetAgentJob::new(JobId::new(id)?);
    let wait = client.agent_jobs().wait(job);
    match wait.with_timeout(Millis::from_seconds(600)).await {
        Ok(job) => Ok(job.pr_link),
        Err(Error::WatchTimeout(_)) => Ok(None),
        Err(error) => Err(error),
    }
}
