use quillgate::{Client, Error, ThreadMessage};

pub async fn messages(client: &Client, thread: &str) -> Result<Vec<ThreadMessage>, Error> {
    let thread = client.analytics().conversation(thread).send().await?;
    Ok(thread.messages)
}
