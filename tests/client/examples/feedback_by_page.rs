use quillgate::client::{Client, Error};
use quillgate::{GetFeedbackByPage, PageFeedback};

pub async fn judged_pages(client: &Client) -> Result<Vec<PageFeedback>, Error> {
    let get = GetFeedbackByPage::default();
    Ok(client.analytics().feedback_by_page(get).await?.feedback)
}
