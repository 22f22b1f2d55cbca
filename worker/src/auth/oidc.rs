//! Tokens of trusted issuers (`OpenID` Connect Core 1.0, RFC 7519). The issuer chooses their
//! lifetime, from minutes (GitHub) to a month (Cloudflare Access), without a maximum.

use std::rc::Rc;

use quillgate::Millis;
use serde_json::{Map, Value};

use crate::auth::caller::{Caller, Quota, SharedQuota, caller_key};
use crate::auth::jwt::{
    INCOMPLETE, LEEWAY_SECONDS, NO_SUBJECT, OTHER_ISSUER, REVOKED, Times, to_millis,
};
use crate::auth::revocation::RevokedTokens;
use crate::auth::sign_in_issuer::SignInIssuer;
use crate::auth::trusted_issuer::{Source, TrustedIssuer, read_one_or_more};
use crate::auth::{challenge, invalid_token};
use crate::http::problem::Problem;
use crate::http::problem_kind::ProblemKind;
use crate::json;

const MAX_EXCERPT_CHARACTERS: usize = 256;

#[derive(Debug, Clone, PartialEq)]
pub(super) struct CheckedClaims {
    pub issuer: Rc<TrustedIssuer>,
    pub values: Map<String, Value>,
    pub times: Times,
    subject: String,
}

/// With `clients`, the token must be an ID token for one of them, otherwise an access token.
pub(super) fn check_claims(
    claims: Map<String, Value>,
    source: Source,
    issuers: &[Rc<TrustedIssuer>],
    clients: Option<&[SignInIssuer]>,
    now: Millis,
) -> Result<CheckedClaims, Problem> {
    let text = |name| {
        let text = claims.get(name).and_then(Value::as_str);
        text.ok_or_else(|| invalid_token(INCOMPLETE))
    };
    let name = text("iss")?;
    let is_issuer = |issuer: &&Rc<TrustedIssuer>| issuer.source == source && issuer.issuer == name;
    let issuer = issuers.iter().find(is_issuer);
    let issuer =
        issuer.ok_or_else(|| refuse_claim(OTHER_ISSUER, "TRUSTED_ISSUERS", "iss", name))?;
    let subject = text("sub")?.to_owned();
    if subject.is_empty() {
        return Err(invalid_token(NO_SUBJECT));
    }
    check_audience(issuer, &claims, clients)?;
    let times = Times::read(&claims).map_err(invalid_token)?;
    times.check(LEEWAY_SECONDS, now).map_err(invalid_token)?;
    Ok(CheckedClaims {
        issuer: Rc::clone(issuer),
        values: claims,
        times,
        subject,
    })
}

impl CheckedClaims {
    /// The signature must be verified first, because responses to forged tokens must not reveal
    /// revocations or the issuer's rules.
    pub(super) fn caller(&self, revoked: &RevokedTokens) -> Result<Caller, Problem> {
        if revoked.covers(&self.issuer.issuer, &self.values, self.times.iat) {
            return Err(invalid_token(REVOKED));
        }
        let mut caller = Caller {
            issuer: self.issuer.issuer.clone(),
            subject: self.subject.clone(),
            grants: Vec::new(),
            quota: Quota::default(),
            claims: None,
            shared: Vec::new(),
            expires: to_millis(self.times.exp + LEEWAY_SECONDS),
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
            let detail = "no rule of TRUSTED_ISSUERS matches the access token's claims";
            // No scope would help, so the challenge omits `scope` (RFC 6750, section 3.1).
            let error = ", error=\"insufficient_scope\"";
            return Err(challenge(ProblemKind::IdentityNotMapped, detail, error));
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

fn check_audience(
    issuer: &TrustedIssuer,
    claims: &Map<String, Value>,
    clients: Option<&[SignInIssuer]>,
) -> Result<(), Problem> {
    let audiences = claims.get("aud").cloned().and_then(read_one_or_more);
    let audiences = audiences.ok_or_else(|| invalid_token(INCOMPLETE))?;
    // An ID token with several audiences must name the authorized party (OpenID Connect Core,
    // section 3.1.3.7).
    let party = claims.get("azp").filter(|party| !party.is_null());
    let is_for = |client: &SignInIssuer| {
        client.issuer == issuer.issuer
            && audiences.contains(&client.client_id)
            && party.map_or(audiences.len() == 1, |party| *party == *client.client_id)
    };
    let is_own = |audience: &String| issuer.audiences.contains(audience);
    let (fits, variable) = match clients {
        Some(clients) => (clients.iter().any(is_for), "SIGN_IN_ISSUERS"),
        None => (audiences.iter().any(is_own), "TRUSTED_ISSUERS"),
    };
    if fits {
        return Ok(());
    }
    let detail = "the access token is for another audience";
    Err(refuse_claim(detail, variable, "aud", &audiences.join(" ")))
}

/// Only the operator learns the value, so that the response does not confirm a caller's guess.
fn refuse_claim(detail: &str, variable: &str, name: &str, value: &str) -> Problem {
    let excerpt: String = value.chars().take(MAX_EXCERPT_CHARACTERS).collect();
    let found = json::to_text(&excerpt);
    let message = format!("{variable} does not accept a token whose {name} is {found}");
    invalid_token(detail).with_operator(message)
}
