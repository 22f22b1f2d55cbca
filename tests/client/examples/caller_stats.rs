use quillgate::client::{Client, Error};
use quillgate::{Count, GetCallerStats};

/// Returns `None`, not zero, if the platform does not report a total.
pub async fn count_questions(client: &Client) -> Result<Option<u64>, Error> {
    let get = GetCallerStats::default();
    let stats = client.analytics().caller_stats(get).await?;
    Ok(stats.total.map(Count::get))
}
