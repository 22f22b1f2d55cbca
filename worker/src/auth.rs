//! Who is calling: the gateway's own access tokens, sent as bearer tokens (RFC 6750), and those
//! of the issuers that it trusts.
//!
//! A token's `alg` alone decides which of the two it is: HS256 is only ever verified with the
//! gateway's own secrets, RS256 and ES256 only with an issuer's published keys, and any other
//! algorithm is refused.

pub mod access_token;
pub mod caller;
pub mod jwks;
pub mod jwt;
pub mod oidc;
pub mod revocation;
pub mod session;
pub mod session_record;
pub mod settings;
pub mod sign_in_issuer;
#[cfg(all(target_arch = "wasm32", feature = "runtime"))]
pub(crate) mod signature;
pub mod trusted_issuer;
pub mod turnstile;

use std::rc::Rc;

use quillgate::Millis;

use crate::auth::access_token::AccessToken;
use crate::auth::caller::Caller;
use crate::auth::jwks::Algorithm;
use crate::auth::jwt::Jwt;
use crate::auth::oidc::UnverifiedToken;
use crate::auth::settings::AuthSettings;
use crate::auth::trusted_issuer::{Source, TrustedIssuer};
use crate::bounded_cache::BoundedCache;
use crate::http::problem::Problem;
use crate::http::problem_kind::ProblemKind;

/// The header fields in which a caller can send a token.
#[derive(Debug, Clone, Copy, Default)]
pub struct Credentials<'a> {
    /// `Authorization`. When it is present, only it counts, valid or not.
    pub authorization: Option<&'a str>,
    /// `Cf-Access-Jwt-Assertion`, which Cloudflare Access adds. It counts when a trusted
    /// issuer takes its tokens from it.
    pub access_assertion: Option<&'a str>,
}

impl Credentials<'_> {
    /// Whether there is a token that counts, valid or not.
    #[must_use]
    pub fn has_token(&self, settings: &AuthSettings) -> bool {
        find_token(self, &settings.trusted_issuers).is_some()
    }
}

/// Whether the host has verified the signature of an issuer's token.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Signature {
    /// Not yet.
    #[default]
    Unverified,
    /// Yes: that of the [`UnverifiedToken`] which the same credentials gave before, with the key
    /// that [`jwks::find_key`] found for it.
    Verified,
}

/// What credentials show.
#[derive(Debug, Clone, PartialEq)]
pub enum Identity {
    /// Who is calling.
    Caller(Rc<Caller>),
    /// A trusted issuer's token of which everything but the signature has been checked. The host
    /// verifies the signature and calls again with [`Signature::Verified`]; until then the token
    /// admits nobody.
    Unverified(UnverifiedToken),
}

/// The tokens that an isolate has verified, so that each is verified once rather than with every
/// request. What may change in the meantime is checked each time: revocation and expiry here,
/// projects and scopes by [`Caller::authorize`].
#[derive(Debug)]
pub struct VerifiedTokens {
    tokens: BoundedCache<VerifiedToken>,
}

#[derive(Debug)]
enum VerifiedToken {
    Own(AccessToken),
    Foreign { caller: Rc<Caller>, source: Source },
}

/// The most tokens that are remembered.
const MAX_TOKENS: usize = 1_000;
/// The most bytes that they may take, counted as text and claims.
const MAX_BYTES: usize = 1024 * 1024;
/// The longest that an issuer's token is remembered: as long as an isolate uses a key set, so that
/// a withdrawn key is not trusted for much longer than that.
const FOREIGN_LIFETIME: Millis = jwks::ISOLATE_FRESH_FOR;

impl Default for VerifiedTokens {
    fn default() -> Self {
        Self {
            tokens: BoundedCache::new(MAX_TOKENS, MAX_BYTES),
        }
    }
}

impl VerifiedTokens {
    fn find(
        &self,
        token: &str,
        source: Source,
        settings: &AuthSettings,
        now: Millis,
    ) -> Option<Result<Rc<Caller>, &'static str>> {
        match self.tokens.get(token, now)? {
            VerifiedToken::Own(own) if source == Source::Bearer => {
                Some(own.check(&settings.revoked, now).map(|()| own.caller()))
            }
            VerifiedToken::Foreign {
                caller,
                source: taken_from,
            } if source == *taken_from => Some(Ok(Rc::clone(caller))),
            _ => None,
        }
    }

    fn remember(&mut self, token: &str, verified: VerifiedToken, until: Millis) {
        // The claims are about as long as the text that they were read from.
        self.tokens.insert(token, verified, token.len(), until);
    }

    /// How many tokens are remembered.
    #[must_use]
    pub fn len(&self) -> usize {
        self.tokens.len()
    }

    /// Whether none is.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tokens.is_empty()
    }
}

/// Identifies the caller. One of the gateway's own tokens is verified here. Of an issuer's token
/// everything but the signature is checked here, and the host has to verify that. A token that
/// was verified before is not verified again while it is remembered.
///
/// # Errors
/// 401 with a challenge: bare when there is no token, `invalid_token` when it is not
/// valid. 403 when it is valid and none of its issuer's rules matches it. The detail says
/// what is wrong and never repeats the token.
pub fn identify(
    credentials: &Credentials<'_>,
    settings: &AuthSettings,
    now: Millis,
    signature: Signature,
    verified: &mut VerifiedTokens,
) -> Result<Identity, Problem> {
    let issuers = &settings.trusted_issuers;
    let (text, source) = find_token(credentials, issuers).ok_or_else(missing_token_problem)?;
    if let Some(found) = verified.find(text, source, settings, now) {
        return found.map(Identity::Caller).map_err(invalid_token);
    }
    let token = Jwt::read(text).map_err(invalid_token)?;
    if token.algorithm == "HS256" && source == Source::Bearer {
        let own = verify_own(&token, settings, now).map_err(invalid_token)?;
        let caller = own.caller();
        let until = own.expires();
        verified.remember(text, VerifiedToken::Own(own), until);
        return Ok(Identity::Caller(caller));
    }
    let algorithm =
        Algorithm::from_name(&token.algorithm).filter(|_| accepts_from(issuers, source));
    let algorithm = algorithm.ok_or_else(|| invalid_token(describe_algorithms(issuers)))?;
    let checked = oidc::check(&token, algorithm, source, issuers, None, now);
    let (checked, unverified) = checked.map_err(invalid_token)?;
    if signature == Signature::Unverified {
        return Ok(Identity::Unverified(unverified));
    }
    checked
        .check_revoked(&settings.revoked)
        .map_err(invalid_token)?;
    let caller = Rc::new(checked.caller()?);
    let until = checked.expires().min(now.plus(FOREIGN_LIFETIME));
    let foreign = VerifiedToken::Foreign {
        caller: Rc::clone(&caller),
        source,
    };
    verified.remember(text, foreign, until);
    Ok(Identity::Caller(caller))
}

fn verify_own(
    token: &Jwt<'_>,
    settings: &AuthSettings,
    now: Millis,
) -> Result<AccessToken, &'static str> {
    let own = AccessToken::verify(token, &settings.token_secrets)?;
    own.check(&settings.revoked, now)?;
    Ok(own)
}

/// The token that counts, and where it was found.
fn find_token<'a>(
    credentials: &Credentials<'a>,
    issuers: &[TrustedIssuer],
) -> Option<(&'a str, Source)> {
    if let Some(authorization) = credentials.authorization {
        return Some((parse_bearer(authorization)?, Source::Bearer));
    }
    let assertion = credentials.access_assertion?;
    let counts = !assertion.is_empty() && accepts_from(issuers, Source::AccessAssertion);
    counts.then_some((assertion, Source::AccessAssertion))
}

/// The token of the `Bearer` scheme, whose name is not case-sensitive (RFC 9110, section 11.1).
fn parse_bearer(authorization: &str) -> Option<&str> {
    let (scheme, token) = authorization.split_once(' ')?;
    let token = token.trim_start_matches(' ');
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
}

fn accepts_from(issuers: &[TrustedIssuer], source: Source) -> bool {
    issuers.iter().any(|issuer| issuer.source == source)
}

fn describe_algorithms(issuers: &[TrustedIssuer]) -> &'static str {
    if issuers.is_empty() {
        "the access token must be signed with HS256"
    } else {
        "the access token must be signed with HS256, or by a trusted issuer with RS256 or ES256"
    }
}

/// 401: there is no token (RFC 6750, section 3.1).
#[must_use]
pub fn missing_token_problem() -> Problem {
    let detail = "an access token must be sent as Authorization: Bearer";
    Problem::new(ProblemKind::MissingToken, detail)
        .with_header("www-authenticate", "Bearer realm=\"quillgate\"")
}

/// 401: the token is not valid (RFC 6750, section 3.1). The host uses this too, when an issuer's
/// signature is wrong or there is no key to verify it with; `reason` must not repeat the token.
#[must_use]
pub fn invalid_token(reason: &str) -> Problem {
    let challenge = "Bearer realm=\"quillgate\", error=\"invalid_token\"";
    Problem::new(ProblemKind::InvalidToken, reason).with_header("www-authenticate", challenge)
}
