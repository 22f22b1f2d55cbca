use quillgate::{Client, Error};

/// Runs an automation once per release, even if this is repeated.
pub async fn run(client: &Client, id: &str, version: &str) -> Result<Option<String>, Error> {
    let run = client.automations().run(id);
    let key = format!("release-{version}");
    Ok(run.idempotency_key(key).send().await?.instance_id)
}
