//! Exports of lists as CSV or as JSON lines.

use std::collections::HashMap;
use std::fmt;
use std::time::Duration;

use futures_core::Stream;
use serde_json::value::RawValue;

use crate::call::Call;
use crate::client::driver::Delivery;
use crate::client::error::Error;
use crate::client::host::MaybeSend;
use crate::client::list::{ListEndpoint, Pages};
use crate::client::stream::Items;
use crate::columns::{Columns, Content, Member, row_columns};
use crate::csv::{BYTE_ORDER_MARK, LINE_END, push_cell, push_record, push_text_cell};
use crate::error::DecodeError;
use crate::export::ExportFormat;
use crate::schema::HasJsonType as _;
use crate::text::{compact, replace_half_surrogates};

/// The minimum wait for the budget, so that `Retry-After: 0` causes no busy loop.
const MIN_WAIT: Duration = Duration::from_secs(1);

/// An export of a list. Each chunk has the rows of one page, so the memory that it needs does not grow.
///
/// - [`ExportFormat::Csv`] has a header and a byte order mark, unless it resumes another export. Strings that a spreadsheet could run as
///   a formula get a leading apostrophe.
/// - [`ExportFormat::NdJson`] has one row per line, with the original numbers and escapes, and with
///   properties that this crate does not know.
///
/// # Example
#[doc = concat!("```\n", include_str!("../../tests/client/examples/export.rs"), "```")]
#[must_use = "nothing is sent before `next`"]
pub struct Export<E: ListEndpoint> {
    pages: Pages<E>,
    writer: Writer,
    /// The call for the first page, until it is written. A split changes the position earlier.
    begin: Option<Call>,
    /// The remaining time that the export may wait for the budget.
    wait: Duration,
}

impl<E: ListEndpoint> fmt::Debug for Export<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Export")
            .field("format", &self.writer.format)
            .field("pages", &self.pages)
            .finish_non_exhaustive()
    }
}

impl<E: ListEndpoint> Export<E> {
    pub(super) fn new(pages: Pages<E>, format: ExportFormat) -> Self {
        let begin = pages.position();
        let is_resumed = begin.as_ref().is_some_and(|call| {
            call.text("cursor").is_some() || call.integer("offset").is_some_and(|rows| rows > 0)
        });
        let writer = Writer {
            format,
            columns: row_columns(const { &E::Row::JSON_TYPE }),
            rows: E::DECLARATION.pagination.rows().unwrap_or_default(),
            has_header: format == ExportFormat::Csv && !is_resumed,
        };
        Self {
            pages,
            writer,
            begin,
            wait: Duration::ZERO,
        }
    }

    /// Sets whether a CSV file begins with a byte order mark and a header. The default is yes, unless
    /// the list starts at a cursor or an offset: then the export continues a file.
    pub fn header(mut self, has_header: bool) -> Self {
        self.writer.has_header = has_header && self.writer.format == ExportFormat::Csv;
        self
    }

    /// Waits up to this time in total if the rate limit is used up. By default, the export fails with
    /// status 429.
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../../tests/client/examples/export.rs"), "```")]
    pub const fn wait_for_budget(mut self, time: Duration) -> Self {
        self.wait = time;
        self
    }

    /// Returns the rows of the next page, or `None` after the last. The first chunk of CSV starts with
    /// the header, unless the list starts at a cursor or an offset.
    ///
    /// After a failure or a dropped future, the next call requests the same page.
    ///
    /// # Errors
    /// As [`Pages::next`].
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../../tests/client/examples/export.rs"), "```")]
    pub async fn next(&mut self) -> Result<Option<Vec<u8>>, Error> {
        loop {
            let error = match self.pages.fetch().await {
                Ok(Some(Delivery { response, body, .. })) => {
                    self.begin = None;
                    let request_id = response.request_id().map(str::to_owned);
                    let chunk = self.writer.write(&body, self.pages.repeated());
                    return chunk
                        .map(Some)
                        .map_err(|error| Error::Decode { error, request_id });
                }
                Ok(None) => return Ok(None),
                Err(error) => error,
            };
            let wait = match &error {
                Error::Api(error) if error.status == 429 => error.retry_after,
                _ => None,
            };
            let Some(wait) = wait.map(|wait| wait.max(MIN_WAIT)) else {
                return Err(error);
            };
            let Some(left) = self.wait.checked_sub(wait) else {
                return Err(error);
            };
            self.pages.sleep(wait).await?;
            self.wait = left;
        }
    }

    /// Returns the operation that requests the rows after the last chunk; see
    /// [`Pages::next_request`]. Store it to resume the export later.
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../../tests/client/examples/export.rs"), "```")]
    #[must_use]
    pub fn next_request(&self) -> Option<E> {
        match &self.begin {
            Some(call) => E::from_call(call).ok(),
            None => self.pages.next_request(),
        }
    }

    /// Returns whether the totals changed between two pages; see [`Pages::is_mixed`].
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../../tests/client/examples/export.rs"), "```")]
    #[must_use]
    pub fn is_mixed(&self) -> bool {
        self.pages.is_mixed()
    }

    /// Converts the chunks to a stream, which ends after the first error.
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../../tests/client/examples/export.rs"), "```")]
    pub fn into_stream(
        self,
    ) -> impl Stream<Item = Result<Vec<u8>, Error>> + Unpin + MaybeSend + use<E> {
        Items::new(self, |mut source| {
            Box::pin(async move { (source.next().await, source) })
        })
    }
}

type Object<'a> = HashMap<String, &'a RawValue>;

/// Converts the rows of pages.
struct Writer {
    format: ExportFormat,
    columns: Columns,
    /// The property of a page that contains its rows.
    rows: &'static str,
    /// Whether the next chunk starts with a header.
    has_header: bool,
}

impl Writer {
    fn write(&mut self, body: &str, omitted: &[usize]) -> Result<Vec<u8>, DecodeError> {
        let invalid = |error: serde_json::Error| DecodeError::new("", error.to_string());
        // Decoding replaces halves of surrogate pairs. A page that decodes must not fail here, because
        // it would be skipped. NDJSON copies rows unchanged if it can.
        let replaced = replace_half_surrogates(body);
        let copied = match self.format {
            ExportFormat::NdJson => serde_json::from_str(body).ok(),
            ExportFormat::Csv => None,
        };
        let page: Object<'_> = match copied {
            Some(page) => page,
            None => serde_json::from_str(&replaced).map_err(invalid)?,
        };
        let rows = page.get(self.rows).map_or("[]", |rows| rows.get());
        let rows: Vec<&RawValue> = serde_json::from_str(rows).map_err(invalid)?;
        let mut out = Vec::new();
        if self.has_header {
            out.extend_from_slice(BYTE_ORDER_MARK);
            push_record(&mut out, &self.columns.names);
        }
        for (_, row) in (0..).zip(rows).filter(|(at, _)| !omitted.contains(at)) {
            if self.format == ExportFormat::NdJson {
                out.extend_from_slice(compact(row.get()).as_bytes());
                out.push(b'\n');
                continue;
            }
            let mut cells = vec![None; self.columns.names.len()];
            read_record(row, &self.columns.members, &mut cells).map_err(invalid)?;
            for (at, cell) in cells.into_iter().enumerate() {
                if at > 0 {
                    out.push(b',');
                }
                push_value(&mut out, cell.unwrap_or("null")).map_err(invalid)?;
            }
            out.extend_from_slice(LINE_END);
        }
        self.has_header = false;
        Ok(out)
    }
}

/// Finds the cells of a record. Absent ones stay `None`.
fn read_record<'a>(
    record: &'a RawValue,
    members: &[Member],
    cells: &mut [Option<&'a str>],
) -> serde_json::Result<()> {
    let values: Object<'a> = serde_json::from_str(record.get())?;
    for member in members {
        match (values.get(member.name), &member.content) {
            (Some(value), Content::Cell(number)) => cells[*number] = Some(value.get()),
            (Some(value), Content::Record(inner)) if value.get().starts_with('{') => {
                read_record(value, inner, cells)?;
            }
            _ => {}
        }
    }
    Ok(())
}

/// Appends the cell of a value: empty for `null`, the content of a string, otherwise JSON.
fn push_value(out: &mut Vec<u8>, json: &str) -> serde_json::Result<()> {
    if json.starts_with('"') {
        let text: String = serde_json::from_str(json)?;
        push_text_cell(out, text.as_bytes());
    } else if json != "null" {
        push_cell(out, compact(json).as_bytes());
    }
    Ok(())
}
