use quillgate::PageVisitors;
use quillgate::{Client, Error};

pub async fn visited_pages(client: &Client) -> Result<Vec<PageVisitors>, Error> {
    Ok(client.analytics().visitors(..).send().await?.visitors)
}
