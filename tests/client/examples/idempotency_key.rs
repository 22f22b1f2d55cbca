use quillgate::{Client, CreatedJob, Error};

/// Creates one job for a release, even if called several times within a day.
pub async fn announce(client: &Client, version: &str) -> Result<CreatedJob, Error> {
    client
        .agent_jobs()
        .create(format!("Update the changelog for {version}"))
        .idempotency_key(format!("changelog-{version}"))
        .send()
        .await
}
