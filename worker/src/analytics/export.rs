//! Exports of reports: reads the request and writes the head of the response.

pub mod rows;
pub mod run;

use quillgate::export::ExportFormat;
use quillgate::parameters::ParameterType;
use quillgate::{Call, Millis, Operation, ProjectId};

use crate::analytics::export::run::Export;
use crate::analytics::query::ReportQuery;
use crate::analytics::settings::AnalyticsSettings;
use crate::http::gateway_rule::GatewayRule;
use crate::http::problem::Problem;
use crate::http::response::{GatewayResponse, HeaderFields};
use crate::upstream::json_scanner::Malformed;

/// The maximum time that an export may wait for the budget in total, in seconds: a day.
pub const MAX_WAIT_SECONDS: u64 = 86_400;

/// A requested export: its format, its progress and the next page to fetch.
#[derive(Debug)]
pub struct ExportQuery {
    /// The next page. After the last page it stays unchanged.
    pub page: ReportQuery,
    /// The rows written so far, and the cursor from which to resume.
    pub export: Export,
    project: ProjectId,
    format: ExportFormat,
    /// Whether the caller already has the head and the earlier rows.
    is_resumed: bool,
    file_name: String,
}

impl ExportQuery {
    /// Reads a request to export `report`.
    ///
    /// # Errors
    /// 400 if the cursor does not belong to an export of this report.
    pub fn new(
        report: Operation,
        call: &Call,
        project: &ProjectId,
        settings: &AnalyticsSettings,
        now: Millis,
    ) -> Result<Self, Problem> {
        let format = ExportFormat::from_text(call.text("format").unwrap_or(""))?;
        let normalized = call.clone().normalize();
        let export = Export::new(report, &normalized).ok_or_else(refuse_cursor)?;
        let first = export.next().ok_or_else(Problem::internal)?;
        Ok(Self {
            page: ReportQuery::new(report, first, project, settings, now)?,
            export,
            project: project.clone(),
            format,
            is_resumed: call.text("cursor").is_some(),
            file_name: name_file(report, call, project, format),
        })
    }

    /// Starts the export, which may wait for `seconds` in total. Appends the head to `out`, unless
    /// the export is resumed.
    pub fn begin(&mut self, seconds: u64, out: &mut Vec<u8>) {
        self.export.allow_wait(Millis::from_seconds(seconds));
        if !self.is_resumed {
            self.export.push_head(out);
        }
    }

    /// Appends the rows of a page and moves to the next page.
    ///
    /// # Errors
    /// [`Malformed`] if `text` is not the requested page. Nothing is appended.
    pub fn push_page(&mut self, text: &str, out: &mut Vec<u8>) -> Result<(), Malformed> {
        self.export.push_page(text, out)?;
        if let Some(next) = self.export.next() {
            self.page.move_to(next, &self.project);
        }
        Ok(())
    }

    /// Returns header fields that make a browser save the export as a file, uncached.
    pub fn headers(&self) -> HeaderFields {
        let content_type = match (self.format, self.is_resumed) {
            (ExportFormat::NdJson, _) => "application/x-ndjson",
            (ExportFormat::Csv, false) => "text/csv; charset=utf-8; header=present",
            (ExportFormat::Csv, true) => "text/csv; charset=utf-8; header=absent",
        };
        let disposition = format!("attachment; filename=\"{}\"", self.file_name);
        HeaderFields::default()
            .with("cache-control", "private, no-store")
            .with("content-disposition", disposition)
            .with("content-type", content_type)
    }
}

#[cold]
fn refuse_cursor() -> Problem {
    let detail = "cursor must be the number of rows that the caller has, or the cursor at the end of an \
        incomplete export";
    Problem::field("cursor", GatewayRule::Cursor, detail)
}

/// Builds the file name `<report>_<project>_<from>_<to>.<format>`. It is valid on every file
/// system.
fn name_file(report: Operation, call: &Call, project: &ProjectId, format: ExportFormat) -> String {
    let name = report.declaration().name;
    let name = name.rsplit('.').next().unwrap_or(name);
    let [from, to] = ["dateFrom", "dateTo"].map(|field| call.text(field).unwrap_or(""));
    let mut file = String::new();
    for part in [name, project.as_str(), from, to] {
        if !file.is_empty() {
            file.push('_');
        }
        for c in part.chars() {
            let is_safe = c.is_ascii_alphanumeric() || matches!(c, '.' | '-');
            file.push(if is_safe { c } else { '-' });
        }
    }
    format!("{file}.{}", format.as_str())
}

/// Returns the `Retry-After` of a refused page in seconds, if it has one.
pub fn read_retry_after(refusal: &GatewayResponse) -> Option<u64> {
    refusal.headers.get("retry-after")?.parse().ok()
}
