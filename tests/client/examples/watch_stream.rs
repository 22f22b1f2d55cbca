use futures_util::TryStreamExt;
use quillgate::client::{Client, Error, JobChange};
use quillgate::{GetAgentJob, JobId};

pub async fn changes(client: &Client, id: &str) -> Result<Vec<JobChange>, Error> {
    let watch = client.agent_jobs().watch(GetAgentJob::new(JobId::new(id)?));
    watch.into_stream().try_collect().await
}
