use quillgate::{Client, Error, ListPageViews, PageView};

/// Returns one page of views, and the request that continues after it.
pub async fn some_views(
    client: &Client,
    from: ListPageViews,
) -> Result<(Vec<PageView>, Option<ListPageViews>), Error> {
    let mut pages = client.analytics().views(from).pages();
    let page = pages.next().await?;
    let views = page.map(|page| page.views).unwrap_or_default();
    Ok((views, pages.next_request()))
}
