//! The check of analytics pages. [`check_page`] checks that a page has its declared type, and
//! returns the pagination properties of the page.

use quillgate::pages::Totals;
use quillgate::schema::{Field, JsonType};
use quillgate::text::{MAX_SAFE_INTEGER, parse_decimal};

use crate::json;
use crate::upstream::json_scanner::{Malformed, Scanner, Shape};

/// The pagination properties of a page, and its number of rows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PageEnd {
    /// The number of rows on the page, including rows that an export skips.
    pub rows: u64,
    /// `hasMore`, if the page has this property and it is a boolean.
    pub has_more: Option<bool>,
    /// `nextCursor`, if the page has this property and it is a string.
    pub next_cursor: Option<String>,
    /// The totals of the list, if the page has them.
    pub totals: Option<Totals>,
}

/// The properties with the totals of a list.
const TOTALS: [&str; 2] = ["totals", "totalSearches"];

/// Returns the fingerprint of totals, regardless of whitespace and of the order of properties.
/// Returns `None` for `null` and for malformed JSON.
pub fn read_totals(json: &[u8]) -> Option<Totals> {
    let totals = json::parse(json).filter(|totals| !totals.is_null())?;
    Some(Totals::of(&json::to_text(&totals)))
}

/// Checks that a page has the type that its operation declares.
///
/// Every declared property of the page must have its declared type. The property `member`, if
/// given, must be an array of objects. Nested values are not checked.
///
/// # Errors
/// Returns [`Malformed`] if the page is not valid JSON or does not have the declared type.
///
/// ```
/// use quillgate::Operation;
/// use quillgate_worker::upstream::page_check::check_page;
///
/// let declared = Operation::ListPageViews.result();
/// let page = r#"{ "totals": {}, "views": [{ "path": "/a" }], "hasMore": false }"#;
/// assert_eq!(check_page(page, declared, Some("views")).map(|end| end.rows), Ok(1));
/// assert!(check_page(r#"{ "totals": {} }"#, declared, Some("views")).is_err());
/// ```
pub fn check_page(
    page: &str,
    declared: &JsonType,
    member: Option<&str>,
) -> Result<PageEnd, Malformed> {
    let JsonType::Object(object) = declared else {
        return Err(Malformed);
    };
    let mut read_row = |scanner: &mut Scanner<'_>, _: u64| scanner.value().map(drop);
    read_members(page, object.fields, member, &mut read_row)
}

/// A function that reads a row, which is a JSON object. The second argument is the index of the row
/// on its page, from 0.
type ReadRow<'a> = dyn FnMut(&mut Scanner<'_>, u64) -> Result<(), Malformed> + 'a;

/// Reads an array of rows and counts them.
fn read_rows(scanner: &mut Scanner<'_>, read_row: &mut ReadRow<'_>) -> Result<u64, Malformed> {
    let mut rows = 0;
    let mut has_row = scanner.open(b'[', b']')?;
    while has_row {
        if scanner.peek() != Some(b'{') {
            return Err(Malformed);
        }
        read_row(scanner, rows)?;
        rows += 1;
        has_row = scanner.has_next(b']')?;
    }
    Ok(rows)
}

/// Reads the properties of a page. Calls `read_row` for each element of `member`.
///
/// # Errors
/// Returns [`Malformed`] if the page is not valid JSON, if a declared property is missing or has
/// another type, or if `member` is not an array of objects.
pub(crate) fn read_members(
    page: &str,
    declared: &[Field],
    member: Option<&str>,
    read_row: &mut ReadRow<'_>,
) -> Result<PageEnd, Malformed> {
    let mut scanner = Scanner::new(page);
    let mut end = PageEnd::default();
    let mut has_rows = member.is_none();
    // Nullable properties may be absent.
    let is_optional = |field: &Field| matches!(field.kind, JsonType::Nullable(_) | JsonType::Empty);
    let mut is_valid: Vec<_> = declared.iter().map(is_optional).collect();
    let mut has_member = scanner.open(b'{', b'}')?;
    while has_member {
        let key = scanner.key()?;
        let at = (0..declared.len()).find(|at| scanner.is_named(key, declared[*at].name));
        if member.is_some_and(|member| scanner.is_named(key, member)) {
            if has_rows {
                return Err(Malformed);
            }
            has_rows = true;
            end.rows = read_rows(&mut scanner, read_row)?;
            if let Some(at) = at {
                is_valid[at] = true;
            }
        } else {
            let value = scanner.value()?;
            if let Some(at) = at {
                let json = scanner.bytes(value);
                is_valid[at] = is_of_kind(value.shape, json, &declared[at].kind);
            }
            if scanner.is_named(key, "hasMore") {
                let is_plain = value.shape == Shape::Plain;
                end.has_more = is_plain
                    .then(|| read_boolean(scanner.bytes(value)))
                    .flatten();
            } else if scanner.is_named(key, "nextCursor") {
                let is_text = matches!(value.shape, Shape::Text | Shape::EscapedText);
                end.next_cursor = is_text.then(|| scanner.unescape(value).into_owned());
            } else if TOTALS.iter().any(|name| scanner.is_named(key, name)) {
                end.totals = read_totals(scanner.bytes(value));
            }
        }
        has_member = scanner.has_next(b'}')?;
    }
    if has_rows && !is_valid.contains(&false) && scanner.is_at_end() {
        Ok(end)
    } else {
        Err(Malformed)
    }
}

/// Returns whether a value has the type `kind`. Nested values are not checked.
fn is_of_kind(shape: Shape, json: &[u8], kind: &JsonType) -> bool {
    let is_text = matches!(shape, Shape::Text | Shape::EscapedText);
    match kind {
        JsonType::String | JsonType::OpenEnum(_) | JsonType::Tag(_) => is_text,
        JsonType::Percentage => shape == Shape::Plain && read_boolean(json).is_none(),
        JsonType::SafeInteger => !is_text && is_count(json),
        JsonType::Boolean => !is_text && read_boolean(json).is_some(),
        JsonType::Object(_) | JsonType::Union(_) => !is_text && json.first() == Some(&b'{'),
        JsonType::List(_) => !is_text && json.first() == Some(&b'['),
        JsonType::Empty => false,
        JsonType::Nullable(kind) => shape == Shape::Null || is_of_kind(shape, json, kind),
    }
}

/// Returns whether a number is an integer from 0 to 2^53 − 1. `1.0` counts as 1.
fn is_count(json: &[u8]) -> bool {
    let number = std::str::from_utf8(json).unwrap_or("");
    let (integer, fraction) = number.split_once('.').unwrap_or((number, ""));
    let is_integer = fraction.bytes().all(|digit| digit == b'0');
    is_integer && parse_decimal(integer).is_some_and(|count| count <= MAX_SAFE_INTEGER)
}

fn read_boolean(text: &[u8]) -> Option<bool> {
    match text {
        b"true" => Some(true),
        b"false" => Some(false),
        _ => None,
    }
}
