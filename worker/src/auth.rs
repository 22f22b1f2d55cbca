mod access_token;
pub mod auth_settings;
pub mod caller;
pub mod jwks;
pub(crate) mod jwt;
pub mod oidc;
pub mod revocation;
pub mod session;
pub mod session_record;
pub mod sign_in_issuer;
#[cfg(all(target_arch = "wasm32", feature = "runtime"))]
pub(crate) mod signature;
pub mod token;
pub mod trusted_issuer;

use std::rc::Rc;

use quillgate::Millis;

use crate::auth::auth_settings::AuthSettings;
use crate::auth::caller::{Caller, ISSUER};
use crate::auth::session::cookie::{Cookie, SessionId};
use crate::auth::token::{Proof, Token, UnverifiedToken, VerifiedToken};
use crate::auth::trusted_issuer::{Source, TrustedIssuer};
use crate::bounded_cache::BoundedCache;
use crate::http::problem::Problem;
use crate::http::problem_kind::ProblemKind;

#[derive(Debug, Clone, Copy)]
pub struct Credentials<'a> {
    /// RFC 6750. If present, even invalid, the other credentials are ignored.
    pub authorization: Option<&'a str>,
    /// Takes precedence over the assertion.
    pub session: Cookie<'a>,
    /// Ignored unless `TRUSTED_ISSUERS` names it for an issuer.
    pub access_assertion: Option<&'a str>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Identity {
    Known(Rc<Caller>),
    /// The host must read the session's record.
    Session(SessionId),
    /// The host must verify the signature and call [`VerifiedTokens::remember`].
    Unverified(Box<UnverifiedToken>),
}

/// The result of the host's I/O for an [`Identity`].
#[derive(Debug)]
pub enum Evidence {
    /// `None` if the session has ended.
    Record(Option<String>),
    /// Of a verified token.
    Caller(Rc<Caller>),
}

/// An isolate reads the list of revoked tokens only once, so no token becomes revoked while it is
/// cached.
#[derive(Debug)]
pub struct VerifiedTokens {
    tokens: BoundedCache<(Rc<Caller>, Source)>,
}

const MAX_TOKENS: usize = 1_000;
const MAX_BYTES: usize = 1024 * 1024;
/// Brief, because an issuer can withdraw its key.
const FOREIGN_LIFETIME: Millis = Millis::from_seconds(60);

impl Default for VerifiedTokens {
    fn default() -> Self {
        Self {
            tokens: BoundedCache::new(MAX_TOKENS, MAX_BYTES),
        }
    }
}

impl VerifiedTokens {
    fn find(&self, proof: Proof<'_>, now: Millis) -> Option<Rc<Caller>> {
        let (caller, source) = self.tokens.get(proof.text(), now)?;
        (proof.source() == *source).then(|| Rc::clone(caller))
    }

    pub fn remember(&mut self, token: VerifiedToken, now: Millis) -> Rc<Caller> {
        let until = match &*token.caller.issuer {
            ISSUER => token.expires,
            _ => token.expires.min(now.plus(FOREIGN_LIFETIME)),
        };
        let caller = Rc::new(token.caller);
        let verified = (Rc::clone(&caller), token.source);
        // The decoded claims take up about as much memory as the encoded token.
        self.tokens
            .insert(&token.text, verified, token.text.len(), until);
        caller
    }

    pub fn count(&self) -> usize {
        self.tokens.count()
    }
}

/// A 401 has no error code without a token, and `invalid_token` for an invalid token. The detail
/// never repeats the token.
pub fn identify(
    credentials: &Credentials<'_>,
    settings: &AuthSettings,
    now: Millis,
    verified: &mut VerifiedTokens,
) -> Result<Identity, Problem> {
    if let Some(authorization) = credentials.authorization {
        let token = parse_bearer(authorization).ok_or_else(missing_token_problem)?;
        return identify_token(Proof::AccessToken(token), settings, now, verified);
    }
    if credentials.session == Cookie::Missing {
        let assertion = find_assertion(credentials.access_assertion, settings);
        let token = assertion.ok_or_else(missing_token_problem)?;
        return identify_token(Proof::AccessAssertion(token), settings, now, verified);
    }
    match SessionId::read(credentials.session, &settings.token_secrets) {
        Some(id) => Ok(Identity::Session(id)),
        None => identify_session(None, credentials.access_assertion, settings, now, verified),
    }
}

/// Without a record, the session has ended, and the assertion identifies the caller: an old cookie
/// must not lock out a user of Access.
pub fn identify_session(
    record: Option<&str>,
    assertion: Option<&str>,
    settings: &AuthSettings,
    now: Millis,
    verified: &mut VerifiedTokens,
) -> Result<Identity, Problem> {
    if let Some(record) = record {
        return session_record::identify(record, settings, now).map(Identity::Known);
    }
    let token = find_assertion(assertion, settings).ok_or_else(ended_session_problem)?;
    identify_token(Proof::AccessAssertion(token), settings, now, verified)
}

fn identify_token(
    proof: Proof<'_>,
    settings: &AuthSettings,
    now: Millis,
    verified: &mut VerifiedTokens,
) -> Result<Identity, Problem> {
    if let Some(caller) = verified.find(proof, now) {
        return Ok(Identity::Known(caller));
    }
    Ok(match Token::read(proof, settings, now)? {
        Token::Verified(token) => Identity::Known(verified.remember(token, now)),
        Token::Unverified(token) => Identity::Unverified(Box::new(token)),
    })
}

fn find_assertion<'a>(assertion: Option<&'a str>, settings: &AuthSettings) -> Option<&'a str> {
    let is_used = accepts_from(&settings.trusted_issuers, Source::AccessAssertion);
    assertion.filter(|assertion| is_used && !assertion.is_empty())
}

/// The scheme is case-insensitive (RFC 9110, section 11.1).
fn parse_bearer(authorization: &str) -> Option<&str> {
    let (scheme, token) = authorization.split_once(' ')?;
    let token = token.trim_start_matches(' ');
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
}

fn accepts_from(issuers: &[Rc<TrustedIssuer>], source: Source) -> bool {
    issuers.iter().any(|issuer| issuer.source == source)
}

pub fn missing_token_problem() -> Problem {
    let detail = "an access token must be sent as Authorization: Bearer";
    challenge(ProblemKind::MissingToken, detail, "")
}

pub fn missing_session_problem() -> Problem {
    let detail = "there is no session; sign in first";
    challenge(ProblemKind::MissingToken, detail, "")
}

pub fn ended_session_problem() -> Problem {
    let detail = "this session has ended; sign in again";
    challenge(ProblemKind::SessionEnded, detail, "")
}

/// `reason` must not contain the token.
pub fn invalid_token(reason: &str) -> Problem {
    let error = ", error=\"invalid_token\"";
    challenge(ProblemKind::InvalidToken, reason, error)
}

/// RFC 6750, section 3. Without credentials, `parameters` are empty.
fn challenge(kind: ProblemKind, detail: impl Into<String>, parameters: &str) -> Problem {
    let challenge = format!("Bearer realm=\"quillgate\"{parameters}");
    Problem::new(kind, detail).with_header("www-authenticate", challenge)
}
