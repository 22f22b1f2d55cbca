//! Tokens of trusted issuers (`OpenID` Connect Core 1.0, RFC 7519). The issuer chooses their
//! lifetime, from minutes (GitHub) to a month (Cloudflare Access), without a maximum.

use std::rc::Rc;
use std::slice;

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
use crate::auth::token::{Proof, VerifiedToken};
use crate::auth::trusted_issuer::{Source, TrustedIssuer, read_one_or_more};
use crate::auth::{InvalidToken, accepts_from, invalid_token};
use crate::http::problem::Problem;
use crate::http::problem_kind::ProblemKind;

const OTHER_AUDIENCE: &str = "the access token is for another audience";
/// In bytes.
const MAX_KID_LENGTH: usize = 256;
/// Header parameters that would supply a token's own key (RFC 7515, sections 4.1.2, 4.1.3, 4.1.5
/// and 4.1.6).
const OWN_KEYS: [&str; 4] = ["jwk", "jku", "x5u", "x5c"];

/// Valid except for its signature, which the host verifies with the issuer's keys.
#[derive(Debug, Clone, PartialEq)]
pub struct UnverifiedToken {
    pub kid: Option<String>,
    pub algorithm: Algorithm,
    /// For ES256, `r` and `s`, 32 bytes each (RFC 7518, section 3.4), the format of `WebCrypto`.
    pub signature: Vec<u8>,
    text: String,
    signed_length: usize,
    claims: CheckedClaims,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct CheckedClaims {
    issuer: Rc<TrustedIssuer>,
    values: Map<String, Value>,
    subject: String,
    /// In seconds.
    issued_at: Option<f64>,
    /// In seconds.
    expires: f64,
}

/// Checks everything about a token except its signature.
pub(super) fn check(
    token: &Jwt<'_>,
    proof: Proof<'_>,
    issuers: &[Rc<TrustedIssuer>],
    now: Millis,
) -> Result<UnverifiedToken, InvalidToken> {
    let source = proof.source();
    let algorithm = Algorithm::from_name(&token.algorithm)
        .filter(|_| accepts_from(issuers, source))
        .ok_or_else(|| describe_algorithms(issuers))?;
    let (kid, signature) = read_header(token, algorithm)?;
    let (clients, nonce) = match proof {
        Proof::IdToken { client, nonce, .. } => (Some(slice::from_ref(client)), Some(nonce)),
        Proof::AccessToken(_) | Proof::AccessAssertion(_) => (None, None),
    };
    let claims = check_claims(token.claims()?, source, issuers, clients, now)?;
    if nonce.is_some_and(|nonce| claims.values.get("nonce") != Some(&nonce.into())) {
        return Err("the ID token is of another sign-in".into());
    }
    Ok(UnverifiedToken {
        kid,
        algorithm,
        signature,
        text: token.text.to_owned(),
        signed_length: token.signed.len(),
        claims,
    })
}

/// With `clients`, the token must be an ID token for one of them, otherwise an access token.
pub(super) fn check_claims(
    claims: Map<String, Value>,
    source: Source,
    issuers: &[Rc<TrustedIssuer>],
    clients: Option<&[SignInIssuer]>,
    now: Millis,
) -> Result<CheckedClaims, InvalidToken> {
    let text = |name| claims.get(name).and_then(Value::as_str).ok_or(INCOMPLETE);
    let name = text("iss")?;
    let issuer = issuers
        .iter()
        .find(|issuer| issuer.source == source && issuer.issuer == name)
        .ok_or_else(|| InvalidToken::for_claim(OTHER_ISSUER, "TRUSTED_ISSUERS", "iss", name))?;
    let subject = text("sub")?.to_owned();
    if subject.is_empty() {
        return Err(NO_SUBJECT.into());
    }
    issuer.check_audience(&claims, clients)?;
    let (issued_at, expires) = check_times(&claims, now)?;
    Ok(CheckedClaims {
        issuer: Rc::clone(issuer),
        values: claims,
        subject,
        issued_at,
        expires,
    })
}

impl UnverifiedToken {
    pub fn jwks(&self) -> &str {
        &self.claims.issuer.jwks
    }

    /// The signing input, as sent.
    pub fn signed(&self) -> &str {
        &self.text[..self.signed_length]
    }

    /// The host must first verify the signature.
    pub fn into_verified(self, revoked: &RevokedTokens) -> Result<VerifiedToken, Problem> {
        Ok(VerifiedToken {
            secret: 0,
            caller: self.claims.caller(revoked)?,
            expires: to_millis(self.claims.expires),
            source: self.claims.issuer.source,
            claims: self.claims.values,
            text: self.text,
        })
    }
}

impl CheckedClaims {
    /// The signature must be verified first, because responses to forged tokens must not reveal
    /// revocations or the issuer's rules.
    pub(super) fn caller(&self, revoked: &RevokedTokens) -> Result<Caller, Problem> {
        if revoked.covers_foreign(&self.issuer.issuer, &self.values, self.issued_at) {
            return Err(invalid_token(REVOKED));
        }
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
        for rule in &self.issuer.rules {
            if !rule.admits(&self.values) {
                continue;
            }
            let claims = rule.caller_claims(&self.values);
            let key = caller_key(&caller.issuer, &caller.subject, claims.as_deref());
            caller.grants.push(rule.grant.clone());
            quotas.push((key, rule.quota));
            quotas.push((rule.name.clone(), rule.ceiling));
            caller.claims = caller.claims.or(claims);
        }
        if caller.grants.is_empty() {
            return Err(not_mapped_problem());
        }
        // Each rule can identify callers by different claims, so a rule's quotas count by that
        // rule's claims. Otherwise, a caller could switch to another rule to get an unused quota.
        let key = caller.key();
        for (name, quota) in quotas.into_iter().filter(|(_, quota)| quota.is_limited()) {
            if name == key {
                caller.quota = caller.quota.lower(quota);
            } else if let Some(same) = caller.shared.iter_mut().find(|shared| shared.name == name) {
                same.quota = same.quota.lower(quota);
            } else {
                caller.shared.push(SharedQuota { name, quota });
            }
        }
        Ok(caller)
    }
}

fn read_header(
    token: &Jwt<'_>,
    algorithm: Algorithm,
) -> Result<(Option<String>, Vec<u8>), &'static str> {
    if !token.is_kind(&["jwt", "at+jwt"]) {
        return Err(UNKNOWN_KIND);
    }
    if OWN_KEYS.iter().any(|name| token.header.contains_key(*name)) {
        return Err("the access token brings its own key");
    }
    let signature = token.signature()?;
    if !algorithm.fits(&signature) {
        return Err(WRONG_SIGNATURE);
    }
    match token.header.get("kid") {
        None => Ok((None, signature)),
        Some(Value::String(kid)) if (1..=MAX_KID_LENGTH).contains(&kid.len()) => {
            Ok((Some(kid.clone()), signature))
        }
        Some(_) => Err("the access token names no key"),
    }
}

fn describe_algorithms(issuers: &[Rc<TrustedIssuer>]) -> &'static str {
    if issuers.is_empty() {
        "the access token must be signed with HS256"
    } else {
        "the access token must be signed with HS256, or by a trusted issuer with RS256 or ES256"
    }
}

impl TrustedIssuer {
    fn check_audience(
        &self,
        claims: &Map<String, Value>,
        clients: Option<&[SignInIssuer]>,
    ) -> Result<(), InvalidToken> {
        let audience = claims.get("aud").cloned().ok_or(INCOMPLETE)?;
        let audiences = read_one_or_more(audience).ok_or(INCOMPLETE)?;
        // An ID token with several audiences must name the authorized party (OpenID Connect Core,
        // section 3.1.3.7).
        let party = claims.get("azp").filter(|party| !party.is_null());
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
        let variable = match clients {
            Some(_) => "SIGN_IN_ISSUERS",
            None => "TRUSTED_ISSUERS",
        };
        let found = &audiences.join(" ");
        let refused = InvalidToken::for_claim(OTHER_AUDIENCE, variable, "aud", found);
        Err(refused)
    }
}

/// `iat` and `exp`, in seconds (RFC 7519, section 4.1).
fn check_times(
    claims: &Map<String, Value>,
    now: Millis,
) -> Result<(Option<f64>, f64), &'static str> {
    let now = to_seconds(now);
    let expires = read_instant(claims, "exp")?.ok_or(INCOMPLETE)?;
    let begins = read_instant(claims, "nbf")?;
    let issued_at = read_instant(claims, "iat")?;
    if now >= expires + LEEWAY {
        return Err(EXPIRED);
    }
    let is_future = |at: Option<f64>| at.is_some_and(|at| at > now + LEEWAY);
    if is_future(begins) || is_future(issued_at) {
        return Err(NOT_YET);
    }
    Ok((issued_at, expires))
}

/// No scope would help, so the challenge omits `scope` (RFC 6750, section 3.1).
fn not_mapped_problem() -> Problem {
    let detail = "no rule of TRUSTED_ISSUERS matches the access token's claims";
    let challenge = "Bearer realm=\"quillgate\", error=\"insufficient_scope\"";
    Problem::new(ProblemKind::IdentityNotMapped, detail).with_header("www-authenticate", challenge)
}
