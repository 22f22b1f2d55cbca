//! Exports, which combine the rows of a report's pages into one response.

pub mod rows;

use quillgate::columns::columns;
use quillgate::declaration::Pagination;
use quillgate::error::Error;
use quillgate::export::ExportFormat;
use quillgate::pages::Pages;
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
use crate::upstream::page_check::read_page;
use crate::upstream::raw_json::Malformed;

#[derive(Debug)]
pub struct Export {
    /// For the next page.
    pub query: ReportQuery,
    pub writer: RowWriter,
    /// Requests the largest pages that the report allows.
    pub pages: Pages,
    /// Empty if the export is complete.
    pub cursor: String,
    pub rows: u64,
    project: ProjectId,
    /// On the next page. The caller already has these rows.
    skip: u64,
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

    /// Appends the rows of the page that [`Self::pages`] requested, except those that the caller has,
    /// and moves to the next page. After an error, `out` and the cursor are unchanged.
    pub fn push_page(&mut self, text: &str, out: &mut Vec<u8>) -> Result<(), Problem> {
        let pagination = self.query.operation.declaration().pagination;
        let (end, rows) = read_page(text, &[], pagination.rows())?;
        let keys = match pagination {
            Pagination::Cursor {
                time: Some(time), ..
            } => read_keys(&rows, time)?,
            _ => Vec::new(),
        };
        let page = PageInfo {
            rows: end.rows,
            has_more: end.has_more,
            next_cursor: end.next_cursor.as_deref(),
            totals: end.totals,
            keys,
        };
        self.pages.advance(&page).map_err(describe_contradiction)?;
        let repeated = self.pages.repeated();
        let is_new = |at: usize| at as u64 >= self.skip && !repeated.contains(&at);
        let new: Vec<_> = (0..).zip(rows).filter(|(at, _)| is_new(*at)).collect();
        self.writer
            .push_rows(new.iter().map(|(_, row)| *row), out)?;
        self.rows += new.len() as u64;
        self.skip = 0;
        self.follow();
        Ok(())
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

    fn follow(&mut self) {
        if let Some(next) = self.pages.next() {
            self.query.follow(next, &self.project);
        }
        self.cursor = self.find_cursor();
    }

    /// A browser saves the export as a file and does not cache the response.
    pub fn headers(&self) -> HeaderFields {
        let content_type = match (self.writer.format, self.is_resumed) {
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
fn describe_contradiction(error: PageError) -> Problem {
    let detail = format!("Mintlify's list cannot continue: {}", Error::from(error));
    Problem {
        detail: detail.clone(),
        ..Problem::from(Malformed).with_operator(detail)
    }
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
