//! Tokens of trusted issuers (`OpenID` Connect Core 1.0, RFC 7519), such as GitHub Actions,
//! Cloudflare Access or Auth0.
//!
//! This module checks everything but the signature. The host fetches keys and supports asymmetric
//! algorithms, so it verifies the signature of an [`UnverifiedToken`]. It selects the key with
//! [`super::jwks::find_key`] and calls [`super::identify`] again.
//!
//! The issuer chooses the lifetime of its tokens, from minutes (GitHub) to a month (Cloudflare
//! Access). Only `exp` limits it, whereas the gateway's own tokens live for at most 90 days.

use quillgate::Millis;
use serde_json::{Map, Value};

use crate::auth::caller::{Caller, Quota, SharedQuota, caller_key};
use crate::auth::jwks::Algorithm;
use crate::auth::jwt::{
    EXPIRED, INCOMPLETE, Jwt, LEEWAY, NO_SUBJECT, NOT_YET, OTHER_ISSUER, REVOKED, UNKNOWN_KIND,
    WRONG_SIGNATURE, read_instant, to_millis, to_seconds,
};
use crate::auth::revocation::RevokedTokens;
use crate::auth::sign_in_issuer::SignInIssuer;
use crate::auth::trusted_issuer::{Source, TrustedIssuer, read_one_or_more};
use crate::http::problem::Problem;
use crate::http::problem_kind::ProblemKind;

/// The maximum length of a key id, in bytes.
const MAX_KID_LENGTH: usize = 256;
/// The header parameters with which a token names its own key (RFC 7515, sections 4.1.2, 4.1.3,
/// 4.1.5 and 4.1.6). Tokens that have one are rejected.
const OWN_KEYS: [&str; 4] = ["jwk", "jku", "x5u", "x5c"];

/// A trusted issuer's token, checked except for its signature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnverifiedToken {
    /// The issuer.
    pub issuer: String,
    /// The URL of the issuer's keys.
    pub jwks: String,
    /// The id of the signing key.
    pub kid: String,
    /// The signature algorithm.
    pub algorithm: Algorithm,
    /// The signing input: the header, a full stop and the claims, as sent.
    pub signed: String,
    /// The signature in base64url, as sent. For ES256 it is `r` and `s`, 32 bytes each (RFC 7518,
    /// section 3.4), the format of `WebCrypto`.
    pub signature: String,
}

/// The checked claims of an issuer's token.
#[derive(Debug)]
pub struct CheckedClaims<'a> {
    issuer: &'a TrustedIssuer,
    claims: Map<String, Value>,
    subject: String,
    expires: f64,
}

/// Checks everything about an issuer's token but its signature.
///
/// With `clients`, the token must be an ID token for one of them; otherwise, an access token.
///
/// # Errors
/// If the token is invalid.
pub fn check<'a>(
    token: &Jwt<'_>,
    algorithm: Algorithm,
    source: Source,
    issuers: &'a [TrustedIssuer],
    clients: Option<&[SignInIssuer]>,
    now: Millis,
) -> Result<(CheckedClaims<'a>, UnverifiedToken), &'static str> {
    let kid = read_key_id(token, algorithm)?;
    let checked = check_claims(token.claims()?, source, issuers, clients, now)?;
    let unverified = UnverifiedToken {
        issuer: checked.issuer.issuer.clone(),
        jwks: checked.issuer.jwks.clone(),
        kid,
        algorithm,
        signed: token.signed.to_owned(),
        signature: token.signature.to_owned(),
    };
    Ok((checked, unverified))
}

/// Checks the claims of an issuer's token, like [`check`].
///
/// # Errors
/// If a claim is missing or invalid.
pub fn check_claims<'a>(
    claims: Map<String, Value>,
    source: Source,
    issuers: &'a [TrustedIssuer],
    clients: Option<&[SignInIssuer]>,
    now: Millis,
) -> Result<CheckedClaims<'a>, &'static str> {
    let issuer = find_issuer(&claims, source, issuers)?;
    let subject = read_subject(&claims)?;
    issuer.check_audience(&claims, clients)?;
    let expires = check_times(&claims, now)?;
    Ok(CheckedClaims {
        issuer,
        claims,
        subject,
        expires,
    })
}

impl CheckedClaims<'_> {
    /// Returns the token's caller.
    ///
    /// The signature must be verified first: responses to forged tokens must not reveal rules.
    ///
    /// # Errors
    /// 403 if no rule of the issuer matches the claims.
    pub fn caller(&self) -> Result<Caller, Problem> {
        let mut caller = Caller {
            issuer: self.issuer.issuer.clone(),
            subject: self.subject.clone(),
            grants: Vec::new(),
            quota: Quota::default(),
            claims: None,
            shared: Vec::new(),
            expires: to_millis(self.expires + LEEWAY),
        };
        let mut quotas = Vec::new();
        let rules = self.issuer.rules.iter();
        for rule in rules.filter(|rule| rule.admits(&self.claims)) {
            let claims = rule.caller_claims(&self.claims);
            let key = caller_key(&caller.issuer, &caller.subject, claims.as_deref());
            caller.grants.push(rule.grant.clone());
            let (own, shared) = rule.quotas();
            quotas.push((key, own));
            quotas.push((rule.name.clone(), shared));
            caller.claims = caller.claims.or(claims);
        }
        if caller.grants.is_empty() {
            return Err(not_mapped_problem());
        }
        // Rules can identify callers by other claims than the first rule does. Each quota counts
        // under its own rule's claims. Otherwise, choosing among rules would bypass all of them.
        let key = caller.key();
        for (name, quota) in quotas.into_iter().filter(|(_, quota)| quota.is_limited()) {
            let mut shared = caller.shared.iter_mut();
            if name == key {
                caller.quota = caller.quota.lower(quota);
            } else if let Some(same) = shared.find(|shared| shared.name == name) {
                same.quota = same.quota.lower(quota);
            } else {
                caller.shared.push(SharedQuota { name, quota });
            }
        }
        Ok(caller)
    }

    /// Checks that the token is not revoked.
    ///
    /// # Errors
    /// If the token has been revoked.
    pub fn check_revoked(&self, revoked: &RevokedTokens) -> Result<(), &'static str> {
        if revoked.covers_foreign(&self.issuer.issuer, &self.claims)? {
            return Err(REVOKED);
        }
        Ok(())
    }

    /// Returns the expiry time.
    #[must_use]
    pub fn expires(&self) -> Millis {
        to_millis(self.expires)
    }

    /// Whether a claim equals this string.
    #[must_use]
    pub fn has(&self, name: &str, value: &str) -> bool {
        self.claims.get(name).is_some_and(|held| *held == *value)
    }
}

/// Validates the header and returns the id of the signing key.
fn read_key_id(token: &Jwt<'_>, algorithm: Algorithm) -> Result<String, &'static str> {
    if !token.is_kind(&["jwt", "at+jwt"]) {
        return Err(UNKNOWN_KIND);
    }
    if OWN_KEYS.iter().any(|name| token.header.contains_key(*name)) {
        return Err("the access token brings its own key");
    }
    if !algorithm.fits(&token.signature_bytes()?) {
        return Err(WRONG_SIGNATURE);
    }
    let kid = token.header.get("kid").and_then(Value::as_str);
    kid.filter(|kid| (1..=MAX_KID_LENGTH).contains(&kid.len()))
        .map(str::to_owned)
        .ok_or("the access token names no key")
}

fn find_issuer<'a>(
    claims: &Map<String, Value>,
    source: Source,
    issuers: &'a [TrustedIssuer],
) -> Result<&'a TrustedIssuer, &'static str> {
    let name = claims.get("iss").and_then(Value::as_str);
    let name = name.ok_or(INCOMPLETE)?;
    let is_it = |issuer: &&TrustedIssuer| issuer.source == source && issuer.issuer == name;
    issuers.iter().find(is_it).ok_or(OTHER_ISSUER)
}

impl TrustedIssuer {
    fn check_audience(
        &self,
        claims: &Map<String, Value>,
        clients: Option<&[SignInIssuer]>,
    ) -> Result<(), &'static str> {
        let audience = claims.get("aud").cloned().ok_or(INCOMPLETE)?;
        let audiences = read_one_or_more(audience).ok_or(INCOMPLETE)?;
        // An ID token with several audiences must name the authorized party (OpenID Connect Core,
        // section 3.1.3.7).
        let party = claims.get("azp");
        let is_for = |client: &SignInIssuer| {
            client.issuer == self.issuer
                && audiences.contains(&client.client_id)
                && party.map_or(audiences.len() == 1, |party| *party == *client.client_id)
        };
        let fits = match clients {
            Some(clients) => clients.iter().any(is_for),
            None => audiences.iter().any(|one| self.audiences.contains(one)),
        };
        if fits {
            return Ok(());
        }
        Err("the access token is for another audience")
    }
}

fn read_subject(claims: &Map<String, Value>) -> Result<String, &'static str> {
    match claims.get("sub") {
        Some(Value::String(subject)) if subject.is_empty() => Err(NO_SUBJECT),
        Some(Value::String(subject)) => Ok(subject.clone()),
        _ => Err(INCOMPLETE),
    }
}

/// Checks a token's times (RFC 7519, section 4.1) and returns when it expires, in seconds.
fn check_times(claims: &Map<String, Value>, now: Millis) -> Result<f64, &'static str> {
    let now = to_seconds(now);
    let expires = read_instant(claims, "exp")?.ok_or(INCOMPLETE)?;
    let begins = [read_instant(claims, "nbf")?, read_instant(claims, "iat")?];
    if now >= expires + LEEWAY {
        return Err(EXPIRED);
    }
    if begins.into_iter().flatten().any(|at| at > now + LEEWAY) {
        return Err(NOT_YET);
    }
    Ok(expires)
}

/// Returns a 403 for a caller without permissions. No scope would help, so the challenge names
/// none (RFC 6750, section 3.1).
fn not_mapped_problem() -> Problem {
    let detail = "no rule of TRUSTED_ISSUERS matches the access token's claims";
    let challenge = "Bearer realm=\"quillgate\", error=\"insufficient_scope\"";
    Problem::new(ProblemKind::IdentityNotMapped, detail).with_header("www-authenticate", challenge)
}
