//! Authentication: the gateway's own access tokens, sent as bearer tokens (RFC 6750), and tokens
//! of trusted issuers.
//!
//! A token's `alg` alone selects how it is verified. HS256 requires one of the gateway's own
//! secrets; RS256 and ES256 require a published key of an issuer. Other algorithms are rejected.

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

/// The header fields that can carry a token.
#[derive(Debug, Clone, Copy, Default)]
pub struct Credentials<'a> {
    /// `Authorization`. When present, the other field is ignored, even if this one is invalid.
    pub authorization: Option<&'a str>,
    /// `Cf-Access-Jwt-Assertion`, added by Cloudflare Access. It is ignored unless a trusted
    /// issuer takes its tokens from it.
    pub access_assertion: Option<&'a str>,
}

impl Credentials<'_> {
    /// Whether a usable field carries a token, valid or not.
    #[must_use]
    pub fn has_token(&self, settings: &AuthSettings) -> bool {
        find_token(self, &settings.trusted_issuers).is_some()
    }
}

/// Whether the host has verified the signature of an issuer's token.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Signature {
    /// The signature has not been verified.
    #[default]
    Unverified,
    /// The host verified the signature of the [`UnverifiedToken`] from the previous call, with the
    /// key from [`jwks::find_key`].
    Verified,
}

/// The result of checking credentials.
#[derive(Debug, Clone, PartialEq)]
pub enum Identity {
    /// An authenticated caller.
    Caller(Rc<Caller>),
    /// A trusted issuer's token, checked except for its signature. The host must verify the
    /// signature and call again with [`Signature::Verified`].
    Unverified(UnverifiedToken),
}

/// An isolate's cache of verified tokens, which avoids verifying a token with every request.
///
/// Revocation and expiry are still checked with every request, and so are projects and scopes
/// ([`Caller::authorize`]).
#[derive(Debug)]
pub struct VerifiedTokens {
    tokens: BoundedCache<VerifiedToken>,
}

#[derive(Debug)]
enum VerifiedToken {
    Own(AccessToken),
    Foreign { caller: Rc<Caller>, source: Source },
}

/// The maximum number of cached tokens.
const MAX_TOKENS: usize = 1_000;
/// The maximum size of the cache in bytes, counting tokens and their claims.
const MAX_BYTES: usize = 1024 * 1024;
/// The maximum time for which an issuer's token is cached. It equals the time for which an isolate
/// uses a key set, so that a withdrawn key is not trusted for much longer.
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
        // The claims are about as long as the encoded token.
        self.tokens.insert(token, verified, token.len(), until);
    }

    /// Returns the number of cached tokens.
    #[must_use]
    pub fn len(&self) -> usize {
        self.tokens.len()
    }

    /// Whether the cache is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tokens.is_empty()
    }
}

/// Identifies the caller.
///
/// Verifies the gateway's own tokens completely. For an issuer's token, the host must verify the
/// signature. Cached tokens are not verified again.
///
/// # Errors
/// - 401 with a bare challenge if there is no token.
/// - 401 with `invalid_token` if the token is invalid. The detail never repeats the token.
/// - 403 if the token is valid but matches no rule of its issuer.
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

/// Returns the token to check and its source.
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

/// Returns the token of the case-insensitive `Bearer` scheme (RFC 9110, section 11.1).
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

/// Returns a 401 for a request without a token (RFC 6750, section 3.1).
#[must_use]
pub fn missing_token_problem() -> Problem {
    let detail = "an access token must be sent as Authorization: Bearer";
    Problem::new(ProblemKind::MissingToken, detail)
        .with_header("www-authenticate", "Bearer realm=\"quillgate\"")
}

/// Returns a 401 for an invalid token (RFC 6750, section 3.1).
///
/// The host also uses it for a wrong signature or a missing key. `reason` must not repeat the
/// token.
#[must_use]
pub fn invalid_token(reason: &str) -> Problem {
    let challenge = "Bearer realm=\"quillgate\", error=\"invalid_token\"";
    Problem::new(ProblemKind::InvalidToken, reason).with_header("www-authenticate", challenge)
}
