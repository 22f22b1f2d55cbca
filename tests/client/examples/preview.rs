use quillgate::{Client, Error};

/// Previews a branch. Returns the URL, or `None` if the preview failed.
pub async fn preview(client: &Client, branch: &str) -> Result<Option<String>, Error> {
    let started = client.previews().create(branch).send().await?;
    let deployment = client.deployments().watch(&started).wait().await?;
    Ok(started.preview_url.filter(|_| deployment.is_live()))
}
