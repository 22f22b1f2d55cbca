//! The progress of an export across pages.
//!
//! [`Export`] selects the pages in order, writes their rows and tracks the cursor from which an
//! interrupted export can resume.

use quillgate::columns::columns;
use quillgate::declaration::{Pagination, ParameterKind};
use quillgate::export::ExportFormat;
use quillgate::pages::MAX_ROWS;
use quillgate::parameters::ParameterGroup as _;
use quillgate::text::parse_decimal;
use quillgate::value::Pairs;
use quillgate::{Call, Millis, Offset, Operation, PageInfo, Pages};

use crate::analytics::export::rows::RowWriter;
use crate::upstream::json_scanner::Malformed;

/// An export in progress.
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
    pub fn new(report: Operation, call: &Call) -> Option<Self> {
        let declared = report.declaration();
        let member = declared.pagination.rows()?;
        let format = ExportFormat::read(call).ok()?;
        let limit = match declared.parameter("limit")?.kind {
            ParameterKind::Integer { rule, .. } => rule.max.min(MAX_ROWS),
            _ => return None,
        };
        let (position, skip) = match (declared.pagination, call.text("cursor")) {
            (_, None) => (None, 0),
            (Pagination::Cursor { .. }, Some(cursor)) => {
                let (skip, cursor) = cursor.split_once('~')?;
                let position = (!cursor.is_empty()).then(|| ("cursor", cursor.to_owned()));
                (position, parse_decimal(skip)?)
            }
            (_, Some(cursor)) => {
                let rows = parse_decimal(cursor)?;
                Offset::new(rows).ok()?.after(limit).ok()?;
                let offset = rows - rows % limit;
                (Some(("offset", offset.to_string())), rows % limit)
            }
        };
        let filters = call
            .arguments()
            .map(|(own, text)| (own.name, text.to_owned()));
        let pairs = filters
            .filter(|(name, _)| !matches!(*name, "cursor" | "format"))
            .chain([("limit", limit.to_string())])
            .chain(position)
            .map(|(name, text)| (name.to_owned(), text));
        let list = Call::parse(declared, &Pairs::All(pairs.collect())).ok()?;
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
    pub const fn next(&self) -> Option<&Call> {
        self.pages.next()
    }

    /// Returns the cursor that resumes after the rows written so far. Empty if the export is
    /// complete.
    pub fn cursor(&self) -> &str {
        &self.cursor
    }

    /// Returns the number of rows written so far.
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
                format!("{}~{}", self.skip, next.text("cursor").unwrap_or_default())
            }
            _ => (next.integer("offset").unwrap_or(0) + self.skip).to_string(),
        }
    }
}
