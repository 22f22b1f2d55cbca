use quillgate::GetCallerStats;
use quillgate::client::{Client, Error};

pub async fn count_questions(client: &Client) -> Result<u64, Error> {
    let get = GetCallerStats::default();
    let stats = client.analytics().caller_stats(get).await?;
    Ok(stats.total.unwrap_or_default().get())
}
