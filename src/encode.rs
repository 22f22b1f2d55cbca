//! Percent-encoding of what goes into a URL, and JSON text of what goes into a body.

/// Percent-encodes `text` as one path segment or one query value.
///
/// Everything but RFC 3986's unreserved characters (`A-Z a-z 0-9 - . _ ~`) is
/// encoded, so the result holds no `/`, `?`, `#`, `&`, `+` or `%` of its own and
/// can change neither the path nor the query around it (RFC 3986, section 2.3).
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

/// Appends `text` as [`percent_encode`] gives it.
pub(crate) fn push_percent_encoded(encoded: &mut String, text: &str) {
    // Runs of what stays as it is end before a byte that does not, which may be of any character.
    let bytes = text.as_bytes();
    let mut run = 0;
    for (at, byte) in bytes.iter().enumerate() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(byte) {
            continue;
        }
        encoded.push_str(text.get(run..at).unwrap_or_default());
        encoded.push_str("%");
        push_hex(encoded, *byte, "0123456789ABCDEF");
        run = at + 1;
    }
    encoded.push_str(text.get(run..).unwrap_or_default());
}

/// Appends a byte by two of these digits.
fn push_hex(text: &mut String, byte: u8, digits: &str) {
    for digit in [byte >> 4, byte & 15] {
        let at = usize::from(digit);
        text.push_str(&digits[at..=at]);
    }
}

/// Writes `text` as a JSON string, quotes included (RFC 8259, section 7).
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

/// Appends `text` as [`encode_json_string`] gives it.
pub(crate) fn push_json_string(json: &mut String, text: &str) {
    json.push_str("\"");
    // What needs no escape is appended run by run; what does is one ASCII character.
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
        json.push_str(&text[run..at]);
        json.push_str(escape);
        if escape.len() > 2 {
            push_hex(json, byte, "0123456789abcdef");
        }
        run = at + 1;
    }
    json.push_str(&text[run..]);
    json.push_str("\"");
}
