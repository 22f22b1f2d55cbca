use std::time::Duration;

use quillgate::{Client, Error};

/// Returns the log of a deployment that ends within ten minutes, line by line as it grows.
pub async fn follow_log(client: &Client, id: &str) -> Result<Vec<String>, Error> {
    let watch = client.deployments().watch(id);
    let mut watch = watch.watch_timeout(Duration::from_mins(10));
    let mut lines = Vec::new();
    while let Some(change) = watch.next().await? {
        let logs = change.deployment.logs.unwrap_or_default();
        lines.extend(logs.into_iter().skip(lines.len()));
    }
    Ok(lines)
}
