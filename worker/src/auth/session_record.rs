//! The record of a session. The record contains the verified claims of the token that opened the
//! session, and the session's absolute expiry, but never the token.
//!
//! Rules, revocations and expiry are checked again on every request, as for a token. A changed rule
//! therefore applies immediately.

use std::rc::Rc;

use quillgate::Millis;
use serde_json::{Map, Value};

use crate::auth::caller::Caller;
use crate::auth::jwt::{EXPIRED, INCOMPLETE, Jwt};
use crate::auth::oidc::{Checked, Verified};
use crate::auth::settings::AuthSettings;
use crate::auth::sign_in_issuer::SignInIssuer;
use crate::auth::trusted_issuer::Source;
use crate::auth::{InvalidToken, access_token, invalid_token, oidc};
use crate::http::problem::Problem;
use crate::json;

/// The maximum lifetime of a session: 90 days, like the gateway's own tokens. A session ends after
/// this time even if an issuer's token lives longer.
pub const MAX_SESSION_LIFETIME: Millis = Millis::from_seconds(90 * 86_400);

/// The credential that opens a session.
#[derive(Debug, Clone, Copy)]
pub enum Proof<'a> {
    /// An access token from the request's body.
    AccessToken(&'a str),
    /// The token in `Cf-Access-Jwt-Assertion`, which Cloudflare Access added.
    AccessAssertion(&'a str),
    /// An ID token from a sign-in that has just succeeded.
    IdToken {
        /// The ID token.
        token: &'a str,
        /// The issuer whose token endpoint returned the token.
        client: &'a SignInIssuer,
        /// The nonce that the token must contain.
        nonce: &'a str,
    },
}

impl Proof<'_> {
    /// Returns the first word of this credential's record. The first line continues with the
    /// session's absolute expiry, a Unix time in milliseconds. The second line contains the claims.
    ///
    /// A record for one of the gateway's own tokens begins with `own` instead.
    const fn record_kind(&self) -> &'static str {
        match self {
            Self::AccessToken(_) => "bearer",
            Self::AccessAssertion(_) => "assertion",
            Self::IdToken { .. } => "id-token",
        }
    }
}

/// The result of checking a credential.
#[derive(Debug)]
pub enum Opening {
    /// The credential is valid, and opens this session.
    Session(NewSession),
    /// An issuer's token. The host must verify the signature before it calls [`NewSession::new`].
    Unverified(Checked),
}

/// A session whose credential is valid, before it is stored.
#[derive(Debug)]
pub struct NewSession {
    /// The caller that the session identifies.
    pub caller: Rc<Caller>,
    /// The record to store in the session's Durable Object.
    pub record: String,
    /// The index in `ACCESS_TOKEN_SECRET` of the secret that signs the session's cookie. Removing
    /// this secret ends the session. If the credential is one of the gateway's own tokens, this
    /// secret also verified the token.
    pub secret: usize,
}

/// Checks the credential for a new session.
///
/// # Errors
/// Returns the reason if the credential is invalid. The reason becomes the `detail` of the 401.
pub fn open(
    proof: Proof<'_>,
    settings: &AuthSettings,
    now: Millis,
) -> Result<Opening, InvalidToken> {
    let (text, source, client) = match proof {
        Proof::AccessToken(token) => (token, Source::Bearer, None),
        Proof::AccessAssertion(token) => (token, Source::AccessAssertion, None),
        Proof::IdToken { token, client, .. } => (token, Source::Bearer, Some(client)),
    };
    let token = Jwt::read(text)?;
    if matches!(proof, Proof::AccessToken(_)) && token.algorithm == "HS256" {
        let secret = access_token::verify_signature(&token, &settings.token_secrets)?;
        let claims = token.claims()?;
        let caller = access_token::read_caller(&claims, &settings.revoked, now)?;
        let session = NewSession::create("own", caller, &claims, secret, now);
        return Ok(Opening::Session(session));
    }
    let clients = client.map(std::slice::from_ref);
    let checked = oidc::check(&token, source, &settings.trusted_issuers, clients, now)?;
    if let Proof::IdToken { nonce, .. } = proof
        && !checked.has("nonce", nonce)
    {
        return Err("the ID token is of another sign-in".into());
    }
    Ok(Opening::Unverified(checked))
}

impl NewSession {
    /// Creates a session for the verified token of a proof.
    ///
    /// # Errors
    /// - 401 if the token is revoked.
    /// - 403 if no rule of the issuer matches the token's claims.
    pub fn new(
        proof: Proof<'_>,
        token: &Verified,
        settings: &AuthSettings,
        now: Millis,
    ) -> Result<Self, Problem> {
        let claims = token.claims();
        let caller = claims.caller(&settings.revoked)?;
        let kind = proof.record_kind();
        Ok(Self::create(kind, caller, &claims.values, 0, now))
    }

    fn create(
        kind: &str,
        caller: Caller,
        claims: &Map<String, Value>,
        secret: usize,
        now: Millis,
    ) -> Self {
        let ends = now.plus(MAX_SESSION_LIFETIME);
        let claims = json::to_text(claims);
        Self {
            caller: limit_expiry(caller, ends),
            record: format!("{kind} {}\n{claims}", ends.0),
            secret,
        }
    }
}

/// Limits the caller's expiry to the expiry of the session, because the token may expire later.
fn limit_expiry(caller: Caller, ends: Millis) -> Rc<Caller> {
    let expires = caller.expires.min(ends);
    Rc::new(Caller { expires, ..caller })
}

/// Identifies the caller of the session with this record.
///
/// # Errors
/// - 401 if the session or the token has expired, if the token is revoked, or if a claim is
///   invalid.
/// - 403 if no rule of the issuer matches the claims.
pub fn identify(record: &str, settings: &AuthSettings, now: Millis) -> Result<Rc<Caller>, Problem> {
    let (head, claims) = record.split_once('\n').unwrap_or((record, ""));
    // Records of earlier releases have no absolute expiry.
    let (kind, ends) = head.split_once(' ').unwrap_or((head, ""));
    let ends = ends.parse().map_or(Millis(u64::MAX), Millis);
    if now >= ends {
        return Err(invalid_token(EXPIRED));
    }
    let Some(Value::Object(claims)) = json::parse(claims.as_bytes()) else {
        return Err(invalid_token(INCOMPLETE));
    };
    let caller = if kind == "own" {
        access_token::read_caller(&claims, &settings.revoked, now).map_err(invalid_token)?
    } else {
        let (source, clients) = match kind {
            "assertion" => (Source::AccessAssertion, None),
            "id-token" => (Source::Bearer, Some(&settings.sign_in_issuers[..])),
            _ => (Source::Bearer, None),
        };
        let checked = oidc::check_claims(claims, source, &settings.trusted_issuers, clients, now);
        checked?.caller(&settings.revoked)?
    };
    Ok(limit_expiry(caller, ends))
}
