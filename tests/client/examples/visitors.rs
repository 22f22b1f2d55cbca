use quillgate::{Client, Error, PageVisitors};

pub async fn visited_pages(client: &Client) -> Result<Vec<PageVisitors>, Error> {
    Ok(client.analytics().visitors(..).send().await?.visitors)
}
