use std::io::Write;
use std::time::Duration;

use quillgate::{Client, ExportFormat, ListPageViews};

/// Appends views as CSV to a file. After a failure, returns the request that resumes the export.
pub async fn export_views(
    client: &Client,
    from: ListPageViews,
    is_resumed: bool,
    file: &mut impl Write,
) -> std::io::Result<Option<ListPageViews>> {
    let mut export = client.analytics().views(from).export(ExportFormat::Csv);
    export = export.wait_for_budget(Duration::from_hours(1));
    if is_resumed {
        export = export.without_header();
    }
    while let Ok(Some(chunk)) = export.next().await {
        file.write_all(&chunk)?;
    }
    Ok(export.next_request())
}
