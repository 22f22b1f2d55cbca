//! Decodes bodies by `Content-Encoding`, as `fetch` does. Proxies also compress responses that no
//! client requested compressed.

use std::io::{self, Read};

use brotli_decompressor::Decompressor;
use flate2::read::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};
use http::HeaderMap;
use http::header::CONTENT_ENCODING;

/// The value of `Accept-Encoding`.
pub const ACCEPTED: &str = "gzip, deflate, br";

const BUFFER: usize = 4096;

/// Returns the decoded body. A body with an unknown encoding is returned unchanged.
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
    let mut decoded = Vec::new();
    match name {
        "br" => Decompressor::new(body, BUFFER).read_to_end(&mut decoded),
        // Some servers send DEFLATE without the header of zlib, whose first four bits are 8.
        "deflate" if body.first().is_none_or(|first| first & 0x0f != 8) => {
            DeflateDecoder::new(body).read_to_end(&mut decoded)
        }
        "deflate" => ZlibDecoder::new(body).read_to_end(&mut decoded),
        _ => MultiGzDecoder::new(body).read_to_end(&mut decoded),
    }?;
    Ok(decoded)
}
