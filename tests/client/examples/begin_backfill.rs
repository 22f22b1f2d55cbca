use quillgate::{Backfill, Client, Error};

pub async fn archive_the_year(client: &Client) -> Result<Backfill, Error> {
    client.analytics().begin_backfill("2026-01-01").send().await
}
