//! Who is calling, and what they may do: the gateway's own access tokens, JWTs signed
//! with HS256 (RFC 7519, RFC 7518 section 3.2), sent as bearer tokens (RFC 6750).

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use quillgate::Millis;
use serde::Deserialize;
use sha2::Sha256;

use crate::problem::Problem;

/// The longest token that is looked at, in bytes.
const LONGEST_TOKEN: usize = 8 * 1024;
/// How far clocks may differ, in seconds.
const LEEWAY: f64 = 60.0;
/// The longest life of a token, in seconds: 90 days.
const LONGEST_LIFE: f64 = 90.0 * 86_400.0;
const ISSUER: &str = "quillgate";

/// Somebody whose token is good.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// The token's `sub`.
    pub subject: String,
    projects: Vec<String>,
    scopes: Vec<String>,
}

impl Caller {
    /// Whether the caller may work on `project` and do what needs `scope`.
    ///
    /// # Errors
    /// 403 with a challenge that names the scope (RFC 6750, section 3.1).
    pub fn authorize(&self, project: &str, scope: &str) -> Result<(), Problem> {
        if !self.projects.iter().any(|own| own == project) {
            let detail = "the access token is not for this project";
            return Err(Problem::new(
                403,
                "project-not-allowed",
                "Project not allowed",
                detail,
            ));
        }
        if !self.scopes.iter().any(|own| own == scope) {
            let challenge = format!(
                "Bearer realm=\"quillgate\", error=\"insufficient_scope\", scope=\"{scope}\""
            );
            let detail = format!("this needs an access token with the scope {scope}");
            let problem = Problem::new(403, "insufficient-scope", "Insufficient scope", detail);
            return Err(problem.with_header("www-authenticate", challenge));
        }
        Ok(())
    }
}

#[derive(Deserialize)]
struct Header {
    alg: String,
    typ: Option<String>,
    crit: Option<serde_json::Value>,
}

#[derive(Deserialize)]
struct Claims {
    iss: String,
    sub: String,
    projects: Vec<String>,
    scope: String,
    iat: f64,
    exp: f64,
    nbf: Option<f64>,
}

/// Finds the caller by the `Authorization` header.
///
/// # Errors
/// 401 with a challenge: bare when there is no bearer token, `invalid_token` when it is
/// not good. The detail says what is wrong and never repeats the token.
pub fn caller(
    authorization: Option<&str>,
    secrets: &[Vec<u8>],
    now: Millis,
) -> Result<Caller, Problem> {
    let token = bearer(authorization).ok_or_else(no_token)?;
    verified(token, secrets, now).map_err(|reason| {
        let challenge = "Bearer realm=\"quillgate\", error=\"invalid_token\"";
        Problem::new(401, "invalid-token", "Access token not accepted", reason)
            .with_header("www-authenticate", challenge)
    })
}

/// The token of the `Bearer` scheme, whose name is not case-sensitive (RFC 9110, section 11.1).
fn bearer(authorization: Option<&str>) -> Option<&str> {
    let (scheme, token) = authorization?.split_once(' ')?;
    let token = token.trim_start_matches(' ');
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
}

fn no_token() -> Problem {
    let detail = "an access token must be sent as Authorization: Bearer";
    Problem::new(401, "missing-token", "No access token", detail)
        .with_header("www-authenticate", "Bearer realm=\"quillgate\"")
}

fn verified(token: &str, secrets: &[Vec<u8>], now: Millis) -> Result<Caller, &'static str> {
    const MALFORMED: &str = "the access token is not a signed JWT";
    if token.len() > LONGEST_TOKEN {
        return Err("the access token is too long");
    }
    let (signed, signature) = token.rsplit_once('.').ok_or(MALFORMED)?;
    let (header, claims) = signed.split_once('.').ok_or(MALFORMED)?;
    let header: Header = part(header).ok_or(MALFORMED)?;
    if header.alg != "HS256" {
        return Err("the access token must be signed with HS256");
    }
    if header.crit.is_some()
        || header
            .typ
            .is_some_and(|typ| !typ.eq_ignore_ascii_case("jwt"))
    {
        return Err("the access token is of an unknown kind");
    }
    let signature = URL_SAFE_NO_PAD.decode(signature).map_err(|_| MALFORMED)?;
    if !secrets
        .iter()
        .any(|secret| signs(secret, signed, &signature))
    {
        return Err("the access token's signature is wrong");
    }
    let claims: Claims = part(claims).ok_or("the access token's claims are not complete")?;
    claims.checked(now)
}

/// A part is a JSON object (RFC 7519, section 7.2): serde would also take an array of the
/// members' values.
fn part<T: for<'de> Deserialize<'de>>(encoded: &str) -> Option<T> {
    let json = URL_SAFE_NO_PAD.decode(encoded).ok()?;
    let object = json.trim_ascii_start().starts_with(b"{");
    object.then(|| serde_json::from_slice(&json).ok()).flatten()
}

/// Compares in constant time.
fn signs(secret: &[u8], signed: &str, signature: &[u8]) -> bool {
    Hmac::<Sha256>::new_from_slice(secret).is_ok_and(|mut mac| {
        mac.update(signed.as_bytes());
        mac.verify_slice(signature).is_ok()
    })
}

impl Claims {
    fn checked(self, now: Millis) -> Result<Caller, &'static str> {
        let now = seconds(now);
        if self.iss != ISSUER {
            return Err("the access token is from another issuer");
        }
        if self.sub.is_empty() {
            return Err("the access token has no subject");
        }
        if now >= self.exp {
            return Err("the access token has expired");
        }
        if self.iat > now + LEEWAY || self.nbf.is_some_and(|nbf| nbf > now + LEEWAY) {
            return Err("the access token is not valid yet");
        }
        if self.exp - self.iat > LONGEST_LIFE {
            return Err("the access token lives longer than 90 days");
        }
        Ok(Caller {
            subject: self.sub,
            projects: self.projects,
            scopes: self.scope.split(' ').map(str::to_owned).collect(),
        })
    }
}

#[expect(clippy::cast_precision_loss, reason = "the clock is far below 2^53 ms")]
fn seconds(now: Millis) -> f64 {
    now.0 as f64 / 1000.0
}
