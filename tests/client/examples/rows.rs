use quillgate::{Client, Error};

/// Returns the pages that AI reads more often than people do.
pub async fn read_by_ai(client: &Client) -> Result<Vec<String>, Error> {
    let mut rows = client.analytics().views(..).rows();
    let mut paths = Vec::new();
    while let Some(row) = rows.next().await? {
        if row.ai > row.human {
            paths.extend(row.path);
        }
    }
    if rows.is_mixed() {
        eprintln!("the counts changed meanwhile, so pages can be missing");
    }
    Ok(paths)
}
