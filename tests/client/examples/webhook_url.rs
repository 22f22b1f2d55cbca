use quillgate::{Client, CreatedJob, Error};

/// Starts a job. The gateway sends a webhook to this URL when the job ends.
pub async fn create_with_webhook(client: &Client) -> Result<CreatedJob, Error> {
    let create = client.agent_jobs().create("Document the new endpoint");
    create
        .webhook_url("https://hooks.example/quillgate")
        .send()
        .await
}
