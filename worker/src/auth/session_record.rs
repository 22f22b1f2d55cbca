//! The stored record of a session: the verified claims of the token that opened it, never the
//! token.
//!
//! Rules, revocations and expiry are checked again with every request, as for a token. A changed
//! rule therefore applies immediately.

use std::rc::Rc;

use quillgate::Millis;
use serde_json::Value;

use crate::auth::access_token::AccessToken;
use crate::auth::caller::Caller;
use crate::auth::jwks::Algorithm;
use crate::auth::jwt::{EXPIRED, INCOMPLETE, Jwt};
use crate::auth::oidc::UnverifiedToken;
use crate::auth::settings::AuthSettings;
use crate::auth::sign_in_issuer::SignInIssuer;
use crate::auth::trusted_issuer::Source;
use crate::auth::{
    Signature, accepts_from, access_token, describe_algorithms, invalid_token, oidc,
};
use crate::http::problem::Problem;
use crate::json;

/// The maximum lifetime of a session. It equals that of the gateway's own tokens; tokens of an
/// issuer may live longer.
pub const MAX_SESSION_LIFETIME: Millis = Millis::from_seconds(90 * 86_400);

/// A record starts with one of these words, then its latest end. The claims follow on the next
/// line. This word marks the claims of one of the gateway's own tokens.
const OWN: &str = "own";
/// The claims of an issuer's access token.
const BEARER: &str = "bearer";
/// The claims of a Cloudflare Access assertion.
const ASSERTION: &str = "assertion";
/// The claims of an ID token.
const ID_TOKEN: &str = "id-token";

/// The credential that opens a session.
#[derive(Debug, Clone, Copy)]
pub enum Proof<'a> {
    /// An access token.
    AccessToken(&'a str),
    /// An assertion of Cloudflare Access.
    AccessAssertion(&'a str),
    /// An ID token from a sign-in that has just succeeded.
    IdToken {
        /// The token.
        token: &'a str,
        /// The sign-in issuer that returned it.
        client: &'a SignInIssuer,
        /// The expected nonce.
        nonce: &'a str,
    },
}

/// The result of checking a credential.
#[derive(Debug)]
pub enum Opening {
    /// A session that may be opened.
    Session(NewSession),
    /// A token with an unverified signature. The host must verify it and call again.
    Unverified(UnverifiedToken),
}

/// A session that may be opened.
#[derive(Debug)]
pub struct NewSession {
    /// The session's caller.
    pub caller: Rc<Caller>,
    /// The record to store.
    pub record: String,
    /// The index of the secret in `ACCESS_TOKEN_SECRET` on which the session depends.
    pub secret: usize,
}

/// Checks the credential for a new session.
///
/// # Errors
/// The same as for [`super::identify`].
pub fn open(
    proof: Proof<'_>,
    settings: &AuthSettings,
    now: Millis,
    signature: Signature,
) -> Result<Opening, Problem> {
    let issuers = &settings.trusted_issuers;
    let (text, source, kind) = match proof {
        Proof::AccessToken(token) => (token, Source::Bearer, BEARER),
        Proof::AccessAssertion(token) => (token, Source::AccessAssertion, ASSERTION),
        Proof::IdToken { token, .. } => (token, Source::Bearer, ID_TOKEN),
    };
    let token = Jwt::read(text).map_err(invalid_token)?;
    let (kind, secret) = if kind == BEARER && token.algorithm == "HS256" {
        let secret = access_token::verify_signature(&token, &settings.token_secrets);
        (OWN, secret.map_err(invalid_token)?)
    } else {
        let algorithm =
            Algorithm::from_name(&token.algorithm).filter(|_| accepts_from(issuers, source));
        let algorithm = algorithm.ok_or_else(|| invalid_token(describe_algorithms(issuers)))?;
        let client = match proof {
            Proof::IdToken { client, .. } => Some(std::slice::from_ref(client)),
            _ => None,
        };
        let checked = oidc::check(&token, algorithm, source, issuers, client, now);
        let (checked, unverified) = checked.map_err(invalid_token)?;
        if let Proof::IdToken { nonce, .. } = proof
            && !checked.has("nonce", nonce)
        {
            return Err(invalid_token("the ID token is of another sign-in"));
        }
        if signature == Signature::Unverified {
            return Ok(Opening::Unverified(unverified));
        }
        (kind, 0)
    };
    let claims = token.claims_text().map_err(invalid_token)?;
    let ends = now.plus(MAX_SESSION_LIFETIME).0;
    let record = format!("{kind} {ends}\n{claims}");
    Ok(Opening::Session(NewSession {
        caller: identify(&record, settings, now)?,
        record,
        secret,
    }))
}

/// Identifies the caller of the session with this record.
///
/// # Errors
/// The same as for [`super::identify`] with a token that has these claims.
pub fn identify(record: &str, settings: &AuthSettings, now: Millis) -> Result<Rc<Caller>, Problem> {
    let (head, claims) = record.split_once('\n').unwrap_or((record, ""));
    // Records of earlier versions have no end.
    let (kind, ends) = head.split_once(' ').unwrap_or((head, ""));
    let ends = ends.parse().map_or(Millis(u64::MAX), Millis);
    if now >= ends {
        return Err(invalid_token(EXPIRED));
    }
    let mut caller = read_caller(kind, claims, settings, now)?;
    if ends < caller.expires {
        Rc::make_mut(&mut caller).expires = ends;
    }
    Ok(caller)
}

/// Identifies the caller with these claims.
fn read_caller(
    kind: &str,
    claims: &str,
    settings: &AuthSettings,
    now: Millis,
) -> Result<Rc<Caller>, Problem> {
    let Some(Value::Object(claims)) = json::parse(claims.as_bytes()) else {
        return Err(invalid_token(INCOMPLETE));
    };
    let (source, clients) = match kind {
        OWN => {
            let own = AccessToken::read(claims).map_err(invalid_token)?;
            own.check(&settings.revoked, now).map_err(invalid_token)?;
            return Ok(own.caller());
        }
        ASSERTION => (Source::AccessAssertion, None),
        ID_TOKEN => (Source::Bearer, Some(&settings.sign_in_issuers[..])),
        _ => (Source::Bearer, None),
    };
    let checked = oidc::check_claims(claims, source, &settings.trusted_issuers, clients, now);
    let checked = checked.map_err(invalid_token)?;
    checked
        .check_revoked(&settings.revoked)
        .map_err(invalid_token)?;
    Ok(Rc::new(checked.caller()?))
}
