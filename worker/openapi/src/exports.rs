//! Describes the rows of an export, as CSV and as newline-delimited JSON.

use quillgate::Operation;
use serde_json::{Value, json};

use super::fields::Fields;
use super::{CSV, NDJSON};

pub fn rows(operation: Operation, fields: &Fields) -> Value {
    let row = operation.result().name();
    let text =
        |description: String| json!({ "schema": { "type": "string", "description": description } });
    json!({
        "description": "The rows. The last record of an incomplete export has the cursor to resume from.",
        "headers": fields.describe(),
        "content": {
            CSV: text(format!(
                "RFC 4180 in UTF-8 with a byte order mark. Each property of `{row}` is a column. \
                    Lists and varying records are JSON in one cell, and `null` is an empty cell. \
                    Strings that a spreadsheet would run as a formula start with an apostrophe."
            )),
            NDJSON: text(format!("One `{row}` per line.")),
        },
    })
}
