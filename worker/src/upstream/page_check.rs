use quillgate::Method;
use quillgate::pages::Totals;
use quillgate::schema::{Field, JsonType};
use quillgate::text::{MAX_SAFE_INTEGER, parse_decimal};
use serde_json::value::RawValue;

use crate::http::problem::Problem;
use crate::json;
use crate::upstream::failure::classify_malformed;
use crate::upstream::raw_json::{Malformed, RawObject, read_string};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PageEnd {
    /// Including rows that an export skips.
    pub rows: u64,
    /// If it is a boolean.
    pub has_more: Option<bool>,
    /// If it is a string.
    pub next_cursor: Option<String>,
    pub totals: Option<Totals>,
}

impl From<Malformed> for Problem {
    fn from(_: Malformed) -> Self {
        classify_malformed(Method::Get).problem
    }
}

const TOTALS: [&str; 2] = ["totals", "totalSearches"];

/// Regardless of whitespace and property order. `None` for `null`.
pub fn read_totals(json: &str) -> Option<Totals> {
    let totals = json::parse(json.as_bytes()).filter(|totals| !totals.is_null())?;
    Some(Totals::of(&json::to_text(&totals)))
}

/// Every declared property must have its declared type, and exactly one property `member` must be an
/// array of objects, the rows. Nested values are not checked.
pub fn read_page<'a>(
    page: &'a str,
    declared: &[Field],
    member: Option<&str>,
) -> Result<(PageEnd, Vec<&'a RawValue>), Malformed> {
    let page = RawObject::read(page)?;
    let mut rows: Vec<&RawValue> = Vec::new();
    if let Some(member) = member {
        let mut lists = page.0.iter().filter(|(name, _)| name == member);
        let (_, list) = lists.next().ok_or(Malformed)?;
        rows = serde_json::from_str(list)?;
        let is_object = |row: &&RawValue| row.get().starts_with('{');
        if lists.next().is_some() || !rows.iter().all(is_object) {
            return Err(Malformed);
        }
    }
    let is_valid = |field: &Field| match page.get(field.name) {
        Some(value) => has_type(value, &field.kind),
        // Nullable properties may be absent.
        None => matches!(field.kind, JsonType::Nullable(_) | JsonType::Empty),
    };
    if !declared.iter().all(is_valid) {
        return Err(Malformed);
    }
    let next_cursor = page.get("nextCursor").and_then(read_string);
    let end = PageEnd {
        rows: rows.len() as u64,
        has_more: page.get("hasMore").and_then(|value| value.parse().ok()),
        next_cursor: next_cursor.map(Into::into),
        totals: TOTALS.iter().find_map(|name| read_totals(page.get(name)?)),
    };
    Ok((end, rows))
}

/// Nested values are not checked.
fn has_type(json: &str, kind: &JsonType) -> bool {
    match kind {
        JsonType::String | JsonType::OpenEnum(_) | JsonType::Tag(_) => json.starts_with('"'),
        JsonType::Percentage => json.starts_with(|c: char| c == '-' || c.is_ascii_digit()),
        JsonType::SafeInteger => is_count(json),
        JsonType::Boolean => json.parse::<bool>().is_ok(),
        JsonType::Object(_) | JsonType::Union(_) => json.starts_with('{'),
        JsonType::List(_) => json.starts_with('['),
        JsonType::Empty => false,
        JsonType::Nullable(kind) => json == "null" || has_type(json, kind),
    }
}

/// An integer from 0 to 2^53 − 1. `1.0` counts as 1.
fn is_count(number: &str) -> bool {
    let (integer, fraction) = number.split_once('.').unwrap_or((number, ""));
    let is_integer = fraction.bytes().all(|digit| digit == b'0');
    is_integer && parse_decimal(integer).is_some_and(|count| count <= MAX_SAFE_INTEGER)
}
