//! Exports: all rows of a report in a date range, as CSV or newline-delimited JSON.
//!
//! [`Export`] requests the pages in order, writes their rows and tracks the cursor from which an
//! interrupted export can resume. It performs no I/O: the caller fetches the pages and sends the
//! output.

mod rows;
mod scan;

pub use self::rows::{PageEnd, RowWriter, check_page};
pub use self::scan::Malformed;

use crate::call::Call;
use crate::columns::columns;
use crate::date::DateRange;
use crate::declaration::{Pagination, Parameter, ParameterKind, Place};
use crate::error::{Rule, ValidationError};
use crate::list::Offset;
use crate::millis::Millis;
use crate::operation::Operation;
use crate::pages::{MAX_ROWS, PageInfo, Pages};
use crate::parameters::{Parameters, SingleParameter};
use crate::text::{format_integer, parse_decimal, quote};
use crate::value::check_not_empty;

/// The output format of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExportFormat {
    /// Comma-separated values (RFC 4180).
    Csv,
    /// JSON, one row per line.
    NdJson,
}

impl ExportFormat {
    const ALL: [Self; 2] = [Self::Csv, Self::NdJson];
    const NAMES: [&'static str; 2] = [Self::Csv.as_str(), Self::NdJson.as_str()];

    /// Returns the format with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let mut all = Self::ALL.into_iter();
        all.find(|format| format.as_str() == name)
    }

    /// Returns the name used in requests and as a file extension.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::NdJson => "ndjson",
        }
    }
}

impl SingleParameter for ExportFormat {
    const PARAMETER: Parameter =
        Parameter::optional("format", Place::Query, ParameterKind::OneOf(&Self::NAMES));
    const DOC: &'static str = "The output format: CSV (RFC 4180) or newline-delimited JSON.";

    fn from_text(text: &str) -> Result<Self, ValidationError> {
        Self::from_name(text)
            .ok_or_else(|| ValidationError::new("format", Rule::OneOf(&Self::NAMES), quote(text)))
    }

    fn to_text(&self) -> String {
        self.as_str().to_owned()
    }
}

/// A date range with both bounds. An export can resume only if its range does not change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClosedRange(DateRange);

impl ClosedRange {
    /// Returns the range.
    #[must_use]
    pub const fn range(&self) -> &DateRange {
        &self.0
    }
}

impl Parameters for ClosedRange {
    const LIST: &'static [Parameter] = &[
        <DateRange as Parameters>::LIST[0].require(),
        <DateRange as Parameters>::LIST[1].require(),
    ];
    const DOCS: &'static [&'static str] = <DateRange as Parameters>::DOCS;

    fn read(call: &Call) -> Result<Self, ValidationError> {
        call.require("dateFrom")?;
        call.require("dateTo")?;
        call.range().map(Self)
    }

    fn write(&self, call: &mut Call) {
        self.0.write(call);
    }
}

/// The position from which an export resumes.
///
/// For a report by offset, it is the number of rows already received. For a report by cursor, it is
/// `<rows of the page to skip>~<cursor of the page>`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportCursor(String);

impl SingleParameter for ExportCursor {
    const PARAMETER: Parameter = Parameter::optional("cursor", Place::Query, ParameterKind::Text);
    const DOC: &'static str = "The position to resume from: the `cursor` in the last record of an incomplete \
        export. For a list by offset, it is the number of rows already received.";

    fn from_text(text: &str) -> Result<Self, ValidationError> {
        check_not_empty("cursor", text.to_owned()).map(Self)
    }

    fn to_text(&self) -> String {
        self.0.clone()
    }
}

/// A running export.
#[derive(Debug)]
pub struct Export {
    pages: Pages,
    writer: RowWriter,
    /// The property of a page that contains the rows.
    member: &'static str,
    /// The number of rows at the start of the next page that the caller already has.
    skip: u64,
    cursor: String,
    /// The remaining time that the export may spend waiting.
    wait: Millis,
    /// The number of rows written.
    rows: u64,
}

impl Export {
    /// Creates an export of `report` from a call of its export operation. Returns `None` if the
    /// call's cursor is not valid for this report, or if the report is not a list.
    #[must_use]
    pub fn new(report: Operation, call: &Call) -> Option<Self> {
        let declared = report.declaration();
        let member = declared.pagination.rows()?;
        let format = ExportFormat::read(call).ok()?;
        let mut list = Call::new(declared);
        for (parameter, text) in call.arguments() {
            if parameter.name != "cursor" {
                list.set(parameter.name, text.to_owned());
            }
        }
        let limit = match declared.parameter("limit")?.kind {
            ParameterKind::Integer { rule, .. } => rule.max.min(MAX_ROWS),
            _ => return None,
        };
        list.set("limit", format_integer(limit));
        let cursor = call.text("cursor");
        let skip = match (declared.pagination, cursor) {
            (_, None) => 0,
            (Pagination::Cursor { .. }, Some(cursor)) => resume_by_cursor(&mut list, cursor)?,
            (_, Some(cursor)) => {
                let rows = parse_decimal(cursor)?;
                Offset::new(rows).ok()?.after(limit).ok()?;
                list.set("offset", format_integer(rows - rows % limit));
                rows % limit
            }
        };
        // Parses the call again, so that the rules of the list apply, such as the format of its
        // cursor.
        let pairs = list.arguments();
        let pairs = pairs.map(|(parameter, text)| (parameter.name.to_owned(), text.to_owned()));
        let list = Call::parse(declared, &crate::value::Pairs::All(pairs.collect())).ok()?;
        let mut export = Self {
            pages: Pages::new(list),
            writer: RowWriter::new(format, &columns(report)),
            member,
            skip,
            cursor: String::new(),
            wait: Millis(0),
            rows: 0,
        };
        export.cursor = export.find_cursor();
        Some(export)
    }

    /// Sets the total time that the export may wait. Default: 0.
    pub const fn allow_wait(&mut self, time: Millis) {
        self.wait = time;
    }

    /// Returns the call for the next page, or `None` if the export is complete. Pages have
    /// the largest size that the report allows, up to 250 rows.
    #[must_use]
    pub const fn next(&self) -> Option<&Call> {
        self.pages.next()
    }

    /// Returns the cursor that resumes after the rows written so far. Empty if the export is
    /// complete.
    #[must_use]
    pub fn cursor(&self) -> &str {
        &self.cursor
    }

    /// Returns the number of rows written so far.
    #[must_use]
    pub const fn rows(&self) -> u64 {
        self.rows
    }

    /// Appends the output before the first row; see [`RowWriter::push_head`].
    pub fn push_head(&self, out: &mut Vec<u8>) {
        self.writer.push_head(out);
    }

    /// Appends the rows of the page that [`Self::next`] requested, and advances to the next page.
    ///
    /// # Errors
    /// [`Malformed`] if `text` is not a valid page or contradicts its list; see [`Pages::advance`].
    /// Then nothing is appended, and the cursor stays unchanged.
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

    /// Returns the wait before the next request for the same page, and deducts it from the allowed
    /// total.
    ///
    /// `retry_after` is in seconds. Returns `None` if it is absent or exceeds the remaining time,
    /// or if the wait would not end before `expires`. The export must then end.
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

    /// Appends the last record of an incomplete export; see [`RowWriter::push_incomplete`].
    pub fn push_incomplete(&self, problem: &str, retry_after: Option<u64>, out: &mut Vec<u8>) {
        let writer = &self.writer;
        writer.push_incomplete(&self.cursor, problem, retry_after, out);
    }

    fn find_cursor(&self) -> String {
        let Some(next) = self.pages.next() else {
            return String::new();
        };
        match next.declaration().pagination {
            Pagination::Cursor { .. } => {
                let mut cursor = format_integer(self.skip);
                cursor.push_str("~");
                cursor.push_str(next.text("cursor").unwrap_or(""));
                cursor
            }
            _ => format_integer(next.integer("offset").unwrap_or(0) + self.skip),
        }
    }
}

/// Sets the list's page from an export cursor. Returns the number of rows to skip on that page.
fn resume_by_cursor(list: &mut Call, cursor: &str) -> Option<u64> {
    let (skip, cursor) = cursor.split_once('~')?;
    if !cursor.is_empty() {
        list.set("cursor", cursor.to_owned());
    }
    parse_decimal(skip)
}
