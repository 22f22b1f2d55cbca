use quillgate::{Client, Error, PageFeedback};

pub async fn judged_pages(client: &Client) -> Result<Vec<PageFeedback>, Error> {
    let report = client.analytics().feedback_by_page(..).send().await?;
    Ok(report.feedback)
}
