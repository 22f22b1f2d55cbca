use quillgate::columns::{Columns, Content, Member};
use quillgate::csv::{BYTE_ORDER_MARK, LINE_END, push_cell, push_record, push_text_cell};
use quillgate::export::ExportFormat;
use quillgate::pages::RowKey;
use quillgate::text::compact;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::upstream::raw_json::{Malformed, RawObject, read_string};

/// Converts the rows of pages to CSV or newline-delimited JSON. Numbers and JSON rows are copied
/// verbatim.
#[derive(Debug)]
pub struct RowWriter {
    pub format: ExportFormat,
    columns: Columns,
}

impl RowWriter {
    /// The columns apply only to CSV; JSON output contains all properties.
    pub const fn new(format: ExportFormat, columns: Columns) -> Self {
        Self { format, columns }
    }

    pub fn push_head(&self, out: &mut Vec<u8>) {
        if self.format == ExportFormat::Csv {
            out.extend_from_slice(BYTE_ORDER_MARK);
            push_record(out, &self.columns.names);
        }
    }

    /// For CSV, a property with nested columns must be an object or `null`. After an error, `out` is
    /// unchanged.
    pub fn push_rows<'a>(
        &self,
        rows: impl Iterator<Item = &'a RawValue>,
        out: &mut Vec<u8>,
    ) -> Result<(), Malformed> {
        let before = out.len();
        for row in rows {
            if let Err(malformed) = self.push_row(row.get(), out) {
                out.truncate(before);
                return Err(malformed);
            }
        }
        Ok(())
    }

    fn push_row(&self, row: &str, out: &mut Vec<u8>) -> Result<(), Malformed> {
        if self.format == ExportFormat::NdJson {
            // Most servers send rows without whitespace, and most strings in rows contain none.
            if row.bytes().any(|byte| byte <= b' ') {
                out.extend_from_slice(compact(row).as_bytes());
            } else {
                out.extend_from_slice(row.as_bytes());
            }
            out.push(b'\n');
            return Ok(());
        }
        let mut cells = vec!["null"; self.columns.names.len()];
        read_record(row, &self.columns.members, &mut cells)?;
        for (at, cell) in cells.into_iter().enumerate() {
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
        let mut fields = json!({ "cursor": cursor, "problem": problem });
        if let Some(seconds) = retry_after {
            fields["retryAfter"] = seconds.into();
        }
        self.push_notice("incomplete", &fields, out);
    }

    /// Without a cursor, because resuming would not replace rows.
    pub fn push_mixed(&self, problem: &str, out: &mut Vec<u8>) {
        self.push_notice("mixed", &json!({ "problem": problem }), out);
    }

    /// A CSV record has as many cells as a row.
    fn push_notice(&self, name: &str, fields: &Value, out: &mut Vec<u8>) {
        if self.format == ExportFormat::NdJson {
            out.extend_from_slice(json!({ name: fields }).to_string().as_bytes());
            out.push(b'\n');
            return;
        }
        let mut cells = vec![format!("#{name}")];
        let fields = fields.as_object().into_iter().flatten();
        cells.extend(fields.map(|(name, value)| match value {
            Value::String(text) => format!("{name}={text}"),
            other => format!("{name}={other}"),
        }));
        let width = self.columns.names.len().max(1);
        if cells.len() > width {
            let last = cells.split_off(width - 1).join("; ");
            cells.push(last);
        }
        cells.resize(width, String::new());
        push_record(out, &cells);
    }
}

/// The keys of rows that are events. `time` is the property with their time.
pub fn read_keys(rows: &[&RawValue], time: &'static str) -> Result<Vec<RowKey>, Malformed> {
    let key = |row: &&RawValue| {
        let row = RawObject::read(row.get())?;
        let [id, time] = ["id", time].map(|name| row.get(name).and_then(read_string));
        Ok(RowKey::new(
            &id.unwrap_or_default(),
            &time.unwrap_or_default(),
        ))
    };
    rows.iter().map(key).collect()
}

/// The last of repeated properties counts, as in JavaScript.
fn read_record<'a>(
    record: &'a str,
    members: &[Member],
    cells: &mut [&'a str],
) -> Result<(), Malformed> {
    for (name, value) in RawObject::read(record)?.0 {
        let member = members.iter().find(|member| member.name == name);
        match member.map(|member| &member.content) {
            Some(Content::Cell(number)) => cells[*number] = value,
            Some(Content::Record(inner)) if value != "null" => read_record(value, inner, cells)?,
            _ => {}
        }
    }
    Ok(())
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
