//! The session cookie (RFC 6265bis). This module finds cookies in a request, and writes and
//! verifies the session cookie.
//!
//! The cookie's value is 256 random bits and their HMAC-SHA-256. The HMAC's key is derived from
//! `ACCESS_TOKEN_SECRET`. Forged cookies are therefore rejected without calling a Durable Object.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use quillgate::Millis;

use crate::hash::{KEY_BYTES, derive_key, fingerprint, hmac_sha256, verify_hmac_sha256};

/// The cookie's name. Browsers reject a cookie with the prefix `__Host-` if it has a `Domain`, has
/// a path other than `/`, or lacks `Secure` (RFC 6265bis, section 4.1.3.2).
pub const NAME: &str = "__Host-quillgate";
/// The length of the cookie's random part, in bytes.
pub const RANDOM_BYTES: usize = 32;

/// The cookies of a request that have a given name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cookie<'a> {
    /// The request has no cookie with this name.
    Missing,
    /// The request has exactly one cookie with this name. The string is the cookie's value.
    One(&'a str),
    /// The request has several cookies with this name. Browsers never send several cookies with the
    /// same `__Host-` name.
    Several,
}

/// Returns the names and values of the cookies in the `Cookie` header (RFC 6265bis, section 4.2.1).
pub fn read_cookies(header: Option<&str>) -> impl Iterator<Item = (&str, &str)> {
    let pairs = header.unwrap_or("").split(';');
    pairs.filter_map(|pair| pair.trim_matches([' ', '\t']).split_once('='))
}

/// Finds a cookie by name in the `Cookie` header.
pub fn find_cookie<'a>(header: Option<&'a str>, name: &str) -> Cookie<'a> {
    let mut named = read_cookies(header).filter(|(own, _)| *own == name);
    match (named.next(), named.next()) {
        (None, _) => Cookie::Missing,
        (Some((_, value)), None) => Cookie::One(value),
        (Some(_), Some(_)) => Cookie::Several,
    }
}

/// Values of the `SameSite` attribute, which decides when browsers send a cookie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SameSite {
    /// Sent only with requests from the same site.
    Strict,
    /// Also sent when a link or a redirect on another site leads to this site.
    Lax,
}

/// Returns a `Set-Cookie` value (RFC 6265bis, section 4.1). A lifetime of zero deletes the cookie.
pub fn write_cookie(name: &str, value: &str, same_site: SameSite, lifetime: Millis) -> String {
    let same_site = match same_site {
        SameSite::Strict => "Strict",
        SameSite::Lax => "Lax",
    };
    let seconds = lifetime.0 / 1000;
    format!("{name}={value}; Path=/; Secure; HttpOnly; SameSite={same_site}; Max-Age={seconds}")
}

/// Returns the `Set-Cookie` value that deletes a cookie.
pub fn clear_cookie(name: &str) -> String {
    write_cookie(name, "", SameSite::Strict, Millis(0))
}

/// The name of a session's Durable Object. The name is a hash of the cookie's value, so the name
/// does not reveal the cookie.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionId(String);

impl SessionId {
    /// Creates the id and the cookie value of a new session. [`Self::read`] accepts the cookie
    /// while `secret` is one of the gateway's secrets.
    pub fn new(random: &[u8; RANDOM_BYTES], secret: &[u8]) -> (Self, String) {
        let tag = hmac_sha256(&derive(secret), &[random]);
        let value = URL_SAFE_NO_PAD.encode([&random[..], &tag[..]].concat());
        (Self::of_value(&value), value)
    }

    /// Reads the session cookie. Returns `None` if the cookie is missing, occurs several times, or
    /// was not created with one of `secrets`.
    pub fn read(cookie: Cookie<'_>, secrets: &[Vec<u8>]) -> Option<Self> {
        match cookie {
            Cookie::One(value) if is_genuine(value, secrets) => Some(Self::of_value(value)),
            Cookie::Missing | Cookie::One(_) | Cookie::Several => None,
        }
    }

    fn of_value(value: &str) -> Self {
        Self(fingerprint(&["session", value]))
    }

    /// Returns the name of the object.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn is_genuine(value: &str, secrets: &[Vec<u8>]) -> bool {
    let bytes = URL_SAFE_NO_PAD.decode(value).unwrap_or_default();
    let Some((random, tag)) = bytes.split_at_checked(RANDOM_BYTES) else {
        return false;
    };
    let mut secrets = secrets.iter();
    secrets.any(|secret| verify_hmac_sha256(&derive(secret), &[random], tag))
}

fn derive(secret: &[u8]) -> [u8; KEY_BYTES] {
    derive_key(secret, b"quillgate session")
}
