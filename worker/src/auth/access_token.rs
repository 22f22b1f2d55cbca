//! The gateway's own access tokens: JWTs signed with HS256 (RFC 7518, section 3.2).

use std::rc::Rc;

use quillgate::Millis;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use crate::auth::caller::{Caller, Grant, ISSUER, Quota};
use crate::auth::jwt::{
    EXPIRED, INCOMPLETE, Jwt, LEEWAY, NO_SUBJECT, NOT_YET, OTHER_ISSUER, REVOKED, UNKNOWN_KIND,
    WRONG_SIGNATURE, to_millis, to_seconds,
};
use crate::auth::revocation::RevokedTokens;
use crate::auth::settings::AuthSettings;
use crate::hash::verify_hmac_sha256;

/// The maximum lifetime of a token, in seconds: 90 days.
const MAX_LIFETIME: f64 = 90.0 * 86_400.0;

/// A token whose signature has been verified.
#[derive(Debug, Clone, PartialEq)]
pub struct AccessToken {
    caller: Rc<Caller>,
    issued: f64,
    expires: f64,
    not_before: Option<f64>,
    id: Option<String>,
}

/// The claims of a token.
#[derive(Deserialize)]
struct Claims {
    iss: String,
    sub: String,
    projects: Vec<String>,
    scope: String,
    #[serde(default, deserialize_with = "read_quota")]
    quota: Quota,
    iat: f64,
    exp: f64,
    nbf: Option<f64>,
    jti: Option<String>,
}

fn read_quota<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Quota, D::Error> {
    let quota = Value::deserialize(deserializer)?;
    Quota::read(&quota).ok_or_else(|| D::Error::custom("a malformed quota"))
}

impl AccessToken {
    /// Verifies a token's signature with any of the secrets, then reads its claims.
    ///
    /// # Errors
    /// Why the token is invalid. The message becomes the detail of the 401.
    pub fn verify(
        token: &Jwt<'_>,
        settings: &AuthSettings,
        now: Millis,
    ) -> Result<Self, &'static str> {
        verify_signature(token, &settings.token_secrets)?;
        Self::read(token.claims()?, &settings.revoked, now)
    }

    /// Reads and checks the claims of a token with a verified signature.
    ///
    /// # Errors
    /// - [`INCOMPLETE`] if a claim is missing or has another type.
    /// - The same as for [`Self::check`].
    pub fn read(
        claims: Map<String, Value>,
        revoked: &RevokedTokens,
        now: Millis,
    ) -> Result<Self, &'static str> {
        let claims = serde_json::from_value(Value::Object(claims));
        let claims: Claims = claims.map_err(|_| INCOMPLETE)?;
        let caller = Caller {
            issuer: claims.iss,
            subject: claims.sub,
            grants: vec![Grant::new(claims.projects, &claims.scope)],
            quota: claims.quota,
            claims: None,
            shared: Vec::new(),
            expires: to_millis(claims.exp),
        };
        let token = Self {
            caller: Rc::new(caller),
            issued: claims.iat,
            expires: claims.exp,
            not_before: claims.nbf,
            id: claims.jti,
        };
        token.check(revoked, now)?;
        Ok(token)
    }

    /// Checks the claims. A cached token is checked again with each request, because it can expire.
    ///
    /// # Errors
    /// The message for the first rule that the claims break.
    pub fn check(&self, revoked: &RevokedTokens, now: Millis) -> Result<(), &'static str> {
        let now = to_seconds(now);
        if revoked.covers_own(self.id.as_deref(), &self.caller.subject, self.issued) {
            return Err(REVOKED);
        }
        if self.caller.issuer != ISSUER {
            return Err(OTHER_ISSUER);
        }
        if self.caller.subject.is_empty() {
            return Err(NO_SUBJECT);
        }
        if now >= self.expires {
            return Err(EXPIRED);
        }
        if self.issued > now + LEEWAY || self.not_before.is_some_and(|nbf| nbf > now + LEEWAY) {
            return Err(NOT_YET);
        }
        if self.expires - self.issued > MAX_LIFETIME {
            return Err("the access token lives longer than 90 days");
        }
        Ok(())
    }

    /// Returns the token's caller.
    pub fn caller(&self) -> Rc<Caller> {
        Rc::clone(&self.caller)
    }

    /// Returns the time of `exp`.
    pub fn expires(&self) -> Millis {
        to_millis(self.expires)
    }
}

/// Verifies a token's signature and returns the index of the matching secret.
///
/// # Errors
/// Why the signature is invalid: no secret matches, or the header is not that of the gateway's own
/// tokens.
pub fn verify_signature(token: &Jwt<'_>, secrets: &[Vec<u8>]) -> Result<usize, &'static str> {
    if !token.is_kind(&["jwt"]) {
        return Err(UNKNOWN_KIND);
    }
    let (signed, signature) = (token.signed.as_bytes(), token.signature()?);
    let verifies = |secret: &Vec<u8>| verify_hmac_sha256(secret, &[signed], &signature);
    secrets.iter().position(verifies).ok_or(WRONG_SIGNATURE)
}
