use std::io::Write;
use std::time::Duration;

use quillgate::client::Error;
use quillgate::{Client, ExportFormat, ListPageViews};

/// Appends views as CSV to a file. A failure comes with the request that resumes the export.
pub async fn export_views(
    client: &Client,
    from: ListPageViews,
    file: &mut impl Write,
) -> std::io::Result<Result<(), (Error, Option<ListPageViews>)>> {
    let mut export = client.analytics().views(from).export(ExportFormat::Csv);
    export = export.wait_for_budget(Duration::from_hours(1));
    loop {
        match export.next().await {
            Ok(Some(chunk)) => file.write_all(&chunk)?,
            Ok(None) => return Ok(Ok(())),
            Err(error) => return Ok(Err((error, export.next_request()))),
        }
    }
}
