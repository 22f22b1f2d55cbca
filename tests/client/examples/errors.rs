use quillgate::client::{Client, Error};
use quillgate::{GetAgentJob, JobId};

/// Describes the status of a job in one line.
pub async fn describe(client: &Client, id: &str) -> Result<String, Error> {
    let get = GetAgentJob::new(JobId::new(id)?);
    Ok(match client.agent_jobs().get(get).await {
        Ok(job) => match job.status {
            Some(status) => status.as_str().to_owned(),
            None => "unknown".to_owned(),
        },
        Err(Error::Api(error)) if error.status == 404 => "no such job".to_owned(),
        Err(Error::Connection(cause)) => {
            let kind = cause.as_js().js_typeof();
            format!(
                "not reached: {cause} ({})",
                kind.as_string().unwrap_or_default()
            )
        }
        Err(error) => return Err(error),
    })
}
