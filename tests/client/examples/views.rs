use quillgate::client::{Client, Error};
use quillgate::{ListPageViews, PageSize, PageViews};

/// Returns the first 10 rows of October and the totals of the whole site.
pub async fn october(client: &Client) -> Result<PageViews, Error> {
    let views = ListPageViews {
        range: ("2026-10-01".."2026-11-01").try_into()?,
        limit: Some(PageSize::new(10)?),
        ..ListPageViews::default()
    };
    client.analytics().views(views).send().await
}
