use quillgate::{Client, Error, Feedback};

/// Returns readers' comments that are not resolved yet.
pub async fn open_comments(client: &Client) -> Result<Vec<String>, Error> {
    let feedback = client.analytics().feedback(..);
    let mut rows = feedback.status("pending,in_progress").rows();
    let mut comments = Vec::new();
    while let Some(entry) = rows.next().await? {
        if let Feedback::Contextual(entry) = entry {
            comments.extend(entry.comment);
        }
    }
    Ok(comments)
}
