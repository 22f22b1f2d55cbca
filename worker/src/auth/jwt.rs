//! JSON Web Tokens (RFC 7519), split and decoded but not validated.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use quillgate::Millis;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::json;

/// Tokens of Entra ID list up to 200 groups, which take about 11 kB.
const MAX_TOKEN_BYTES: usize = 16 * 1024;
pub const LEEWAY_SECONDS: f64 = 60.0;

// Details of a 401.
pub const MALFORMED: &str = "the access token is not a signed JWT";
pub const INCOMPLETE: &str = "the access token's claims are not complete";
pub const UNKNOWN_KIND: &str = "the access token is of an unknown kind";
pub const WRONG_SIGNATURE: &str = "the access token's signature is wrong";
pub const OTHER_ISSUER: &str = "the access token is from another issuer";
pub const NO_SUBJECT: &str = "the access token has no subject";
pub const EXPIRED: &str = "the access token has expired";
pub const REVOKED: &str = "the access token has been revoked";
pub const NOT_YET: &str = "the access token is not valid yet";

/// RFC 7515, section 7.1.
pub struct Jwt<'a> {
    /// Without `alg` and parameters that are `null`.
    pub header: Map<String, Value>,
    pub algorithm: String,
    pub text: &'a str,
    /// Header and claims, as sent.
    pub signed: &'a str,
    signature: &'a str,
    claims: &'a str,
}

impl<'a> Jwt<'a> {
    pub fn read(token: &'a str) -> Result<Self, &'static str> {
        if token.len() > MAX_TOKEN_BYTES {
            return Err("the access token is too long");
        }
        let (signed, signature) = token.rsplit_once('.').ok_or(MALFORMED)?;
        let (header, claims) = signed.split_once('.').ok_or(MALFORMED)?;
        let mut header = decode_part(header).ok_or(MALFORMED)?;
        json::remove_nulls(&mut header);
        let algorithm = take_text(&mut header, "alg").ok_or(MALFORMED)?;
        Ok(Self {
            header,
            algorithm,
            text: token,
            signed,
            signature,
            claims,
        })
    }

    pub fn claims(&self) -> Result<Map<String, Value>, &'static str> {
        decode_part(self.claims).ok_or(INCOMPLETE)
    }

    /// Whether `typ` is absent or one of `kinds`, and `crit` is absent. `typ` is a media type,
    /// which is case-insensitive and may omit `application/` (RFC 7515, section 4.1.9).
    pub fn is_kind(&self, kinds: &[&str]) -> bool {
        let is_one = |typ: &str| {
            let typ = typ.to_ascii_lowercase();
            kinds.contains(&typ.strip_prefix("application/").unwrap_or(&typ))
        };
        let known = |typ: &Value| typ.as_str().is_some_and(is_one);
        !self.header.contains_key("crit") && self.header.get("typ").is_none_or(known)
    }

    /// Only canonical, unpadded base64url.
    pub fn signature(&self) -> Result<Vec<u8>, &'static str> {
        URL_SAFE_NO_PAD
            .decode(self.signature)
            .map_err(|_| MALFORMED)
    }
}

fn decode_part(encoded: &str) -> Option<Map<String, Value>> {
    json::parse_map(&URL_SAFE_NO_PAD.decode(encoded).ok()?)
}

/// A property of another type remains in the object.
pub fn take_text(members: &mut Map<String, Value>, name: &str) -> Option<String> {
    let Value::String(text) = members.get_mut(name)? else {
        return None;
    };
    let text = std::mem::take(text);
    members.remove(name);
    Some(text)
}

/// `exp`, `iat` and `nbf` (RFC 7519, section 4.1), in seconds.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Times {
    pub exp: f64,
    pub iat: Option<f64>,
    nbf: Option<f64>,
}

impl Times {
    pub fn read(claims: &Map<String, Value>) -> Result<Self, &'static str> {
        Self::deserialize(claims).map_err(|_| INCOMPLETE)
    }

    /// `leeway` extends `exp`, in seconds. `iat` and `nbf` always have [`LEEWAY_SECONDS`].
    pub fn check(&self, leeway: f64, now: Millis) -> Result<(), &'static str> {
        let now = to_seconds(now);
        if now >= self.exp + leeway {
            return Err(EXPIRED);
        }
        let is_future = |at: Option<f64>| at.is_some_and(|at| at > now + LEEWAY_SECONDS);
        if is_future(self.iat) || is_future(self.nbf) {
            return Err(NOT_YET);
        }
        Ok(())
    }
}

#[expect(clippy::cast_precision_loss, reason = "the clock is far below 2^53 ms")]
fn to_seconds(now: Millis) -> f64 {
    now.0 as f64 / 1000.0
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a float saturates as an integer"
)]
pub fn to_millis(seconds: f64) -> Millis {
    Millis((seconds * 1000.0) as u64)
}
