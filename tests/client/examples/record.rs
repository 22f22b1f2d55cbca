use quillgate::{Client, Error};

/// Returns the authors of a job and its follow-ups.
pub async fn list_authors(client: &Client, id: &str) -> Result<Vec<String>, Error> {
    let record = client.agent_jobs().record(id).send().await?;
    let follow_ups = record.messages.into_iter().map(|message| message.author);
    Ok(std::iter::once(record.job.created_by)
        .chain(follow_ups)
        .flatten()
        .collect())
}
