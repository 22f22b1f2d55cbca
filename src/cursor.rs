//! Cursors of lists. A cursor is opaque, but Mintlify sometimes sends it inside a URL.

/// Returns the cursor in a `nextCursor`: the parameter `cursor` of a URL or a query, decoded, or else
/// the whole string.
pub(crate) fn read_cursor(text: String) -> String {
    let query = text.split_once('?').map_or(&*text, |(_, query)| query);
    let query = query.split('#').next().unwrap_or_default();
    let mut parameters = query.split('&');
    let cursor = parameters.find_map(|parameter| parameter.strip_prefix("cursor="));
    let cursor = cursor.filter(|cursor| !cursor.is_empty());
    let decoded = cursor.and_then(|cursor| String::from_utf8(percent_decode(cursor)).ok());
    decoded.unwrap_or(text)
}

/// Decodes `%XX`. Other characters are kept, including `+`, which occurs in base64.
fn percent_decode(text: &str) -> Vec<u8> {
    let mut decoded = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let digit = |at: usize| char::from(*after.get(at)?).to_digit(16);
        let escaped = match (first, digit(0), digit(1)) {
            (b'%', Some(high), Some(low)) => u8::try_from(high * 16 + low).ok(),
            _ => None,
        };
        decoded.push(escaped.unwrap_or(first));
        rest = after
            .get(if escaped.is_some() { 2.. } else { 0.. })
            .unwrap_or_default();
    }
    decoded
}
