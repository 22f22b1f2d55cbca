//! The gateway's own access tokens: JWTs signed with HS256 (RFC 7518, section 3.2).

use std::rc::Rc;

use quillgate::Millis;
use serde_json::{Map, Value};

use crate::auth::caller::{Caller, Grant, ISSUER, Quota};
use crate::auth::jwt::{
    EXPIRED, INCOMPLETE, Jwt, LEEWAY, NO_SUBJECT, NOT_YET, OTHER_ISSUER, REVOKED, UNKNOWN_KIND,
    WRONG_SIGNATURE, read_instant, take_text, to_millis, to_seconds,
};
use crate::auth::revocation::RevokedTokens;
use crate::hash::verify_hmac_sha256;
use crate::json;

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

impl AccessToken {
    /// Verifies a token's signature with any of the secrets and reads its claims.
    ///
    /// # Errors
    /// If the token is invalid.
    pub fn verify(token: &Jwt<'_>, secrets: &[Vec<u8>]) -> Result<Self, &'static str> {
        verify_signature(token, secrets)?;
        Self::read(token.claims()?)
    }

    /// Reads the claims of a token with a verified signature.
    ///
    /// # Errors
    /// [`INCOMPLETE`] if a claim is missing or has another type.
    pub fn read(mut members: Map<String, Value>) -> Result<Self, &'static str> {
        let members = &mut members;
        let projects = members.remove("projects").ok_or(INCOMPLETE)?;
        let scope = take_text(members, "scope").ok_or(INCOMPLETE)?;
        let quota = match members.remove("quota") {
            Some(quota) => Quota::read(&quota).ok_or(INCOMPLETE)?,
            None => Quota::default(),
        };
        let id = match members.remove("jti") {
            None | Some(Value::Null) => None,
            Some(Value::String(id)) => Some(id),
            Some(_) => return Err(INCOMPLETE),
        };
        let expires = read_instant(members, "exp")?.ok_or(INCOMPLETE)?;
        let caller = Caller {
            issuer: take_text(members, "iss").ok_or(INCOMPLETE)?,
            subject: take_text(members, "sub").ok_or(INCOMPLETE)?,
            grants: vec![Grant::new(
                json::into_strings(projects).ok_or(INCOMPLETE)?,
                &scope,
            )],
            quota,
            claims: None,
            shared: Vec::new(),
            expires: to_millis(expires),
        };
        Ok(Self {
            caller: Rc::new(caller),
            issued: read_instant(members, "iat")?.ok_or(INCOMPLETE)?,
            expires,
            not_before: read_instant(members, "nbf")?,
            id,
        })
    }

    /// Checks the claims that can become invalid while the token is cached.
    ///
    /// # Errors
    /// If the token is revoked or not valid at this time.
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
    #[must_use]
    pub fn caller(&self) -> Rc<Caller> {
        Rc::clone(&self.caller)
    }

    /// Returns the expiry time.
    #[must_use]
    pub fn expires(&self) -> Millis {
        to_millis(self.expires)
    }
}

/// Verifies a token's signature and returns the index of the matching secret.
///
/// # Errors
/// If no secret matches or the token is not one of the gateway's own.
pub fn verify_signature(token: &Jwt<'_>, secrets: &[Vec<u8>]) -> Result<usize, &'static str> {
    if !token.is_kind(&["jwt"]) {
        return Err(UNKNOWN_KIND);
    }
    let (signed, signature) = (token.signed.as_bytes(), token.signature()?);
    let verifies = |secret: &Vec<u8>| verify_hmac_sha256(secret, &[signed], &signature);
    secrets.iter().position(verifies).ok_or(WRONG_SIGNATURE)
}
