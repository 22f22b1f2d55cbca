use std::future::ready;

use futures_util::TryStreamExt;
use quillgate::{Client, Error, ListAgentJobs};

/// Returns the pull requests of all jobs of the project.
pub async fn pull_requests(client: &Client) -> Result<Vec<String>, Error> {
    let jobs = client.agent_jobs().list(ListAgentJobs::default()).rows();
    let links = jobs
        .into_stream()
        .try_filter_map(|job| ready(Ok(job.pr_link)));
    links.try_collect().await
}
