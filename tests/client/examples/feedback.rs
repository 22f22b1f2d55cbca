use quillgate::client::{Client, Error};
use quillgate::{Feedback, ListFeedback};

/// Returns readers' comments that are not resolved yet.
pub async fn open_comments(client: &Client) -> Result<Vec<String>, Error> {
    let open = ListFeedback {
        status: Some("pending,in_progress".parse()?),
        ..ListFeedback::default()
    };
    let mut rows = client.analytics().feedback(open).rows();
    let mut comments = Vec::new();
    while let Some(entry) = rows.next().await? {
        if let Feedback::Contextual(entry) = entry {
            comments.extend(entry.comment);
        }
    }
    Ok(comments)
}
