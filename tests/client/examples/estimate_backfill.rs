use quillgate::{Client, Error};

pub async fn count_requests(client: &Client) -> Result<u64, Error> {
    let estimate = client.analytics().estimate_backfill("2026-01-01");
    Ok(estimate.send().await?.requests.get())
}
