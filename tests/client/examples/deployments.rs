use quillgate::{Client, Error};

/// Deletes the records of the five newest deployments that are not live.
pub async fn forget_failed(client: &Client) -> Result<(), Error> {
    let page = client.deployments().list(..).limit(5).send().await?;
    for listed in page.deployments {
        if listed.is_live == Some(false) {
            let id = listed.status_id;
            client.deployments().delete_record(id).send().await?;
        }
    }
    Ok(())
}
