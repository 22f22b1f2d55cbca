use quillgate::{Client, Error};

/// Returns whether the gateway's archive contains every day.
pub async fn is_complete(client: &Client) -> Result<bool, Error> {
    let status = client.analytics().archive_status().send().await?;
    Ok(status.missing.is_empty())
}
