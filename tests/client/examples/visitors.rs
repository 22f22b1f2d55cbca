use quillgate::client::{Client, Error};
use quillgate::{ListVisitors, PageVisitors};

pub async fn visited_pages(client: &Client) -> Result<Vec<PageVisitors>, Error> {
    let visitors = client.analytics().visitors(ListVisitors::default()).await?;
    Ok(visitors.visitors)
}
