//! The export of a report: what its request asks for, the head of its answer, and what a page that
//! is not available means to it.

use quillgate::export::{Export, ExportFormat};
use quillgate::parameters::SingleParameter;
use quillgate::{Call, Millis, Operation, ProjectId};

use crate::analytics::query::ReportQuery;
use crate::analytics::settings::AnalyticsSettings;
use crate::http::gateway_rule::GatewayRule;
use crate::http::problem::Problem;
use crate::http::response::{GatewayResponse, HeaderFields};

/// The longest that an export waits in all, in seconds: a day.
pub const LONGEST_WAIT: u64 = 86_400;

/// A request for an export.
#[derive(Debug)]
pub struct ExportQuery {
    /// The report that is exported.
    pub report: Operation,
    /// The export before its first page.
    pub export: Export,
    /// How its rows are written.
    pub format: ExportFormat,
    /// Whether the caller has the rows before these.
    is_resumed: bool,
    file_name: String,
}

impl ExportQuery {
    /// Reads a call of the export of `report`.
    ///
    /// # Errors
    /// 400 for a cursor that is not one of such an export.
    pub fn new(report: Operation, call: &Call, project: &ProjectId) -> Result<Self, Problem> {
        let format = ExportFormat::from_text(call.text("format").unwrap_or(""))?;
        Ok(Self {
            report,
            export: Export::new(report, call).ok_or_else(refuse_cursor)?,
            format,
            is_resumed: call.text("cursor").is_some(),
            file_name: name_file(report, call, project, format),
        })
    }

    /// Begins the export: it may wait for so many seconds in all. Appends what stands before its
    /// first row; one who goes on has that already.
    pub fn begin(&mut self, seconds: u64, out: &mut Vec<u8>) {
        self.export.allow_wait(Millis::from_seconds(seconds));
        if !self.is_resumed {
            self.export.push_head(out);
        }
    }

    /// What to ask for next; `None` when the export is complete.
    ///
    /// # Errors
    /// 400 past the last row that can be requested.
    pub fn next(
        &self,
        project: &ProjectId,
        settings: &AnalyticsSettings,
        now: Millis,
    ) -> Result<Option<ReportQuery>, Problem> {
        let query = |call| ReportQuery::new(self.report, call, project, settings, now);
        self.export.next().map(query).transpose()
    }

    /// The header fields of its answer.
    #[must_use]
    pub fn headers(&self) -> HeaderFields {
        let content_type = match (self.format, self.is_resumed) {
            (ExportFormat::NdJson, _) => "application/x-ndjson",
            (ExportFormat::Csv, false) => "text/csv; charset=utf-8; header=present",
            (ExportFormat::Csv, true) => "text/csv; charset=utf-8; header=absent",
        };
        let disposition = ["attachment; filename=\"", &self.file_name, "\""].concat();
        HeaderFields::default()
            .with("cache-control", "private, no-store")
            .with("content-disposition", disposition)
            .with("content-type", content_type)
    }
}

#[cold]
fn refuse_cursor() -> Problem {
    let detail = "cursor must be the number of rows that the caller has, or what an export that is not \
        complete names";
    Problem::field("cursor", GatewayRule::Cursor, detail)
}

/// `<report>_<project>_<from>_<to>`, safe on every file system.
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
    [&file, ".", format.as_str()].concat()
}

/// After how many seconds a refused page may be asked for again, when that is said.
#[must_use]
pub fn read_retry_after(refusal: &GatewayResponse) -> Option<u64> {
    refusal.headers.get("retry-after")?.parse().ok()
}

/// The `type` of the problem that a refusal is.
#[must_use]
pub fn problem_type(refusal: &GatewayResponse) -> String {
    let kind = refusal.problem.map_or("internal", |kind| kind.as_str());
    ["/problems/", kind].concat()
}
