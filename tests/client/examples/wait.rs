use std::time::Duration;

use quillgate::{Client, Error};

/// Returns the pull request of a job, or `None` if the job takes longer than ten minutes.
pub async fn pull_request(client: &Client, id: &str) -> Result<Option<String>, Error> {
    let watch = client.agent_jobs().watch(id);
    match watch.watch_timeout(Duration::from_mins(10)).wait().await {
        Ok(job) => Ok(job.pr_link),
        Err(Error::WatchTimeout(_)) => Ok(None),
        Err(error) => Err(error),
    }
}
