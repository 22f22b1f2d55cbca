//! The rows of a page as CSV or as newline-delimited JSON.

use super::ExportFormat;
use super::scan::{Malformed, Piece, Scanner, Shape, push_compact};
use crate::columns::Column;
use crate::schema::{Field, Kind};
use crate::text::{MAX_SAFE_INTEGER, parse_decimal};

/// What a page says beside its rows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PageEnd {
    /// How many rows it has, those that were skipped included.
    pub rows: u64,
    /// `hasMore`, when it says so.
    pub has_more: Option<bool>,
    /// `nextCursor`, when there is one.
    pub next_cursor: Option<String>,
}

/// Writes rows. A page's text is gone through once, and no value is built of it.
///
/// ```
/// use quillgate::Operation;
/// use quillgate::columns::columns;
/// use quillgate::export::{ExportFormat, RowWriter};
///
/// let columns = columns(Operation::ListPageViews);
/// let writer = RowWriter::new(ExportFormat::Csv, &columns);
/// let mut text = Vec::new();
/// writer.push_head(&mut text);
/// let page = r#"{ "views": [{ "path": "=1+1, \"x\"", "human": 3 }], "hasMore": false }"#;
/// let end = writer.push_rows(page, "views", 0, &mut text).expect("a page");
/// assert_eq!(end.has_more, Some(false));
/// let lines = "\u{feff}path,human,ai,total\r\n\"'=1+1, \"\"x\"\"\",3,,\r\n";
/// assert_eq!(text, lines.as_bytes());
/// ```
#[derive(Debug)]
pub struct RowWriter {
    format: ExportFormat,
    /// The names of the columns.
    names: Vec<String>,
    members: Vec<Member>,
}

/// A member of a row, or of a record within it.
#[derive(Debug)]
struct Member {
    name: &'static str,
    holds: Holds,
}

#[derive(Debug)]
enum Holds {
    /// The column of this number.
    Cell(usize),
    /// A record with columns of its own.
    Record(Vec<Member>),
}

const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();
const LINE_END: &[u8] = b"\r\n";

impl RowWriter {
    /// Writes rows with these columns; JSON has them all, whatever they are.
    #[must_use]
    pub fn new(format: ExportFormat, columns: &[Column]) -> Self {
        let mut members = Vec::new();
        for (number, column) in columns.iter().enumerate() {
            add_member(&mut members, &column.path, number);
        }
        Self {
            format,
            names: columns.iter().map(Column::name).collect(),
            members,
        }
    }

    /// Appends what stands before the first row: of CSV the byte order mark, so that spreadsheets read
    /// accents, and the names of the columns.
    pub fn push_head(&self, out: &mut Vec<u8>) {
        if self.format == ExportFormat::Csv {
            out.extend_from_slice(BYTE_ORDER_MARK);
            let names: Vec<_> = self.names.iter().map(String::as_str).collect();
            push_record(out, &names);
        }
    }

    /// Appends the rows of a page except the first `skip`. `rows_name` is the property that has them.
    ///
    /// # Errors
    /// [`Malformed`] if the page is not an object with these rows, each an object. Nothing is
    /// appended then.
    pub fn push_rows(
        &self,
        page: &str,
        rows_name: &str,
        skip: u64,
        out: &mut Vec<u8>,
    ) -> Result<PageEnd, Malformed> {
        let before = out.len();
        let mut push_list = |scanner: &mut Scanner<'_>| self.push_list(scanner, skip, out);
        let end = go_through_members(page, &[], Some(rows_name), &mut push_list);
        if end.is_err() {
            out.truncate(before);
        }
        end
    }

    fn push_list(
        &self,
        scanner: &mut Scanner<'_>,
        skip: u64,
        out: &mut Vec<u8>,
    ) -> Result<u64, Malformed> {
        let mut cells = vec![Piece::NULL; self.names.len()];
        let mut rows = 0;
        let mut has_row = scanner.open(b'[', b']')?;
        while has_row {
            if scanner.peek() != Some(b'{') {
                return Err(Malformed);
            }
            if rows < skip {
                scanner.value()?;
            } else if self.format == ExportFormat::Csv {
                cells.fill(Piece::NULL);
                read_record(scanner, &self.members, &mut cells)?;
                push_cells(out, scanner, &cells);
            } else {
                let row = scanner.value()?;
                push_json(out, scanner, row);
                out.push(b'\n');
            }
            rows += 1;
            has_row = scanner.goes_on(b']')?;
        }
        Ok(rows)
    }

    /// Appends the last record of an export that is not complete: where it goes on, why it ended, and
    /// after how many seconds it may be asked for.
    pub fn push_incomplete(
        &self,
        cursor: &str,
        problem: &str,
        retry_after: Option<u64>,
        out: &mut Vec<u8>,
    ) {
        let seconds = retry_after.map(crate::text::format_integer);
        if self.format == ExportFormat::NdJson {
            let mut line = String::from("{\"incomplete\":{\"cursor\":");
            crate::encode::push_json_string(&mut line, cursor);
            line.push_str(",\"problem\":");
            crate::encode::push_json_string(&mut line, problem);
            if let Some(seconds) = seconds {
                line.push_str(",\"retryAfter\":");
                line.push_str(&seconds);
            }
            line.push_str("}}\n");
            out.extend_from_slice(line.as_bytes());
            return;
        }
        let mut said = vec![
            "#incomplete".to_owned(),
            ["cursor=", cursor].concat(),
            ["problem=", problem].concat(),
        ];
        said.extend(seconds.map(|seconds| ["retryAfter=", &seconds].concat()));
        let width = self.names.len().max(1);
        if said.len() > width {
            let last = said.split_off(width - 1).join("; ");
            said.push(last);
        }
        said.resize(width, String::new());
        let said: Vec<_> = said.iter().map(String::as_str).collect();
        push_record(out, &said);
    }
}

/// Checks a page by what its operation promises: every member of the page itself is there and of its
/// kind, and `member`, if it has rows, is a list of objects. What is within these is not looked at.
///
/// # Errors
/// [`Malformed`] when it is not that.
///
/// ```
/// use quillgate::Operation;
/// use quillgate::export::check_page;
///
/// let promised = Operation::ListPageViews.result();
/// let page = r#"{ "totals": {}, "views": [{ "path": "/a" }], "hasMore": false }"#;
/// assert_eq!(check_page(page, promised, Some("views")).map(|end| end.rows), Ok(1));
/// assert!(check_page(r#"{ "views": [] }"#, promised, Some("views")).is_err());
/// ```
pub fn check_page(page: &str, promised: &Kind, member: Option<&str>) -> Result<PageEnd, Malformed> {
    let Kind::Object(object) = promised else {
        return Err(Malformed);
    };
    go_through_members(page, object.fields, member, &mut count_rows)
}

fn count_rows(scanner: &mut Scanner<'_>) -> Result<u64, Malformed> {
    let mut rows = 0;
    let mut has_row = scanner.open(b'[', b']')?;
    while has_row {
        if scanner.peek() != Some(b'{') {
            return Err(Malformed);
        }
        scanner.value()?;
        rows += 1;
        has_row = scanner.goes_on(b']')?;
    }
    Ok(rows)
}

/// Goes through the members of a page; what is in `member` is left to `read_rows`.
fn go_through_members(
    page: &str,
    promised: &[Field],
    member: Option<&str>,
    read_rows: &mut dyn FnMut(&mut Scanner<'_>) -> Result<u64, Malformed>,
) -> Result<PageEnd, Malformed> {
    let mut scanner = Scanner::new(page);
    let mut end = PageEnd::default();
    let mut has_rows = member.is_none();
    let mut kept = vec![None; promised.len()];
    let mut has_member = scanner.open(b'{', b'}')?;
    while has_member {
        let key = scanner.key()?;
        let at = (0..promised.len()).find(|at| scanner.is_named(key, promised[*at].name));
        if member.is_some_and(|member| scanner.is_named(key, member)) {
            if has_rows {
                return Err(Malformed);
            }
            has_rows = true;
            end.rows = read_rows(&mut scanner)?;
            if let Some(at) = at {
                kept[at] = Some(true);
            }
        } else {
            let value = scanner.value()?;
            if let Some(at) = at {
                let json = scanner.bytes(value);
                kept[at] = Some(is_of_kind(value.shape, json, &promised[at].kind));
            }
            if scanner.is_named(key, "hasMore") {
                end.has_more = read_flag(scanner.bytes(value));
            } else if scanner.is_named(key, "nextCursor") {
                let is_text = matches!(value.shape, Shape::Text | Shape::EscapedText);
                end.next_cursor = is_text.then(|| scanner.unescape(value));
            }
        }
        has_member = scanner.goes_on(b'}')?;
    }
    let is_kept = |(field, kept): (&Field, Option<bool>)| {
        kept.unwrap_or(matches!(field.kind, Kind::Nullable(_) | Kind::Nothing))
    };
    let keeps_promise = promised.iter().zip(kept).all(is_kept);
    if has_rows && keeps_promise && scanner.is_at_end() {
        Ok(end)
    } else {
        Err(Malformed)
    }
}

fn add_member(members: &mut Vec<Member>, path: &[&'static str], number: usize) {
    let Some((&name, rest)) = path.split_first() else {
        return;
    };
    if rest.is_empty() {
        let holds = Holds::Cell(number);
        members.push(Member { name, holds });
        return;
    }
    let known = members.iter_mut().find(|member| member.name == name);
    if let Some(Member {
        holds: Holds::Record(inner),
        ..
    }) = known
    {
        add_member(inner, rest, number);
    } else {
        let mut inner = Vec::new();
        add_member(&mut inner, rest, number);
        let holds = Holds::Record(inner);
        members.push(Member { name, holds });
    }
}

/// Finds the cells of a record. Of a member that is there twice the last one counts, as for every
/// reader of JSON.
fn read_record(
    scanner: &mut Scanner<'_>,
    members: &[Member],
    cells: &mut [Piece],
) -> Result<(), Malformed> {
    // Rows have their members in the order of the description, as a rule.
    let mut expected = 0;
    let mut has_member = scanner.open(b'{', b'}')?;
    while has_member {
        let key = scanner.key()?;
        let is_this = |at: &usize| scanner.is_named(key, members[*at].name);
        let found = (expected..members.len()).find(is_this);
        let found = found.or_else(|| (0..expected).find(is_this));
        match found.map(|at| (at, &members[at].holds)) {
            None => {
                scanner.value()?;
            }
            Some((at, Holds::Cell(number))) => {
                expected = at + 1;
                cells[*number] = scanner.value()?;
            }
            Some((at, Holds::Record(inner))) => {
                expected = at + 1;
                if scanner.peek() == Some(b'{') {
                    read_record(scanner, inner, cells)?;
                } else if scanner.value()?.shape != Shape::Null {
                    return Err(Malformed);
                }
            }
        }
        has_member = scanner.goes_on(b'}')?;
    }
    Ok(())
}

/// Whether a value is of this kind; what is within it is not looked at.
fn is_of_kind(shape: Shape, json: &[u8], kind: &Kind) -> bool {
    let is_text = matches!(shape, Shape::Text | Shape::EscapedText);
    match kind {
        Kind::Text | Kind::OpenEnum(_) | Kind::Tag(_) => is_text,
        Kind::Number => shape == Shape::Plain && read_flag(json).is_none(),
        Kind::Count => !is_text && is_count(json),
        Kind::Flag => !is_text && read_flag(json).is_some(),
        Kind::Object(_) | Kind::Union(_) => !is_text && json.first() == Some(&b'{'),
        Kind::List(_) => !is_text && json.first() == Some(&b'['),
        Kind::Nothing => false,
        Kind::Nullable(kind) => shape == Shape::Null || is_of_kind(shape, json, kind),
    }
}

/// Whether a number is a count: JSON does not tell 1 from 1.0.
fn is_count(json: &[u8]) -> bool {
    let number = std::str::from_utf8(json).unwrap_or("");
    let (integer, fraction) = number.split_once('.').unwrap_or((number, ""));
    let is_integer = fraction.bytes().all(|digit| digit == b'0');
    is_integer && parse_decimal(integer).is_some_and(|count| count <= MAX_SAFE_INTEGER)
}

fn read_flag(text: &[u8]) -> Option<bool> {
    match text {
        b"true" => Some(true),
        b"false" => Some(false),
        _ => None,
    }
}

fn push_json(out: &mut Vec<u8>, scanner: &Scanner<'_>, piece: Piece) {
    let json = scanner.bytes(piece);
    if piece.shape == Shape::SpacedStructure {
        push_compact(out, json);
    } else {
        out.extend_from_slice(json);
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

fn push_record(out: &mut Vec<u8>, cells: &[&str]) {
    for (number, cell) in cells.iter().enumerate() {
        if number > 0 {
            out.push(b',');
        }
        push_cell(out, cell.as_bytes());
    }
    out.extend_from_slice(LINE_END);
}

/// The starts of a formula in a spreadsheet. Full-width signs count in some locales.
const FORMULA_STARTS: [&str; 11] = ["=", "+", "-", "@", "＝", "＋", "－", "＠", "\t", "\r", "\n"];

/// Appends a string, with an apostrophe before a formula. Visitors choose paths and readers write
/// feedback, so anyone can put a formula into a cell.
fn push_text_cell(out: &mut Vec<u8>, text: &[u8]) {
    if FORMULA_STARTS
        .iter()
        .any(|start| text.starts_with(start.as_bytes()))
    {
        push_cell(out, &[b"'", text].concat());
    } else {
        push_cell(out, text);
    }
}

/// Appends a cell, in quotes where it needs them (RFC 4180, section 2), and also with a semicolon,
/// which separates cells in some locales.
fn push_cell(out: &mut Vec<u8>, text: &[u8]) {
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
