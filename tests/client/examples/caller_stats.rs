use quillgate::{Client, Count, Error};

pub async fn count_questions(client: &Client) -> Result<Option<u64>, Error> {
    let stats = client
        .analytics()
        .caller_stats("2026-10-01"..)
        .send()
        .await?;
    Ok(stats.total.map(Count::get))
}
