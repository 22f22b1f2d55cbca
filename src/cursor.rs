//! Cursors of lists. A cursor is opaque, but Mintlify sometimes sends it inside a URL.

use crate::text::cut;

/// Returns the cursor in a `nextCursor`: the parameter `cursor` of a URL or a query, decoded, or else
/// the whole string.
pub(crate) fn read_cursor(text: String) -> String {
    let (whole, query) = cut(&text, b'?');
    let (query, _) = cut(query.unwrap_or(whole), b'#');
    let mut rest = Some(query);
    while let Some(parameters) = rest {
        let (parameter, others) = cut(parameters, b'&');
        rest = others;
        if let Some(cursor) = parameter.strip_prefix("cursor=")
            && !cursor.is_empty()
        {
            return String::from_utf8(percent_decode(cursor)).unwrap_or(text);
        }
    }
    text
}

/// Decodes `%XX`. Other characters are kept, including `+`, which occurs in base64.
fn percent_decode(text: &str) -> Vec<u8> {
    let mut decoded = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let mut byte = *first;
        rest = after;
        if let ([high, low, after @ ..], b'%') = (rest, byte)
            && let (Some(high), Some(low)) = (hex_digit(*high), hex_digit(*low))
        {
            byte = high * 16 + low;
            rest = after;
        }
        decoded.push(byte);
    }
    decoded
}

const fn hex_digit(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        b'A'..=b'F' => Some(digit - b'A' + 10),
        _ => None,
    }
}
