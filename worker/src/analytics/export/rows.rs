//! The rows of an export. [`RowWriter`] converts the rows of each page to CSV or newline-delimited
//! JSON.

use std::borrow::Cow;

use quillgate::columns::{Columns, Content, Member};
use quillgate::csv::{BYTE_ORDER_MARK, LINE_END, push_cell, push_record, push_text_cell};
use quillgate::export::ExportFormat;
use quillgate::pages::RowKey;
use quillgate::text::compact;
use serde_json::{Value, json};

use crate::upstream::json_scanner::{Malformed, Piece, Scanner, Shape};
use crate::upstream::page_check::{PageEnd, read_members};

/// A writer that converts the rows of pages to CSV or newline-delimited JSON. The writer scans each
/// page once, without building JSON values.
///
/// ```
/// use quillgate::Operation;
/// use quillgate::columns::columns;
/// use quillgate::export::ExportFormat;
/// use quillgate_worker::analytics::export::rows::RowWriter;
///
/// let writer = RowWriter::new(ExportFormat::Csv, columns(Operation::ListPageViews));
/// let mut text = Vec::new();
/// writer.push_head(&mut text);
/// let page = r#"{ "views": [{ "path": "=1+1, \"x\"", "human": 3 }], "hasMore": false }"#;
/// let end = writer.push_rows(page, "views", &|_| true, &mut text).expect("a page");
/// assert_eq!(end.has_more, Some(false));
/// let lines = "\u{feff}path,human,ai,total\r\n\"'=1+1, \"\"x\"\"\",3,,\r\n";
/// assert_eq!(text, lines.as_bytes());
/// ```
#[derive(Debug)]
pub struct RowWriter {
    format: ExportFormat,
    columns: Columns,
}

impl RowWriter {
    /// Creates a writer. The columns apply only to CSV; JSON output contains all properties.
    pub const fn new(format: ExportFormat, columns: Columns) -> Self {
        Self { format, columns }
    }

    /// Returns the output format.
    pub const fn format(&self) -> ExportFormat {
        self.format
    }

    /// Appends the output before the first row.
    ///
    /// For CSV, this output is a byte order mark and the column names. The byte order mark makes
    /// spreadsheets read UTF-8. For JSON, the output is empty.
    pub fn push_head(&self, out: &mut Vec<u8>) {
        if self.format == ExportFormat::Csv {
            out.extend_from_slice(BYTE_ORDER_MARK);
            push_record(out, &self.columns.names);
        }
    }

    /// Appends the rows of a page for whose indices `is_wanted` returns `true`. `rows_name` is the
    /// property that contains the rows.
    ///
    /// # Errors
    /// Returns [`Malformed`] if the page is not an object with an array of objects at `rows_name`.
    /// For CSV, also returns [`Malformed`] if a property with nested columns is neither an object
    /// nor `null`. After an error, `out` is unchanged.
    pub fn push_rows(
        &self,
        page: &str,
        rows_name: &str,
        is_wanted: &dyn Fn(u64) -> bool,
        out: &mut Vec<u8>,
    ) -> Result<PageEnd, Malformed> {
        let before = out.len();
        let mut cells = vec![Piece::NULL; self.columns.names.len()];
        let mut push_row = |scanner: &mut Scanner<'_>, row: u64| {
            if !is_wanted(row) {
                scanner.value()?;
            } else if self.format == ExportFormat::Csv {
                cells.fill(Piece::NULL);
                read_record(scanner, &self.columns.members, &mut cells)?;
                push_cells(out, scanner, &cells);
            } else {
                let row = scanner.value()?;
                push_json(out, scanner, row);
                out.push(b'\n');
            }
            Ok(())
        };
        let end = read_members(page, &[], Some(rows_name), &mut push_row);
        if end.is_err() {
            out.truncate(before);
        }
        end
    }

    /// Appends the last record of an incomplete export. The record contains the cursor to resume
    /// from, the problem, and the seconds to wait before resuming, if known.
    pub fn push_incomplete(
        &self,
        cursor: &str,
        problem: &str,
        retry_after: Option<u64>,
        out: &mut Vec<u8>,
    ) {
        if self.format == ExportFormat::NdJson {
            let mut record = json!({ "cursor": cursor, "problem": problem });
            if let Some(seconds) = retry_after {
                record["retryAfter"] = json!(seconds);
            }
            return push_line(out, &json!({ "incomplete": record }));
        }
        let mut cells = vec![
            "#incomplete".to_owned(),
            format!("cursor={cursor}"),
            format!("problem={problem}"),
        ];
        cells.extend(retry_after.map(|seconds| format!("retryAfter={seconds}")));
        self.push_notice(cells, out);
    }

    /// Appends the last record of an export that has every page, but mixed pages. The record contains
    /// the problem, and no cursor, because resuming would not replace rows.
    pub fn push_mixed(&self, problem: &str, out: &mut Vec<u8>) {
        if self.format == ExportFormat::NdJson {
            return push_line(out, &json!({ "mixed": { "problem": problem } }));
        }
        let cells = vec!["#mixed".to_owned(), format!("problem={problem}")];
        self.push_notice(cells, out);
    }

    /// Appends a record of CSV that is not a row, in as many cells as a row has.
    fn push_notice(&self, mut cells: Vec<String>, out: &mut Vec<u8>) {
        let width = self.columns.names.len().max(1);
        if cells.len() > width {
            let last = cells.split_off(width - 1).join("; ");
            cells.push(last);
        }
        cells.resize(width, String::new());
        push_record(out, &cells);
    }
}

/// Reads the end of a page and the keys of its rows, which are events. `time` is the property with
/// the time of a row. Strings are read as for CSV: see [`RowWriter`].
///
/// # Errors
/// Returns [`Malformed`] as [`RowWriter::push_rows`] does.
pub fn read_keys(
    page: &str,
    rows_name: &str,
    time: &'static str,
) -> Result<(PageEnd, Vec<RowKey>), Malformed> {
    let members = [("id", 0), (time, 1)].map(|(name, number)| Member {
        name,
        content: Content::Cell(number),
    });
    let mut keys = Vec::new();
    let mut read_row = |scanner: &mut Scanner<'_>, _: u64| {
        let mut cells = [Piece::NULL; 2];
        read_record(scanner, &members, &mut cells)?;
        let [id, time] = cells.map(|cell| match cell.shape {
            Shape::Text | Shape::EscapedText => scanner.unescape(cell),
            _ => Cow::default(),
        });
        keys.push(RowKey::new(&id, &time));
        Ok(())
    };
    let end = read_members(page, &[], Some(rows_name), &mut read_row)?;
    Ok((end, keys))
}

fn push_line(out: &mut Vec<u8>, record: &Value) {
    out.extend_from_slice(record.to_string().as_bytes());
    out.push(b'\n');
}

/// Finds the cells of a record. If a property occurs more than once, the last value is used, as in
/// JavaScript.
fn read_record(
    scanner: &mut Scanner<'_>,
    members: &[Member],
    cells: &mut [Piece],
) -> Result<(), Malformed> {
    // Rows usually have their properties in the declared order, so the search starts at the next
    // declared property.
    let mut expected = 0;
    let mut has_member = scanner.open(b'{', b'}')?;
    while has_member {
        let key = scanner.key()?;
        let is_this = |at: &usize| scanner.is_named(key, members[*at].name);
        let found = (expected..members.len()).find(is_this);
        let found = found.or_else(|| (0..expected).find(is_this));
        match found.map(|at| (at, &members[at].content)) {
            None => {
                scanner.value()?;
            }
            Some((at, Content::Cell(number))) => {
                expected = at + 1;
                cells[*number] = scanner.value()?;
            }
            Some((at, Content::Record(inner))) => {
                expected = at + 1;
                if scanner.peek() == Some(b'{') {
                    read_record(scanner, inner, cells)?;
                } else if scanner.value()?.shape != Shape::Null {
                    return Err(Malformed);
                }
            }
        }
        has_member = scanner.has_next(b'}')?;
    }
    Ok(())
}

fn push_json(out: &mut Vec<u8>, scanner: &Scanner<'_>, piece: Piece) {
    let json = scanner.slice(piece);
    if piece.shape == Shape::SpacedStructure {
        out.extend_from_slice(compact(json).as_bytes());
    } else {
        out.extend_from_slice(json.as_bytes());
    }
}

fn push_cells(out: &mut Vec<u8>, scanner: &Scanner<'_>, cells: &[Piece]) {
    for (number, cell) in cells.iter().enumerate() {
        if number > 0 {
            out.push(b',');
        }
        match cell.shape {
            Shape::Null => {}
            Shape::Plain => out.extend_from_slice(scanner.bytes(*cell)),
            Shape::Text => push_text_cell(out, scanner.bytes(*cell)),
            Shape::EscapedText => push_text_cell(out, scanner.unescape(*cell).as_bytes()),
            Shape::Structure | Shape::SpacedStructure => {
                let mut json = Vec::new();
                push_json(&mut json, scanner, *cell);
                push_cell(out, &json);
            }
        }
    }
    out.extend_from_slice(LINE_END);
}
