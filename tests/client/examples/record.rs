use quillgate::client::{Client, Error};
use quillgate::{GetAgentJobRecord, JobId};

pub async fn list_authors(client: &Client, id: &str) -> Result<Vec<String>, Error> {
    let get = GetAgentJobRecord::new(JobId::new(id)?);
    let record = client.agent_jobs().record(get).await?;
    let follow_ups = record.messages.into_iter().map(|message| message.author);
    Ok(std::iter::once(record.job.created_by)
        .chain(follow_ups)
        .flatten()
        .collect())
}
