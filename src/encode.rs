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
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            encoded.push(char::from(byte));
        } else {
            encoded.push('%');
            encoded.push(char::from(HEX[usize::from(byte >> 4)]));
            encoded.push(char::from(HEX[usize::from(byte & 15)]));
        }
    }
    encoded
}

/// Writes `text` as a JSON string, quotes included (RFC 8259, section 7).
///
/// ```
/// assert_eq!(quillgate::encode::encode_json_string("a \"b\"\n"), r#""a \"b\"\n""#);
/// ```
#[must_use]
pub fn encode_json_string(text: &str) -> String {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let mut json = String::with_capacity(text.len() + 2);
    json.push('"');
    for character in text.chars() {
        match character {
            '"' => json.push_str("\\\""),
            '\\' => json.push_str("\\\\"),
            '\n' => json.push_str("\\n"),
            '\r' => json.push_str("\\r"),
            '\t' => json.push_str("\\t"),
            '\0'..='\x1f' => {
                let byte = character as usize;
                json.push_str("\\u00");
                json.push(char::from(HEX[byte >> 4]));
                json.push(char::from(HEX[byte & 15]));
            }
            _ => json.push(character),
        }
    }
    json.push('"');
    json
}

/// Builds a query string from the parameters that are there: `?a=1&b=2`, or nothing.
#[derive(Debug, Default)]
pub(crate) struct Query(String);

impl Query {
    pub(crate) fn push(&mut self, name: &str, value: &str) {
        self.0.push(if self.0.is_empty() { '?' } else { '&' });
        self.0.push_str(name);
        self.0.push('=');
        self.0.push_str(&percent_encode(value));
    }

    pub(crate) fn into_string(self) -> String {
        self.0
    }
}
