use quillgate::client::{Client, Error};
use quillgate::{DateBound, DateRange, ListPageViews, PageSize, PageViews};

/// Returns the first 10 rows of October and the totals of the whole site.
pub async fn october(client: &Client) -> Result<PageViews, Error> {
    let from = DateBound::new("dateFrom", "2026-10-01")?;
    let to = DateBound::new("dateTo", "2026-11-01")?;
    let list = ListPageViews {
        range: DateRange::new(Some(from), Some(to))?,
        limit: Some(PageSize::new(10)?),
        ..ListPageViews::default()
    };
    client.analytics().views(list).await
}
