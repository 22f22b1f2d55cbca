use quillgate::{AgentJob, Client, Error};

pub async fn ask_for_images(client: &Client, id: &str) -> Result<AgentJob, Error> {
    let message = client.agent_jobs().send_message(id, "Also the images");
    message.send().await
}
