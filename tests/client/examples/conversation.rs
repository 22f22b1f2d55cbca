use quillgate::ThreadMessage;
use quillgate::{Client, Error};

pub async fn messages(client: &Client, thread: &str) -> Result<Vec<ThreadMessage>, Error> {
    let thread = client.analytics().conversation(thread).send().await?;
    Ok(thread.messages)
}
