use futures_util::TryStreamExt;
use quillgate::client::{Client, Error, JobChange};

pub async fn changes(client: &Client, id: &str) -> Result<Vec<JobChange>, Error> {
    let watch = client.agent_jobs().watch(id);
    watch.into_stream().try_collect().await
}
