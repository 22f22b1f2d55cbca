use quillgate::columns::{Columns, Content, Member};
use quillgate::csv::{BYTE_ORDER_MARK, LINE_END, push_cell, push_record, push_text_cell};
use quillgate::export::ExportFormat;
use quillgate::pages::RowKey;
use quillgate::text::compact;
use serde_json::{Value, json};

use crate::upstream::page_check::{PageEnd, read_page};
use crate::upstream::raw_json::{Malformed, RawObject, read_object, read_string};

/// Converts the rows of pages to CSV or newline-delimited JSON. Numbers and JSON rows are copied
/// verbatim.
#[derive(Debug)]
pub struct RowWriter {
    format: ExportFormat,
    columns: Columns,
}

impl RowWriter {
    /// The columns apply only to CSV; JSON output contains all properties.
    pub const fn new(format: ExportFormat, columns: Columns) -> Self {
        Self { format, columns }
    }

    pub const fn format(&self) -> ExportFormat {
        self.format
    }

    /// The byte order mark makes spreadsheets read UTF-8.
    pub fn push_head(&self, out: &mut Vec<u8>) {
        if self.format == ExportFormat::Csv {
            out.extend_from_slice(BYTE_ORDER_MARK);
            push_record(out, &self.columns.names);
        }
    }

    /// Appends the rows for whose indices `is_wanted` returns `true`. For CSV, a property with
    /// nested columns must be an object or `null`. After an error, `out` is unchanged.
    pub fn push_rows(
        &self,
        page: &str,
        rows_name: &str,
        is_wanted: &dyn Fn(u64) -> bool,
        out: &mut Vec<u8>,
    ) -> Result<PageEnd, Malformed> {
        let (end, rows) = read_page(page, &[], Some(rows_name))?;
        let before = out.len();
        let mut cells = vec![""; self.columns.names.len()];
        for (row, _) in rows.into_iter().zip(0..).filter(|(_, at)| is_wanted(*at)) {
            if let Err(malformed) = self.push_row(row.get(), &mut cells, out) {
                out.truncate(before);
                return Err(malformed);
            }
        }
        Ok(end)
    }

    /// Appends a row. `cells` is a buffer with one element per column.
    fn push_row<'a>(
        &self,
        row: &'a str,
        cells: &mut [&'a str],
        out: &mut Vec<u8>,
    ) -> Result<(), Malformed> {
        if self.format == ExportFormat::NdJson {
            push_compact(out, row);
            out.push(b'\n');
            return Ok(());
        }
        cells.fill("null");
        read_record(row, &self.columns.members, cells)?;
        for (at, cell) in cells.iter().enumerate() {
            if at > 0 {
                out.push(b',');
            }
            push_value(out, cell);
        }
        out.extend_from_slice(LINE_END);
        Ok(())
    }

    /// The last record of an incomplete export: the cursor to resume from, the problem, and the
    /// seconds to wait.
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

    /// Without a cursor, because resuming would not replace rows.
    pub fn push_mixed(&self, problem: &str, out: &mut Vec<u8>) {
        if self.format == ExportFormat::NdJson {
            return push_line(out, &json!({ "mixed": { "problem": problem } }));
        }
        let cells = vec!["#mixed".to_owned(), format!("problem={problem}")];
        self.push_notice(cells, out);
    }

    /// As many cells as a row has.
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
/// their time.
pub fn read_keys(
    page: &str,
    rows_name: &str,
    time: &'static str,
) -> Result<(PageEnd, Vec<RowKey>), Malformed> {
    let (end, rows) = read_page(page, &[], Some(rows_name))?;
    let mut keys = Vec::new();
    for row in rows {
        let row = RawObject::read(row.get(), None)?;
        let [id, time] = ["id", time].map(|name| row.get(name).and_then(read_string));
        keys.push(RowKey::new(
            &id.unwrap_or_default(),
            &time.unwrap_or_default(),
        ));
    }
    Ok((end, keys))
}

fn push_line(out: &mut Vec<u8>, record: &Value) {
    out.extend_from_slice(record.to_string().as_bytes());
    out.push(b'\n');
}

/// The last of repeated properties counts, as in JavaScript.
fn read_record<'a>(
    record: &'a str,
    members: &[Member],
    cells: &mut [&'a str],
) -> Result<(), Malformed> {
    let mut nested = Ok(());
    read_object(record, None, &mut |name, value| {
        let member = members.iter().find(|member| member.name == name);
        match member.map(|member| &member.content) {
            Some(Content::Cell(number)) => cells[*number] = value,
            Some(Content::Record(inner)) if value != "null" => {
                nested = nested.and(read_record(value, inner, cells));
            }
            _ => {}
        }
    })?;
    nested
}

/// Empty for `null`, the content of a string, otherwise JSON.
fn push_value(out: &mut Vec<u8>, json: &str) {
    if let Some(text) = read_string(json) {
        push_text_cell(out, text.as_bytes());
    } else if json.starts_with(['{', '[']) {
        push_cell(out, compact(json).as_bytes());
    } else if json != "null" {
        out.extend_from_slice(json.as_bytes());
    }
}

fn push_compact(out: &mut Vec<u8>, json: &str) {
    // Most servers send rows without whitespace, and most strings in rows contain none.
    if json.bytes().any(|byte| byte <= b' ') {
        out.extend_from_slice(compact(json).as_bytes());
    } else {
        out.extend_from_slice(json.as_bytes());
    }
}
