use futures_util::TryStreamExt;
use quillgate::client::{Client, Error};
use quillgate::{ListVisitors, Visitors};

pub async fn all_pages(client: &Client) -> Result<Vec<Visitors>, Error> {
    let pages = client
        .analytics()
        .visitors(ListVisitors::default())
        .pages()?;
    pages.into_stream().try_collect().await
}
