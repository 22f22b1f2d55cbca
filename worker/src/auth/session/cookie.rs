//! The session cookie (RFC 6265bis): 256 random bits and their HMAC-SHA-256. Forged cookies are
//! rejected without calling a Durable Object.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use quillgate::Millis;

use crate::hash::{KEY_BYTES, derive_key, fingerprint, hmac_sha256, verify_hmac_sha256};

/// `__Host-` forbids a `Domain` (RFC 6265bis, section 4.1.3.2).
pub const NAME: &str = "__Host-quillgate";
pub const RANDOM_BYTES: usize = 32;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cookie<'a> {
    Missing,
    One(&'a str),
    /// Browsers never send several cookies with a `__Host-` name.
    Several,
}

/// RFC 6265bis, section 4.2.1.
pub fn read_cookies(header: Option<&str>) -> impl Iterator<Item = (&str, &str)> {
    let pairs = header.unwrap_or("").split(';');
    pairs.filter_map(|pair| pair.trim_matches([' ', '\t']).split_once('='))
}

pub fn find_cookie<'a>(header: Option<&'a str>, name: &str) -> Cookie<'a> {
    let mut named = read_cookies(header).filter(|(own, _)| *own == name);
    match (named.next(), named.next()) {
        (None, _) => Cookie::Missing,
        (Some((_, value)), None) => Cookie::One(value),
        (Some(_), Some(_)) => Cookie::Several,
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SameSite {
    Strict,
    Lax,
}

/// RFC 6265bis, section 4.1.
pub fn write_cookie(name: &str, value: &str, same_site: SameSite, lifetime: Millis) -> String {
    let same_site = match same_site {
        SameSite::Strict => "Strict",
        SameSite::Lax => "Lax",
    };
    let seconds = lifetime.0 / 1000;
    format!("{name}={value}; Path=/; Secure; HttpOnly; SameSite={same_site}; Max-Age={seconds}")
}

pub fn clear_cookie(name: &str) -> String {
    write_cookie(name, "", SameSite::Strict, Millis(0))
}

/// A hash that does not reveal the cookie.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionId(String);

impl SessionId {
    /// Also returns the cookie, which is valid while the gateway has `secret`.
    pub fn new(random: &[u8; RANDOM_BYTES], secret: &[u8]) -> (Self, String) {
        let tag = hmac_sha256(&derive(secret), &[random]);
        let value = URL_SAFE_NO_PAD.encode([&random[..], &tag[..]].concat());
        (Self::of_value(&value), value)
    }

    pub fn read(cookie: Cookie<'_>, secrets: &[Vec<u8>]) -> Option<Self> {
        match cookie {
            Cookie::One(value) if is_genuine(value, secrets) => Some(Self::of_value(value)),
            Cookie::Missing | Cookie::One(_) | Cookie::Several => None,
        }
    }

    fn of_value(value: &str) -> Self {
        Self(fingerprint(&["session", value]))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn is_genuine(value: &str, secrets: &[Vec<u8>]) -> bool {
    let bytes = URL_SAFE_NO_PAD.decode(value).unwrap_or_default();
    let Some((random, tag)) = bytes.split_at_checked(RANDOM_BYTES) else {
        return false;
    };
    secrets
        .iter()
        .any(|secret| verify_hmac_sha256(&derive(secret), &[random], tag))
}

fn derive(secret: &[u8]) -> [u8; KEY_BYTES] {
    derive_key(secret, b"quillgate session")
}
