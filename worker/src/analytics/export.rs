//! Exports of reports, across pages.
//!
//! [`Export`] selects the pages in order, writes their rows and tracks the cursor from which an
//! interrupted export can resume.

pub mod rows;

use quillgate::columns::columns;
use quillgate::declaration::{Pagination, ParameterKind};
use quillgate::export::ExportFormat;
use quillgate::pages::MAX_ROWS;
use quillgate::parameters::ParameterType;
use quillgate::text::parse_decimal;
use quillgate::{Call, Millis, Offset, Operation, PageInfo, Pages, ProjectId};

use crate::analytics::export::rows::RowWriter;
use crate::analytics::query::ReportQuery;
use crate::analytics::settings::AnalyticsSettings;
use crate::http::gateway_rule::GatewayRule;
use crate::http::problem::Problem;
use crate::http::response::{GatewayResponse, HeaderFields};
use crate::upstream::json_scanner::Malformed;

/// The maximum time that an export may wait for the budget in total, in seconds: a day.
pub const MAX_WAIT_SECONDS: u64 = 86_400;

/// An export in progress.
#[derive(Debug)]
pub struct Export {
    /// The writer of the output, in the requested format.
    pub writer: RowWriter,
    pages: Pages,
    /// The property of a page that contains the rows.
    member: &'static str,
    /// The number of rows at the start of the next page that the caller already has.
    skip: u64,
    cursor: String,
    /// The remaining time that the export may spend waiting.
    wait: Millis,
    /// The number of rows written.
    rows: u64,
    /// Whether the caller already has the CSV header, if any, and the earlier rows.
    is_resumed: bool,
    file_name: String,
}

impl Export {
    /// Reads a request to export `report`. Returns the query for the first page, and the export.
    ///
    /// # Errors
    /// 400 if the cursor does not belong to an export of this report.
    pub fn new(
        report: Operation,
        call: Call,
        project: &ProjectId,
        settings: &AnalyticsSettings,
        now: Millis,
    ) -> Result<(ReportQuery, Self), Problem> {
        let format = ExportFormat::from_text(call.text("format").unwrap_or(""))?;
        let file_name = name_file(report, &call, project, format);
        let is_resumed = call.text("cursor").is_some();
        let first = find_first_page(report, &call.normalize());
        let (member, list, skip) = first.ok_or_else(refuse_cursor)?;
        let query = ReportQuery::new(report, list.clone(), project, settings, now)?;
        let mut export = Self {
            writer: RowWriter::new(format, columns(report)),
            pages: Pages::new(list),
            member,
            skip,
            cursor: String::new(),
            wait: Millis(0),
            rows: 0,
            is_resumed,
            file_name,
        };
        export.cursor = export.find_cursor();
        Ok((query, export))
    }

    /// Starts the export, which may wait for `seconds` in total. Appends the CSV header, if any, to
    /// `out`, unless the export is resumed.
    pub fn begin(&mut self, seconds: u64, out: &mut Vec<u8>) {
        self.wait = Millis::from_seconds(seconds);
        if !self.is_resumed {
            self.writer.push_head(out);
        }
    }

    /// Returns the call for the next page, or `None` if the export is complete. Pages have
    /// the largest size that the report allows, up to 250 rows.
    pub const fn next(&self) -> Option<&Call> {
        self.pages.next()
    }

    /// Returns the cursor that resumes the export after the rows written so far. The cursor is
    /// empty if the export is complete.
    pub fn cursor(&self) -> &str {
        &self.cursor
    }

    /// Returns the number of rows written so far.
    pub const fn rows(&self) -> u64 {
        self.rows
    }

    /// Appends the rows of the page that [`Self::next`] requested, and moves to the next page.
    ///
    /// # Errors
    /// [`Malformed`] if `text` is not a valid page or contradicts its list; see [`Pages::advance`].
    /// In this case, nothing is appended, and the cursor stays unchanged.
    pub fn push_page(&mut self, text: &str, out: &mut Vec<u8>) -> Result<(), Malformed> {
        let before = out.len();
        let end = self.writer.push_rows(text, self.member, self.skip, out)?;
        let page = PageInfo {
            rows: end.rows,
            has_more: end.has_more,
            next_cursor: end.next_cursor.as_deref(),
        };
        if self.pages.advance(&page).is_err() {
            out.truncate(before);
            return Err(Malformed);
        }
        self.rows += end.rows.saturating_sub(self.skip);
        self.skip = 0;
        self.cursor = self.find_cursor();
        Ok(())
    }

    /// Returns the wait before the next request for the same page, and deducts it from the
    /// remaining waiting time.
    ///
    /// `retry_after` is in seconds. Returns `None` if `retry_after` is absent or exceeds the
    /// remaining time, or if the wait would end at `expires` or later. The export must end then.
    pub fn plan_wait(
        &mut self,
        retry_after: Option<u64>,
        now: Millis,
        expires: Millis,
    ) -> Option<Millis> {
        // Waits at least one second, so that `Retry-After: 0` does not cause a busy loop.
        let time = Millis::from_seconds(retry_after?.max(1));
        if time > self.wait || now.plus(time) >= expires {
            return None;
        }
        self.wait = self.wait.since(time);
        Some(time)
    }

    /// Returns header fields that make a browser save the export as a file, uncached.
    pub fn headers(&self) -> HeaderFields {
        let content_type = match (self.writer.format(), self.is_resumed) {
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

    fn find_cursor(&self) -> String {
        let Some(next) = self.pages.next() else {
            return String::new();
        };
        match next.declaration().pagination {
            Pagination::Cursor { .. } => {
                format!("{}~{}", self.skip, next.text("cursor").unwrap_or_default())
            }
            _ => (next.integer("offset").unwrap_or(0) + self.skip).to_string(),
        }
    }
}

/// Finds the first page that an export of `report` must fetch. Returns the property of the page
/// that contains the rows, the call for the page, and the number of its rows that the caller
/// already has. Returns `None` if the cursor is not valid for this report, or if the report is not
/// a list.
fn find_first_page(report: Operation, call: &Call) -> Option<(&'static str, Call, u64)> {
    let declared = report.declaration();
    let member = declared.pagination.rows()?;
    let limit = match declared.parameter("limit")?.kind {
        ParameterKind::Integer { rule, .. } => rule.max.min(MAX_ROWS),
        _ => return None,
    };
    let (name, position, skip) = match (declared.pagination, call.text("cursor")) {
        (Pagination::Cursor { .. }, None) => ("cursor", None, 0),
        (_, None) => ("offset", None, 0),
        (Pagination::Cursor { .. }, Some(cursor)) => {
            let (skip, cursor) = cursor.split_once('~')?;
            let position = (!cursor.is_empty()).then(|| cursor.to_owned());
            ("cursor", position, parse_decimal(skip)?)
        }
        (_, Some(cursor)) => {
            let rows = parse_decimal(cursor)?;
            Offset::new(rows).ok()?.after(limit).ok()?;
            let offset = rows - rows % limit;
            ("offset", Some(offset.to_string()), rows % limit)
        }
    };
    let window = [("limit", Some(limit.to_string())), (name, position)];
    let list = call.convert(declared, window).ok()?;
    Some((member, list, skip))
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

/// Returns the `Retry-After` of a refusal in seconds, or `None` if the field is absent.
pub fn read_retry_after(refusal: &GatewayResponse) -> Option<u64> {
    refusal.headers.get("retry-after")?.parse().ok()
}
