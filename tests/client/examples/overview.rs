use quillgate::client::{Client, Error, Server};
use quillgate::credential::{AccessToken, BaseUrl};
use quillgate::{CreateAgentJob, GetAgentJob, JobId, ListPageViews, ProjectId, Prompt};

pub fn connect(address: &str, token: &str) -> Result<Client, Error> {
    let server = Server::gateway(BaseUrl::new(address)?, AccessToken::new(token)?);
    Ok(Client::new(server, ProjectId::new("acme")?))
}

pub async fn document_endpoint(client: &Client) -> Result<Option<String>, Error> {
    let prompt = Prompt::new("Document the new endpoint")?;
    let job = client
        .agent_jobs()
        .create(CreateAgentJob::new(prompt))
        .await?;

    let id = JobId::new(job.id.unwrap_or_default())?;
    let done = client.agent_jobs().wait(GetAgentJob::new(id)).await?;
    Ok(done.pr_link)
}

pub async fn count_views(client: &Client) -> Result<u64, Error> {
    let mut rows = client.analytics().views(ListPageViews::default()).rows()?;
    let mut views = 0;
    while let Some(row) = rows.next().await? {
        views += row.total.unwrap_or_default().get();
    }
    Ok(views)
}
