use quillgate::{Client, Error, PageViews};

/// Returns 10 rows of October, after the first 20, and the totals of the whole site.
pub async fn october(client: &Client) -> Result<PageViews, Error> {
    let views = client.analytics().views("2026-10-01".."2026-11-01");
    views.limit(10).offset(20).send().await
}
