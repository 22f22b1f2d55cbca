use quillgate::{Client, Deployment, Error};

/// Publishes the documentation and returns the deployment, after it has ended.
pub async fn deploy(client: &Client) -> Result<Deployment, Error> {
    let started = client.deployments().create().send().await?;
    let deployment = client.deployments().watch(&started).wait().await?;
    if !deployment.is_live() {
        eprintln!("{:?}", deployment.logs);
    }
    Ok(deployment)
}
