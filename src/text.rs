//! String functions for integers and for excerpts in error messages.

use std::borrow::Cow;

/// The largest integer that every JSON parser reads exactly: 2^53 − 1 (RFC 8259, section 6).
pub const MAX_SAFE_INTEGER: u64 = (1 << 53) - 1;

/// Parses 1 to 16 decimal digits. Returns `None` for anything else.
#[must_use]
pub fn parse_decimal(text: &str) -> Option<u64> {
    let digits = !text.is_empty() && text.len() <= 16 && text.bytes().all(|b| b.is_ascii_digit());
    let value = |number: u64, digit: u8| number * 10 + u64::from(digit - b'0');
    digits.then(|| text.bytes().fold(0, value))
}

/// Returns an integer as decimal digits.
#[must_use]
pub fn format_integer(number: u64) -> String {
    let mut digits = String::new();
    push_integer(&mut digits, number, 1);
    digits
}

/// Appends an integer as decimal digits, padded with zeros to `width`. The formatting of the
/// standard library would add a tenth to the size of the package's wasm.
pub(crate) fn push_integer(text: &mut String, number: u64, width: usize) {
    if number >= 10 || width > 1 {
        push_integer(text, number / 10, width.saturating_sub(1));
    }
    let digit = (number % 10) as usize;
    push_part(text, "0123456789", digit, digit + 1);
}

/// Appends a slice of a string. Appends nothing if the slice cuts a character.
///
/// Every slicing expression would add its own bounds checks to the package's wasm.
pub(crate) fn push_part(text: &mut String, of: &str, from: usize, to: usize) {
    text.push_str(of.get(from..to).unwrap_or_default());
}

/// Splits a string at the first `separator`, an ASCII character. Without it, the second part is absent.
///
/// The searchers of the standard library would add a kilobyte to the package's wasm.
#[must_use]
pub fn cut(text: &str, separator: u8) -> (&str, Option<&str>) {
    match text.bytes().position(|byte| byte == separator) {
        Some(at) => (text.get(..at).unwrap_or_default(), text.get(at + 1..)),
        None => (text, None),
    }
}

/// Converts a number to an integer. Returns `None` if it has a fraction or its absolute value
/// exceeds 2^53 − 1.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::float_cmp,
    reason = "the comparison is what finds out whether the conversion was exact"
)]
pub(crate) fn to_exact_integer(number: f64) -> Option<i64> {
    let integer = number as i64;
    let exact = integer as f64 == number && integer.unsigned_abs() <= MAX_SAFE_INTEGER;
    exact.then_some(integer)
}

/// Replaces each escaped surrogate without its other half by U+FFFD. JSON allows such escapes (RFC
/// 8259, section 8.2) and JavaScript reads them, but no UTF-8 string can represent them.
///
/// ```
/// use quillgate::text::replace_half_surrogates;
///
/// assert_eq!(replace_half_surrogates(r#""a\ud83d""#), r#""a\ufffd""#);
/// assert_eq!(replace_half_surrogates(r#""\ud83d\udd25""#), r#""\ud83d\udd25""#);
/// ```
#[must_use]
pub fn replace_half_surrogates(json: &str) -> Cow<'_, str> {
    let mut replaced = String::new();
    let (mut kept, mut at) = (0, 0);
    while let Some(found) = json.get(at..).and_then(|rest| rest.find('\\')) {
        let escape = at + found;
        at = match (
            read_surrogate(json, escape),
            read_surrogate(json, escape + 6),
        ) {
            (Some(0xd800..0xdc00), Some(0xdc00..)) => escape + 12,
            (Some(_), _) => {
                replaced.push_str(json.get(kept..escape).unwrap_or_default());
                replaced.push_str("\\ufffd");
                kept = escape + 6;
                kept
            }
            // The second character of an escape can be a backslash, which begins no other escape.
            (None, _) => escape + 1 + json[escape + 1..].chars().next().map_or(0, char::len_utf8),
        };
    }
    if kept == 0 {
        return json.into();
    }
    replaced.push_str(json.get(kept..).unwrap_or_default());
    replaced.into()
}

/// Returns the surrogate whose escape is at `at`.
fn read_surrogate(json: &str, at: usize) -> Option<u16> {
    let digits = json.get(at..at + 6)?.strip_prefix("\\u")?;
    let unit = u16::from_str_radix(digits, 16).ok()?;
    (0xd800..0xe000).contains(&unit).then_some(unit)
}

/// Quotes at most 32 characters of `text` for an error message, with control characters replaced by
/// U+FFFD.
pub(crate) fn quote(text: &str) -> Cow<'static, str> {
    let mut quoted = String::from("\"");
    let is_whole = push_sanitized(&mut quoted, text);
    quoted.push_str(if is_whole { "\"" } else { "…\"" });
    quoted.into()
}

/// Returns the number of bytes of the control character that starts at `at` in UTF-8, or 0.
///
/// An iterator over characters would add a decoder to the package's wasm.
pub(crate) fn control_length(text: &[u8], at: usize) -> usize {
    match (text.get(at), text.get(at + 1)) {
        (Some(0..0x20 | 0x7f), _) => 1,
        // U+0080 to U+009F.
        (Some(0xc2), Some(0x80..0xa0)) => 2,
        _ => 0,
    }
}

const MAX_EXCERPT: usize = 32;

/// Returns at most 32 characters of `text`, with control characters replaced by U+FFFD.
pub(crate) fn sanitize(text: &str) -> String {
    let mut excerpt = String::new();
    push_sanitized(&mut excerpt, text);
    excerpt
}

/// Appends the result of [`sanitize`]. Returns `false` if it truncated `text`.
fn push_sanitized(excerpt: &mut String, text: &str) -> bool {
    let bytes = text.as_bytes();
    let mut count = 0;
    let mut run = 0;
    for (at, &byte) in bytes.iter().enumerate() {
        let is_continuation = byte & 0b1100_0000 == 0b1000_0000;
        if is_continuation {
            continue;
        }
        if count == MAX_EXCERPT {
            push_part(excerpt, text, run, at);
            return false;
        }
        count += 1;
        let length = control_length(bytes, at);
        if length > 0 {
            push_part(excerpt, text, run, at);
            excerpt.push_str("\u{fffd}");
            run = at + length;
        }
    }
    push_part(excerpt, text, run, bytes.len());
    true
}

/// Removes insignificant whitespace from JSON (RFC 8259, section 2).
///
/// # Example
/// ```
/// use quillgate::text::compact;
///
/// assert_eq!(compact("{ \"a b\":\r\n\t[1, \"\\\" \"] }"), r#"{"a b":[1,"\" "]}"#);
/// ```
#[must_use]
pub fn compact(json: &str) -> String {
    let mut compacted = String::with_capacity(json.len());
    let (mut kept_from, mut is_text, mut is_escaped) = (0, false, false);
    for (at, byte) in json.bytes().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = is_text,
            b'"' => is_text = !is_text,
            b' ' | b'\t' | b'\n' | b'\r' if !is_text => {
                compacted.push_str(&json[kept_from..at]);
                kept_from = at + 1;
            }
            _ => {}
        }
    }
    compacted.push_str(&json[kept_from..]);
    compacted
}
