use quillgate::client::{Client, Error};
use quillgate::{JobPageSize, ListAgentJobs, ListedJob};

pub async fn newest_jobs(client: &Client) -> Result<Vec<ListedJob>, Error> {
    let newest = ListAgentJobs {
        limit: Some(JobPageSize::new(5)?),
        ..ListAgentJobs::default()
    };
    Ok(client.agent_jobs().list(newest).send().await?.jobs)
}
