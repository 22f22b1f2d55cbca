use quillgate::ListConversations;
use quillgate::client::{Client, Error};

pub async fn questions(client: &Client) -> Result<Vec<String>, Error> {
    let list = ListConversations::default();
    let page = client.analytics().conversations(list).await?;
    let questions = page.conversations.into_iter();
    Ok(questions.filter_map(|turn| turn.query).collect())
}
