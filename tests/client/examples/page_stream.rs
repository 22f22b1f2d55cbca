use futures_util::TryStreamExt;
use quillgate::{Client, Error, Visitors};

pub async fn all_pages(client: &Client) -> Result<Vec<Visitors>, Error> {
    let pages = client.analytics().visitors(..).pages();
    pages.into_stream().try_collect().await
}
