use quillgate::{Client, Error, ValidationError};

pub fn connect(url: &str, token: &str) -> Result<Client, ValidationError> {
    Client::builder()
        .gateway(url, token)
        .project("acme")
        .build()
}

pub async fn document_endpoint(client: &Client) -> Result<Option<String>, Error> {
    let jobs = client.agent_jobs();
    let job = jobs.create("Document the new endpoint").send().await?;
    Ok(jobs.watch(&job).wait().await?.pr_link)
}

pub async fn count_views(client: &Client) -> Result<u64, Error> {
    let mut rows = client.analytics().views("2026-10-01".."2026-11-01").rows();
    let mut views = 0;
    while let Some(row) = rows.next().await? {
        views += row.total.unwrap_or_default().get();
    }
    Ok(views)
}
