use quillgate::client::{Client, Error};
use quillgate::{AgentJob, JobId, Prompt, SendMessage};

pub async fn ask_for_images(client: &Client, id: &str) -> Result<AgentJob, Error> {
    let message = SendMessage::new(JobId::new(id)?, Prompt::new("Also the images")?);
    client.agent_jobs().send_message(message).await
}
