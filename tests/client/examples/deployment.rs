use quillgate::{Client, Error};

/// Returns the last line of a deployment's log.
pub async fn last_line(client: &Client, id: &str) -> Result<Option<String>, Error> {
    let deployment = client.deployments().get(id).send().await?;
    Ok(deployment.logs.and_then(|mut logs| logs.pop()))
}
