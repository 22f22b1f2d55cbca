use quillgate::{Client, Error};

/// Returns the status of a request and the id by which the gateway's log names it.
pub async fn read_job(client: &Client, id: &str) -> Result<(u16, Option<String>), Error> {
    let response = client.agent_jobs().get(id).send_with_response().await?;
    let request_id = response.request_id().map(str::to_owned);
    Ok((response.status.as_u16(), request_id))
}
