//! URLs as plain strings. A URL parser would take up a third of the wasm module, and accept more
//! than the gateway allows.

pub use quillgate::credential::is_loopback;

/// The path and the query.
pub fn split_url(url: &str) -> (&str, Option<&str>) {
    let (_, target) = url.split_at(origin_of(url).len());
    let target = target.split('#').next().unwrap_or(target);
    match target.split_once('?') {
        Some((path, query)) => (path, Some(query)),
        None => (target, None),
    }
}

pub fn origin_of(url: &str) -> &str {
    let host_at = url.find("://").map_or(0, |at| at + 3);
    let end = url[host_at..]
        .find(['/', '?', '#'])
        .map_or(url.len(), |at| host_at + at);
    &url[..end]
}

/// Decodes once.
pub fn decode_percent(text: &str) -> Option<String> {
    let mut bytes = text.bytes();
    let mut decoded = Vec::with_capacity(text.len());
    let digit = |byte: Option<u8>| {
        char::from(byte?)
            .to_digit(16)
            .and_then(|d| u8::try_from(d).ok())
    };
    while let Some(byte) = bytes.next() {
        decoded.push(match byte {
            b'%' => digit(bytes.next())? << 4 | digit(bytes.next())?,
            other => other,
        });
    }
    String::from_utf8(decoded).ok()
}

/// `+` encodes a space.
pub fn decode_query(text: &str) -> Option<String> {
    decode_percent(&text.replace('+', " "))
}

/// `https`, or `http` on a loopback host, in visible ASCII, without credentials or fragment.
pub fn is_secure_url(url: &str) -> bool {
    let rest = match url.strip_prefix("http://") {
        Some(rest) if is_loopback(rest) => Some(rest),
        _ => url.strip_prefix("https://"),
    };
    let clean = |byte: u8| byte.is_ascii_graphic() && !b"#\\\"<>".contains(&byte);
    rest.is_some_and(|rest| {
        let authority = rest.split(['/', '?']).next().unwrap_or(rest);
        let named = !authority.is_empty() && !authority.starts_with(':');
        named && !authority.contains('@') && rest.bytes().all(clean)
    })
}

/// `http` or `https` (RFC 6454, section 6.2). Only characters are checked.
pub fn is_origin(text: &str) -> bool {
    let host = text
        .strip_prefix("https://")
        .or_else(|| text.strip_prefix("http://"));
    host.is_some_and(is_authority)
}

/// Browsers omit the default port of an origin.
pub fn strip_default_port(origin: &str) -> &str {
    let port = if origin.starts_with("https:") {
        ":443"
    } else {
        ":80"
    };
    origin.strip_suffix(port).unwrap_or(origin)
}

/// Normalized, with an optional port.
pub fn is_host(text: &str) -> bool {
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
        _ => (text, None),
    };
    let bracketed = host.len() > 2 && host.starts_with('[') && host.ends_with(']');
    is_authority(host) && (bracketed || !host.contains([':', '[', ']'])) && port.is_none_or(is_port)
}

/// Without leading zeros.
pub fn is_port(text: &str) -> bool {
    !text.starts_with(['+', '0']) && text.parse::<u16>().is_ok()
}

/// The order of the characters is not checked.
fn is_authority(text: &str) -> bool {
    let fits =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b".-_:[]".contains(&byte);
    !text.is_empty() && text.bytes().all(fits)
}

/// Percent-encoded.
pub fn find_parameter<'a>(query: Option<&'a str>, name: &str) -> Option<&'a str> {
    query.unwrap_or("").split('&').find_map(|pair| {
        let (own, value) = pair.split_once('=').unwrap_or((pair, ""));
        (own == name).then_some(value)
    })
}

pub fn lowercase_origin(url: &str) -> String {
    let (origin, rest) = url.split_at(origin_of(url).len());
    format!("{}{rest}", origin.to_ascii_lowercase())
}
