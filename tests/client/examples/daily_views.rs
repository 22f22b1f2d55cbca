use quillgate::{Client, DayGroup, Error};

/// Returns the first day and the views of each month in 2026.
pub async fn monthly_views(client: &Client) -> Result<Vec<(String, u64)>, Error> {
    let year = client.analytics().daily_views("2026-01-01".."2027-01-01");
    let mut rows = year.group(DayGroup::Month).rows();
    let mut views = Vec::new();
    while let Some(row) = rows.next().await? {
        views.push((row.date, row.total.unwrap_or_default().get()));
    }
    Ok(views)
}
