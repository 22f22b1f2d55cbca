//! Exports, which combine the rows of a report's pages into one response.

pub mod rows;

use quillgate::columns::columns;
use quillgate::declaration::Pagination;
use quillgate::error::Error;
use quillgate::export::ExportFormat;
use quillgate::pages::{Pages, RowKey};
use quillgate::parameters::ParameterGroup as _;
use quillgate::text::parse_decimal;
use quillgate::{Call, Millis, Offset, Operation, PageError, PageInfo, ProjectId};

use crate::analytics::analytics_settings::AnalyticsSettings;
use crate::analytics::export::rows::{RowWriter, read_keys};
use crate::analytics::page::PAGE_ROWS;
use crate::analytics::query::ReportQuery;
use crate::http::gateway_rule::GatewayRule;
use crate::http::problem::Problem;
use crate::http::response::{GatewayResponse, HeaderFields};
use crate::upstream::page_check::PageEnd;
use crate::upstream::raw_json::Malformed;

#[derive(Debug, PartialEq, Eq)]
pub enum PageFault {
    Malformed,
    /// Contains the property and the reason.
    Contradiction(String),
}

impl From<Malformed> for PageFault {
    fn from(_: Malformed) -> Self {
        Self::Malformed
    }
}

impl From<PageError> for PageFault {
    fn from(error: PageError) -> Self {
        Self::Contradiction(Error::from(error).to_string())
    }
}

#[derive(Debug)]
pub struct Export {
    /// For the next page.
    pub query: ReportQuery,
    pub writer: RowWriter,
    project: ProjectId,
    pages: Pages,
    /// On the next page. The caller already has these rows.
    skip: u64,
    cursor: String,
    rows: u64,
    /// The caller already has the CSV header, if any, and the earlier rows.
    is_resumed: bool,
    file_name: String,
}

impl Export {
    pub fn new(
        report: Operation,
        call: Call,
        project: &ProjectId,
        settings: &AnalyticsSettings,
        now: Millis,
    ) -> Result<Self, Problem> {
        let format = ExportFormat::read(&call)?;
        let file_name = name_file(report, &call, project, format);
        let is_resumed = call.text("cursor").is_some();
        let (call, range) = call.normalize()?;
        let (pages, skip) = find_pages(report, &call, now).ok_or_else(refuse_cursor)?;
        let first = pages.next().ok_or_else(Problem::internal)?;
        let fresh_for = settings.freshness(&range, now);
        let mut export = Self {
            query: ReportQuery::new(report, first, project, fresh_for)?,
            writer: RowWriter::new(format, columns(report)),
            project: project.clone(),
            pages,
            skip,
            cursor: String::new(),
            rows: 0,
            is_resumed,
            file_name,
        };
        export.cursor = export.find_cursor();
        Ok(export)
    }

    /// Empty for JSON and for a resumed export.
    pub fn head(&self) -> Vec<u8> {
        let mut head = Vec::new();
        if !self.is_resumed {
            self.writer.push_head(&mut head);
        }
        head
    }

    /// The call for the next page, the largest that the report allows. `None` if the export is
    /// complete.
    pub const fn next(&self) -> Option<&Call> {
        self.pages.next()
    }

    /// Empty if the export is complete.
    pub fn cursor(&self) -> &str {
        &self.cursor
    }

    pub const fn rows(&self) -> u64 {
        self.rows
    }

    /// The totals changed between two pages; see [`Pages::is_mixed`].
    pub const fn is_mixed(&self) -> bool {
        self.pages.is_mixed()
    }

    /// Appends the rows of the page that [`Self::next`] requested, and moves to the next page.
    /// After an error, `out` and the cursor are unchanged.
    pub fn push_page(&mut self, text: &str, out: &mut Vec<u8>) -> Result<(), PageFault> {
        let before = out.len();
        let pushed = self.push_new_rows(text, out);
        if pushed.is_err() {
            out.truncate(before);
        }
        self.rows += pushed?;
        self.skip = 0;
        self.follow();
        Ok(())
    }

    /// Appends the rows that the caller does not have. Returns their number.
    fn push_new_rows(&mut self, text: &str, out: &mut Vec<u8>) -> Result<u64, PageFault> {
        let Self {
            pages,
            writer,
            skip,
            ..
        } = self;
        let pagination = self.query.operation.declaration().pagination;
        let member = pagination.rows().unwrap_or_default();
        let is_new = |row: u64| row >= *skip;
        let Pagination::Cursor {
            time: Some(time), ..
        } = pagination
        else {
            let end = writer.push_rows(text, member, &is_new, out)?;
            pages.advance(&page_info(&end, Vec::new()))?;
            return Ok(end.rows.saturating_sub(*skip));
        };
        let (end, keys) = read_keys(text, member, time)?;
        pages.advance(&page_info(&end, keys))?;
        let repeated: Vec<_> = pages.repeated().iter().map(|at| *at as u64).collect();
        let is_new = |row| is_new(row) && !repeated.contains(&row);
        writer.push_rows(text, member, &is_new, out)?;
        Ok((0..end.rows).filter(|row| is_new(*row)).count() as u64)
    }

    /// Changes the request for the next page after a refusal. Returns `false` if the export must
    /// end; see [`Pages::after_failure`].
    ///
    /// A split requests another page. If the caller has the first rows of the refused page, the
    /// export must end, because these rows are known only by their number.
    pub fn after_failure(&mut self, status: u16) -> bool {
        let mut pages = self.pages.clone();
        let is_changed = pages.after_failure(status);
        let is_same_page = || pages.position() == self.pages.position();
        if !is_changed || self.skip > 0 && !is_same_page() {
            return false;
        }
        self.pages = pages;
        self.follow();
        true
    }

    /// See [`Pages::advise`].
    pub fn advise(&self, status: u16) -> Option<String> {
        self.pages.advise(status)
    }

    fn follow(&mut self) {
        if let Some(next) = self.pages.next() {
            self.query.follow(next, &self.project);
        }
        self.cursor = self.find_cursor();
    }

    /// A browser saves the export as a file and does not cache the response.
    pub fn headers(&self) -> HeaderFields {
        let content_type = match (self.writer.format(), self.is_resumed) {
            (ExportFormat::Csv, false) => "text/csv; charset=utf-8; header=present",
            (ExportFormat::Csv, true) => "text/csv; charset=utf-8; header=absent",
            _ => "application/x-ndjson",
        };
        let disposition = format!("attachment; filename=\"{}\"", self.file_name);
        HeaderFields::default()
            .with("cache-control", "private, no-store")
            .with("content-disposition", disposition)
            .with("content-type", content_type)
    }

    fn find_cursor(&self) -> String {
        let Some(next) = self.pages.position() else {
            return String::new();
        };
        match next.declaration().pagination {
            Pagination::Cursor { .. } => {
                format!("{}~{}", self.skip, next.text("cursor").unwrap_or_default())
            }
            _ => (self.query.offset + self.skip).to_string(),
        }
    }
}

fn page_info(end: &PageEnd, keys: Vec<RowKey>) -> PageInfo<'_> {
    PageInfo {
        rows: end.rows,
        has_more: end.has_more,
        next_cursor: end.next_cursor.as_deref(),
        totals: end.totals,
        keys,
    }
}

/// Also returns the number of rows on the first page that the caller already has. `None` if the
/// cursor is not valid for this report.
fn find_pages(report: Operation, call: &Call, now: Millis) -> Option<(Pages, u64)> {
    let declared = report.declaration();
    let (name, position, skip) = match (declared.pagination, call.text("cursor")) {
        (_, None) => ("cursor", None, 0),
        (Pagination::Cursor { .. }, Some(cursor)) => {
            let (skip, cursor) = cursor.split_once('~')?;
            let position = (!cursor.is_empty()).then(|| cursor.to_owned());
            ("cursor", position, parse_decimal(skip)?)
        }
        (_, Some(cursor)) => {
            let rows = parse_decimal(cursor)?;
            Offset::new(rows).ok()?.after(PAGE_ROWS).ok()?;
            let skip = rows % PAGE_ROWS;
            ("offset", Some((rows - skip).to_string()), skip)
        }
    };
    let list = call.convert(declared, [(name, position)]).ok()?;
    Some((Pages::through_everything(list, now).ok()?, skip))
}

#[cold]
fn refuse_cursor() -> Problem {
    let detail = "cursor must be the number of rows that the caller has, or the cursor at the end of an \
        incomplete export";
    Problem::field("cursor", GatewayRule::Cursor, detail)
}

/// `<report>_<project>_<from>_<to>.<format>`, in characters that every file system allows.
fn name_file(report: Operation, call: &Call, project: &ProjectId, format: ExportFormat) -> String {
    let name = report.declaration().name;
    let name = name.rsplit('.').next().unwrap_or(name);
    let [from, to] = ["dateFrom", "dateTo"].map(|field| call.text(field).unwrap_or(""));
    let is_unsafe = |c: char| !(c.is_ascii_alphanumeric() || matches!(c, '.' | '-'));
    let parts = [name, project.as_str(), from, to].map(|part| part.replace(is_unsafe, "-"));
    format!("{}.{}", parts.join("_"), format.as_str())
}

/// In seconds.
pub fn read_retry_after(refusal: &GatewayResponse) -> Option<u64> {
    refusal.headers.get("retry-after")?.parse().ok()
}
