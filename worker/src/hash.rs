use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hkdf::Hkdf;
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

/// In bytes.
pub const KEY_BYTES: usize = 32;

/// Of the concatenated parts.
pub fn hmac_sha256(key: &[u8], parts: &[&[u8]]) -> [u8; KEY_BYTES] {
    create_mac(key, parts).map_or([0; KEY_BYTES], |mac| mac.finalize().into_bytes().into())
}

/// Takes constant time.
pub fn verify_hmac_sha256(key: &[u8], parts: &[&[u8]], tag: &[u8]) -> bool {
    create_mac(key, parts).is_some_and(|mac| mac.verify_slice(tag).is_ok())
}

fn create_mac(key: &[u8], parts: &[&[u8]]) -> Option<Hmac<Sha256>> {
    // Never fails: HMAC accepts keys of any length.
    let mut mac = Hmac::<Sha256>::new_from_slice(key).ok()?;
    for part in parts {
        mac.update(part);
    }
    Some(mac)
}

/// HKDF-SHA-256 (RFC 5869), without a salt.
pub fn derive_key(secret: &[u8], info: &[u8]) -> [u8; KEY_BYTES] {
    let mut key = [0; KEY_BYTES];
    let expanded = Hkdf::<Sha256>::new(None, secret).expand(info, &mut key);
    debug_assert!(expanded.is_ok(), "HKDF derives up to 8,160 bytes");
    key
}

/// SHA-256 in base64url. Each part follows its length, so different lists never have the same
/// input.
pub fn fingerprint(parts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part.as_bytes());
    }
    URL_SAFE_NO_PAD.encode(hash.finalize())
}
