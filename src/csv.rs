//! CSV (RFC 4180) that spreadsheets read correctly.

/// The start of a file, from which spreadsheets detect UTF-8.
pub const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();
/// The end of a record.
pub const LINE_END: &[u8] = b"\r\n";

/// The characters that start a formula in a spreadsheet. The full-width signs do so in some
/// locales.
const FORMULA_STARTS: [&str; 11] = ["=", "+", "-", "@", "＝", "＋", "－", "＠", "\t", "\r", "\n"];

/// Appends a record.
pub fn push_record(out: &mut Vec<u8>, cells: &[String]) {
    for (number, cell) in cells.iter().enumerate() {
        if number > 0 {
            out.push(b',');
        }
        push_cell(out, cell.as_bytes());
    }
    out.extend_from_slice(LINE_END);
}

/// Appends a string. An apostrophe before a formula makes spreadsheets treat the formula as text.
/// Visitors choose paths and readers write feedback, so anyone can put a formula into a cell.
pub fn push_text_cell(out: &mut Vec<u8>, text: &[u8]) {
    if FORMULA_STARTS
        .iter()
        .any(|start| text.starts_with(start.as_bytes()))
    {
        push_cell(out, &[b"'", text].concat());
    } else {
        push_cell(out, text);
    }
}

/// Appends a cell, quoted if necessary (RFC 4180, section 2). A semicolon is quoted too, because it
/// separates cells in some locales.
pub fn push_cell(out: &mut Vec<u8>, text: &[u8]) {
    let is_special = |byte: &u8| matches!(byte, b'"' | b',' | b';' | b'\r' | b'\n');
    if !text.iter().any(is_special) {
        out.extend_from_slice(text);
        return;
    }
    out.push(b'"');
    for (at, part) in text.split(|byte| *byte == b'"').enumerate() {
        if at > 0 {
            out.extend_from_slice(b"\"\"");
        }
        out.extend_from_slice(part);
    }
    out.push(b'"');
}
