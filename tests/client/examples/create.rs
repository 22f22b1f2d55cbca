use quillgate::{Client, CreatedJob, Error};

pub async fn document_endpoint(client: &Client) -> Result<CreatedJob, Error> {
    client
        .agent_jobs()
        .create("Document the new endpoint")
        .send()
        .await
}
