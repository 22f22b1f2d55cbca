//! An export: every row of a report over a range of dates, page by page, as CSV or as
//! newline-delimited JSON.
//!
//! [`Export`] says which page comes next, writes its rows, and keeps the cursor at which one who was
//! cut off goes on. It does no I/O: whoever drives it fetches the pages and passes the bytes on.

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
use crate::pages::{MOST_ROWS, PageInfo, Pages};
use crate::parameters::{Parameters, SingleParameter};
use crate::text::{format_integer, parse_decimal, quote};
use crate::value::check_not_empty;

/// How the rows of an export are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExportFormat {
    /// Comma-separated values (RFC 4180).
    Csv,
    /// JSON, a row each line.
    NdJson,
}

impl ExportFormat {
    const ALL: [Self; 2] = [Self::Csv, Self::NdJson];
    const NAMES: [&'static str; 2] = [Self::Csv.as_str(), Self::NdJson.as_str()];

    /// The format of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let mut all = Self::ALL.into_iter();
        all.find(|format| format.as_str() == name)
    }

    /// The name in a request, and the end of a file's name.
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
    const DOC: &'static str =
        "How the rows are written: CSV (RFC 4180), or newline-delimited JSON.";

    fn from_text(text: &str) -> Result<Self, ValidationError> {
        Self::from_name(text)
            .ok_or_else(|| ValidationError::new("format", Rule::OneOf(&Self::NAMES), quote(text)))
    }

    fn to_text(&self) -> String {
        self.as_str().to_owned()
    }
}

/// A range of dates with both of its ends: an export can only be resumed over a range that stands
/// still.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClosedRange(DateRange);

impl ClosedRange {
    /// The range.
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

/// Where an export goes on: how many rows the caller has, or of a list by cursor
/// `<rows of the page to skip>~<the page's cursor>`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportCursor(String);

impl SingleParameter for ExportCursor {
    const PARAMETER: Parameter = Parameter::optional("cursor", Place::Query, ParameterKind::Text);
    const DOC: &'static str = "Where to go on: the `cursor` of the last record of an export that is not \
        complete. Of a list by offset it is the number of rows that the caller has.";

    fn from_text(text: &str) -> Result<Self, ValidationError> {
        check_not_empty("cursor", text.to_owned()).map(Self)
    }

    fn to_text(&self) -> String {
        self.0.clone()
    }
}

/// An export under way.
#[derive(Debug)]
pub struct Export {
    pages: Pages,
    writer: RowWriter,
    /// The member of a page that holds its rows.
    member: &'static str,
    /// How many rows of the next page the caller has already.
    skip: u64,
    cursor: String,
    /// How much longer it may wait.
    wait: Millis,
    /// How many rows were written.
    rows: u64,
}

impl Export {
    /// An export of a report, which is a list, as a call of its export asks for it. `None` when the
    /// call's cursor is not one of an export of this report.
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
            ParameterKind::Integer { rule, .. } => rule.max.min(MOST_ROWS),
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
        // The list's own rules, such as those of its cursor and its last row.
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

    /// Allows it to wait for so long in all.
    pub const fn allow_wait(&mut self, time: Millis) {
        self.wait = time;
    }

    /// The call of the next page, for as many rows as a page may have; `None` when the export is
    /// complete.
    #[must_use]
    pub const fn next(&self) -> Option<&Call> {
        self.pages.next()
    }

    /// Where the export goes on after what was written.
    #[must_use]
    pub fn cursor(&self) -> &str {
        &self.cursor
    }

    /// How many rows were written.
    #[must_use]
    pub const fn rows(&self) -> u64 {
        self.rows
    }

    /// Appends what stands before the first row.
    pub fn push_head(&self, out: &mut Vec<u8>) {
        self.writer.push_head(out);
    }

    /// Appends the rows of the page that [`Self::next`] asked for, and goes on to the next.
    ///
    /// # Errors
    /// [`Malformed`] when the text is not such a page, or contradicts its list as
    /// [`Pages::advance`] says. Nothing is appended then, and the cursor stays where it was.
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

    /// How long to wait before the next page is asked for again; `None` when the export ends instead,
    /// since it may not wait for that long, or not beyond `expires`.
    pub fn plan_wait(
        &mut self,
        retry_after: Option<u64>,
        now: Millis,
        expires: Millis,
    ) -> Option<Millis> {
        // A second at least, so that it is never asked in a circle.
        let time = Millis::from_seconds(retry_after?.max(1));
        if time > self.wait || now.plus(time) >= expires {
            return None;
        }
        self.wait = self.wait.since(time);
        Some(time)
    }

    /// Appends the last record of an export that is not complete.
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

/// Sets a list to the page of a cursor, and says how many rows of it to skip.
fn resume_by_cursor(list: &mut Call, cursor: &str) -> Option<u64> {
    let (skip, cursor) = cursor.split_once('~')?;
    if !cursor.is_empty() {
        list.set("cursor", cursor.to_owned());
    }
    parse_decimal(skip)
}
