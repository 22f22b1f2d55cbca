use quillgate::{Client, Error};

/// Returns the terms on the first page whose results readers never clicked.
pub async fn missing_pages(client: &Client) -> Result<Vec<String>, Error> {
    let page = client.analytics().searches(..).send().await?;
    let missing = page.searches.into_iter();
    let missing = missing.filter(|term| term.top_clicked_page.is_none());
    Ok(missing.filter_map(|term| term.search_query).collect())
}
