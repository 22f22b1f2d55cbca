use quillgate::{Client, Error};

pub async fn find_pull_request(client: &Client, id: &str) -> Result<Option<String>, Error> {
    Ok(client.agent_jobs().get(id).send().await?.pr_link)
}
