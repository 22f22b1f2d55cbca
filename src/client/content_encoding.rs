//! Decodes bodies by `Content-Encoding`, as `fetch` does. Proxies also compress responses that no
//! client requested compressed.

use std::error::Error;
use std::fmt;
use std::io::{self, Read};

use brotli_decompressor::Decompressor;
use flate2::read::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};
use http::HeaderMap;
use http::header::CONTENT_ENCODING;

/// The value of `Accept-Encoding`.
pub const ACCEPTED: &str = "gzip, deflate, br";

/// The maximum size of a body, decoded: 8 MiB. A gateway accepts no larger page from Mintlify. A small
/// compressed body can otherwise exhaust the memory.
pub const MAX_BODY: usize = 8 << 20;

/// A body of more than [`MAX_BODY`] bytes.
#[derive(Debug, Clone, Copy)]
pub struct BodyTooLarge;

impl fmt::Display for BodyTooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the body is larger than 8 MiB")
    }
}

impl Error for BodyTooLarge {}

const BUFFER: usize = 4096;

/// Returns the decoded body. A body with an unknown encoding is returned unchanged.
///
/// # Errors
/// Fails if the body is malformed, or has more than [`MAX_BODY`] bytes ([`BodyTooLarge`]).
pub fn decode_body(headers: &HeaderMap, body: Vec<u8>) -> io::Result<Vec<u8>> {
    let values = headers.get_all(CONTENT_ENCODING).iter();
    let values = values.filter_map(|value| value.to_str().ok());
    let names = values.flat_map(|value| value.split(','));
    let names: Vec<_> = names.map(|name| name.trim().to_ascii_lowercase()).collect();
    let is_known = |name: &String| matches!(&**name, "gzip" | "x-gzip" | "deflate" | "br");
    if body.is_empty() || !names.iter().all(is_known) {
        return Ok(body);
    }
    // Encodings are listed in the order in which they were applied.
    names
        .iter()
        .rev()
        .try_fold(body, |body, name| decode(name, &body))
}

fn decode(name: &str, body: &[u8]) -> io::Result<Vec<u8>> {
    match name {
        "br" => read(Decompressor::new(body, BUFFER)),
        // Some servers send DEFLATE without the header of zlib, whose first four bits are 8.
        "deflate" if body.first().is_none_or(|first| first & 0x0f != 8) => {
            read(DeflateDecoder::new(body))
        }
        "deflate" => read(ZlibDecoder::new(body)),
        _ => read(MultiGzDecoder::new(body)),
    }
}

fn read(body: impl Read) -> io::Result<Vec<u8>> {
    let mut decoded = Vec::new();
    let limit = MAX_BODY as u64 + 1;
    body.take(limit).read_to_end(&mut decoded)?;
    if decoded.len() > MAX_BODY {
        return Err(io::Error::other(BodyTooLarge));
    }
    Ok(decoded)
}
