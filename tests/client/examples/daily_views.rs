use quillgate::client::{Client, Error};
use quillgate::{DayGroup, ListDailyViews};

/// Returns the first day and the views of each month in 2026.
pub async fn monthly_views(client: &Client) -> Result<Vec<(String, u64)>, Error> {
    let months = ListDailyViews {
        group: Some(DayGroup::Month),
        ..("2026-01-01".."2027-01-01").try_into()?
    };
    let mut rows = client.analytics().daily_views(months).rows();
    let mut views = Vec::new();
    while let Some(row) = rows.next().await? {
        views.push((row.date, row.total.unwrap_or_default().get()));
    }
    Ok(views)
}
