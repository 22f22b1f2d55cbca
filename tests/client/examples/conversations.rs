use quillgate::{Client, Error};

pub async fn questions(client: &Client) -> Result<Vec<String>, Error> {
    let page = client.analytics().conversations(..).send().await?;
    let turns = page.conversations.into_iter();
    Ok(turns.filter_map(|turn| turn.query).collect())
}
