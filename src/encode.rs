//! Percent-encoding for URLs and string encoding for JSON.

use crate::text::push_part;

/// Percent-encodes `text` for use as one path segment or one query value.
///
/// Encodes every character except RFC 3986's unreserved characters (`A-Z a-z 0-9 - . _ ~`). The
/// result never contains a literal `/`, `?`, `#`, `&` or `+`, and `%` appears only in escapes. So
/// it cannot change the surrounding path or query (RFC 3986, section 2.3), except as the path
/// segment `.` or `..`, which stays unchanged.
///
/// ```
/// use quillgate::encode::percent_encode;
///
/// assert_eq!(percent_encode("a/../b?x=1#y"), "a%2F..%2Fb%3Fx%3D1%23y");
/// assert_eq!(percent_encode("2024-01-01T00:00:00+02:00"), "2024-01-01T00%3A00%3A00%2B02%3A00");
/// ```
#[must_use]
pub fn percent_encode(text: &str) -> String {
    let mut encoded = String::new();
    push_percent_encoded(&mut encoded, text);
    encoded
}

/// Appends `text`, encoded as by [`percent_encode`].
pub(crate) fn push_percent_encoded(encoded: &mut String, text: &str) {
    // Unreserved characters are ASCII, so each run of them starts and ends at a character boundary.
    let bytes = text.as_bytes();
    let mut run = 0;
    for (at, byte) in bytes.iter().enumerate() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            continue;
        }
        push_part(encoded, text, run, at);
        encoded.push_str("%");
        push_hex(encoded, *byte, "0123456789ABCDEF");
        run = at + 1;
    }
    push_part(encoded, text, run, text.len());
}

/// Appends a byte as two hexadecimal digits, taken from `digits`.
fn push_hex(text: &mut String, byte: u8, digits: &str) {
    for digit in [byte >> 4, byte & 15] {
        let at = usize::from(digit);
        push_part(text, digits, at, at + 1);
    }
}

/// Encodes `text` as a JSON string, including the quotes (RFC 8259, section 7).
///
/// ```
/// assert_eq!(quillgate::encode::encode_json_string("a \"b\"\n"), r#""a \"b\"\n""#);
/// ```
#[must_use]
pub fn encode_json_string(text: &str) -> String {
    let mut json = String::new();
    push_json_string(&mut json, text);
    json
}

/// Appends `text`, encoded as by [`encode_json_string`].
pub(crate) fn push_json_string(json: &mut String, text: &str) {
    json.push_str("\"");
    // Escaped characters are ASCII, so each run between them starts and ends at a character
    // boundary.
    let mut run = 0;
    for (at, byte) in text.bytes().enumerate() {
        let escape = match byte {
            b'"' => "\\\"",
            b'\\' => "\\\\",
            b'\n' => "\\n",
            b'\r' => "\\r",
            b'\t' => "\\t",
            0..=0x1f => "\\u00",
            _ => continue,
        };
        push_part(json, text, run, at);
        json.push_str(escape);
        if escape.len() > 2 {
            push_hex(json, byte, "0123456789abcdef");
        }
        run = at + 1;
    }
    push_part(json, text, run, text.len());
    json.push_str("\"");
}
