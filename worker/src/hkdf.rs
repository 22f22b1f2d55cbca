//! Keys derived from a secret: HKDF with SHA-256 (RFC 5869).

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// The length of a block, that of the hash, in bytes.
const BLOCK: usize = 32;

/// Computes HMAC-SHA-256 over the parts, one after another.
#[must_use]
pub fn hmac_sha256(key: &[u8], parts: &[&[u8]]) -> [u8; BLOCK] {
    let mut block = [0; BLOCK];
    // HMAC takes keys of any length.
    if let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key) {
        for part in parts {
            mac.update(part);
        }
        block = mac.finalize().into_bytes().into();
    }
    block
}

/// Whether a tag is HMAC-SHA-256 over the parts; compares in constant time.
#[must_use]
pub fn verify_hmac_sha256(key: &[u8], parts: &[&[u8]], tag: &[u8]) -> bool {
    Hmac::<Sha256>::new_from_slice(key).is_ok_and(|mut mac| {
        for part in parts {
            mac.update(part);
        }
        mac.verify_slice(tag).is_ok()
    })
}

/// Derives a key of `length` bytes from the keying material `ikm`; `info` says what it is for. A key
/// is at most 8,160 bytes long.
///
/// # Example
/// ```
/// use quillgate_worker::hkdf::derive_key;
///
/// let key = derive_key(b"", &[1; 32], b"example", 32);
/// assert_eq!(key.len(), 32);
/// assert_ne!(key, derive_key(b"", &[1; 32], b"another", 32));
/// ```
#[must_use]
pub fn derive_key(salt: &[u8], ikm: &[u8], info: &[u8], length: usize) -> Vec<u8> {
    let pseudorandom_key = hmac_sha256(salt, &[ikm]);
    let mut key = Vec::with_capacity(length + BLOCK);
    let mut previous: &[u8] = &[];
    let mut block;
    for number in 1..=u8::MAX {
        if key.len() >= length {
            break;
        }
        block = hmac_sha256(&pseudorandom_key, &[previous, info, &[number]]);
        key.extend_from_slice(&block);
        previous = &block;
    }
    key.truncate(length);
    key
}
