use quillgate::{Client, Error};

/// Describes the status of a job in one line.
pub async fn describe(client: &Client, id: &str) -> Result<String, Error> {
    match client.agent_jobs().get(id).send().await {
        Ok(job) => Ok(job
            .status
            .map_or("unknown".into(), |status| status.to_string())),
        Err(Error::Api(error)) if error.status == 404 => Ok("no such job".into()),
        // A retry is safe, because nothing was sent.
        Err(error) if !error.may_have_been_sent() => Ok(format!("not sent: {error}")),
        Err(Error::Connection(failure)) => Ok(failure.summary),
        Err(error) => match error.retry_after() {
            Some(delay) => Ok(format!("try again in {} s", delay.as_secs())),
            None => Err(error),
        },
    }
}
