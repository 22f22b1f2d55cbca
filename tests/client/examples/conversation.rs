use quillgate::client::{Client, Error};
use quillgate::{GetConversation, ThreadId, ThreadMessage};

pub async fn messages(client: &Client, thread: &str) -> Result<Vec<ThreadMessage>, Error> {
    let get = GetConversation::new(ThreadId::new(thread)?);
    Ok(client.analytics().conversation(get).await?.messages)
}
