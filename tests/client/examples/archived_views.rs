use quillgate::{Client, Error};

/// Returns the paths that had views in the first quarter of 2026, without a request to Mintlify.
pub async fn read_paths(client: &Client) -> Result<Vec<String>, Error> {
    let mut rows = client
        .analytics()
        .archived_views("2026-01-01".."2026-04-01")
        .rows();
    let mut paths = Vec::new();
    while let Some(row) = rows.next().await? {
        paths.extend(row.path);
    }
    Ok(paths)
}
