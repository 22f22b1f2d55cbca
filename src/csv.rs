//! CSV (RFC 4180) that spreadsheets read correctly.

/// The start of a file, from which spreadsheets detect UTF-8.
pub const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();
/// The end of a record.
pub const LINE_END: &[u8] = b"\r\n";

/// The signs that start a formula in some locales, besides `=`, `+`, `-` and `@`.
const FULL_WIDTH_SIGNS: [&str; 4] = ["＝", "＋", "－", "＠"];

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
    if is_formula(text) || matches!(text, [b'\t' | b'\r' | b'\n', ..]) {
        push_cell(out, &[b"'", text].concat());
    } else {
        push_cell(out, text);
    }
}

/// Appends a cell, quoted if necessary (RFC 4180, section 2). A semicolon is quoted too, because it
/// separates cells in some locales.
///
/// There, a spreadsheet can ignore these quotes, because its cell starts earlier. A formula after a
/// semicolon or a line end would then start a cell, so it gets an apostrophe, too.
pub fn push_cell(out: &mut Vec<u8>, text: &[u8]) {
    let is_special = |byte: &u8| matches!(byte, b'"' | b',' | b';' | b'\r' | b'\n');
    if !text.iter().any(is_special) {
        out.extend_from_slice(text);
        return;
    }
    out.push(b'"');
    let mut is_start = false;
    for (at, byte) in text.iter().enumerate() {
        if is_start && is_formula(&text[at..]) {
            out.push(b'\'');
        }
        is_start = b";\r\n".contains(byte) || is_start && b"\"\t".contains(byte);
        if *byte == b'"' {
            out.push(b'"');
        }
        out.push(*byte);
    }
    out.push(b'"');
}

fn is_formula(text: &[u8]) -> bool {
    match text {
        [b'=' | b'+' | b'-' | b'@', ..] => true,
        // The first byte of all full-width signs. Few cells start with it.
        [0xef, ..] => (FULL_WIDTH_SIGNS.iter()).any(|sign| text.starts_with(sign.as_bytes())),
        _ => false,
    }
}
