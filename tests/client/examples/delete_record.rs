use quillgate::{Client, Error};

pub async fn forget(client: &Client, id: &str) -> Result<(), Error> {
    client.agent_jobs().delete_record(id).send().await
}
