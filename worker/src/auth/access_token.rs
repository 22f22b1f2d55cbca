//! The gateway's own access tokens: HS256 (RFC 7518, section 3.2).

use quillgate::Millis;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::auth::auth_settings::AuthSettings;
use crate::auth::caller::{Caller, Grant, ISSUER};
use crate::auth::jwt::{
    INCOMPLETE, Jwt, NO_SUBJECT, OTHER_ISSUER, REVOKED, Times, UNKNOWN_KIND, WRONG_SIGNATURE,
    to_millis,
};
use crate::auth::revocation::RevokedTokens;
use crate::auth::token::VerifiedToken;
use crate::auth::trusted_issuer::{Source, read_quota};
use crate::hash::verify_hmac_sha256;

const MAX_LIFETIME_SECONDS: f64 = 90.0 * 86_400.0;

#[derive(Deserialize)]
struct Claims {
    iss: String,
    sub: String,
    projects: Vec<String>,
    scope: String,
    quota: Option<Value>,
    /// [`RevokedTokens::covers`] reads it from the map.
    #[serde(rename = "jti")]
    _id: Option<String>,
}

/// As in [`read_caller`], an error is the detail of the 401.
pub(super) fn verify(
    token: &Jwt<'_>,
    settings: &AuthSettings,
    now: Millis,
) -> Result<VerifiedToken, &'static str> {
    if !token.is_kind(&["jwt"]) {
        return Err(UNKNOWN_KIND);
    }
    let (signed, signature) = (token.signed.as_bytes(), token.signature()?);
    let verifies = |secret: &Vec<u8>| verify_hmac_sha256(secret, &[signed], &signature);
    let matching = settings.token_secrets.iter().position(verifies);
    let secret = matching.ok_or(WRONG_SIGNATURE)?;
    let claims = token.claims()?;
    let caller = read_caller(&claims, &settings.revoked, now)?;
    Ok(VerifiedToken {
        secret,
        expires: caller.expires,
        caller,
        claims,
        source: Source::Bearer,
        text: token.text.to_owned(),
    })
}

pub(super) fn read_caller(
    values: &Map<String, Value>,
    revoked: &RevokedTokens,
    now: Millis,
) -> Result<Caller, &'static str> {
    let claims = Claims::deserialize(values).map_err(|_| INCOMPLETE)?;
    let times = Times::read(values)?;
    let quota = read_quota(claims.quota).ok_or(INCOMPLETE)?;
    let issued_at = times.iat.ok_or(INCOMPLETE)?;
    if revoked.covers(ISSUER, values, times.iat) {
        return Err(REVOKED);
    }
    if claims.iss != ISSUER {
        return Err(OTHER_ISSUER);
    }
    if claims.sub.is_empty() {
        return Err(NO_SUBJECT);
    }
    times.check(0.0, now)?;
    if times.exp - issued_at > MAX_LIFETIME_SECONDS {
        return Err("the access token lives longer than 90 days");
    }
    Ok(Caller {
        issuer: claims.iss,
        subject: claims.sub,
        grants: vec![Grant::new(claims.projects, &claims.scope)],
        quota,
        claims: None,
        shared: Vec::new(),
        expires: to_millis(times.exp),
    })
}
