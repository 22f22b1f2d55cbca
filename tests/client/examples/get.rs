use quillgate::client::{Client, Error};
use quillgate::{GetAgentJob, JobId};

pub async fn find_pull_request(client: &Client, id: &str) -> Result<Option<String>, Error> {
    let get = GetAgentJob::new(JobId::new(id)?);
    Ok(client.agent_jobs().get(get).await?.pr_link)
}
