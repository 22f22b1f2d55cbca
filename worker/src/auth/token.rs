//! The way from a token's text to a verified caller. [`Token::read`] verifies the gateway's own
//! tokens, and the host verifies the signature of an [`UnverifiedToken`]. Only a [`VerifiedToken`]
//! has a caller.

use std::slice;

use quillgate::Millis;
use serde_json::{Map, Value};

use crate::auth::auth_settings::AuthSettings;
use crate::auth::caller::Caller;
use crate::auth::jwks::Algorithm;
use crate::auth::jwt::{Jwt, UNKNOWN_KIND, WRONG_SIGNATURE, to_millis};
use crate::auth::oidc::{CheckedClaims, check_claims};
use crate::auth::revocation::RevokedTokens;
use crate::auth::sign_in_issuer::SignInIssuer;
use crate::auth::trusted_issuer::Source;
use crate::auth::{accepts_from, access_token, invalid_token};
use crate::http::problem::Problem;

const MAX_KID_BYTES: usize = 256;
/// Header parameters that would supply a token's own key (RFC 7515, sections 4.1.2, 4.1.3, 4.1.5
/// and 4.1.6).
const OWN_KEYS: [&str; 4] = ["jwk", "jku", "x5u", "x5c"];

/// A token as received.
#[derive(Debug, Clone, Copy)]
pub enum Proof<'a> {
    /// From `Authorization`, or from the body of a request that opens a session.
    AccessToken(&'a str),
    /// From Cloudflare Access.
    AccessAssertion(&'a str),
    /// From a sign-in that has just succeeded.
    IdToken {
        token: &'a str,
        client: &'a SignInIssuer,
        nonce: &'a str,
    },
}

impl<'a> Proof<'a> {
    pub(super) const fn text(self) -> &'a str {
        match self {
            Self::AccessToken(token)
            | Self::AccessAssertion(token)
            | Self::IdToken { token, .. } => token,
        }
    }

    pub(super) const fn source(self) -> Source {
        match self {
            Self::AccessAssertion(_) => Source::AccessAssertion,
            Self::AccessToken(_) | Self::IdToken { .. } => Source::Bearer,
        }
    }
}

/// Its claims are valid.
#[derive(Debug)]
pub enum Token {
    Verified(VerifiedToken),
    Unverified(UnverifiedToken),
}

/// Its signature and claims are valid, and it is not revoked.
#[derive(Debug)]
pub struct VerifiedToken {
    /// The index in `ACCESS_TOKEN_SECRET` of the secret that signs the session's cookie: the one
    /// that verified the gateway's own token, so that removing the secret ends the session, too. 0
    /// for an issuer's token.
    pub secret: usize,
    pub(super) caller: Caller,
    pub(super) claims: Map<String, Value>,
    /// `exp`, without the leeway for issuers' clocks.
    pub(super) expires: Millis,
    pub(super) source: Source,
    pub(super) text: String,
}

/// Valid except for its signature, which the host verifies with the issuer's keys.
#[derive(Debug, Clone, PartialEq)]
pub struct UnverifiedToken {
    pub kid: Option<String>,
    pub algorithm: Algorithm,
    /// For ES256, `r` and `s`, 32 bytes each (RFC 7518, section 3.4), the format of `WebCrypto`.
    pub signature: Vec<u8>,
    text: String,
    claims: CheckedClaims,
}

impl Token {
    /// Checks everything except an issuer's signature. HS256 is only valid for the gateway's own
    /// tokens.
    pub fn read(proof: Proof<'_>, settings: &AuthSettings, now: Millis) -> Result<Self, Problem> {
        let token = Jwt::read(proof.text()).map_err(invalid_token)?;
        if token.algorithm == "HS256" && matches!(proof, Proof::AccessToken(_)) {
            let verified = access_token::verify(&token, settings, now);
            return verified.map(Self::Verified).map_err(invalid_token);
        }
        let (issuers, source) = (&settings.trusted_issuers, proof.source());
        let algorithm = Algorithm::from_name(&token.algorithm);
        let algorithm = algorithm.filter(|_| accepts_from(issuers, source));
        let algorithm = algorithm.ok_or_else(|| {
            invalid_token(if issuers.is_empty() {
                "the access token must be signed with HS256"
            } else {
                "the access token must be signed with HS256, or by a trusted issuer with RS256 or ES256"
            })
        })?;
        let (kid, signature) = read_header(&token, algorithm).map_err(invalid_token)?;
        let (clients, nonce) = match proof {
            Proof::IdToken { client, nonce, .. } => (Some(slice::from_ref(client)), Some(nonce)),
            Proof::AccessToken(_) | Proof::AccessAssertion(_) => (None, None),
        };
        let claims = token.claims().map_err(invalid_token)?;
        let claims = check_claims(claims, source, issuers, clients, now)?;
        if nonce.is_some_and(|nonce| claims.values.get("nonce") != Some(&nonce.into())) {
            return Err(invalid_token("the ID token is of another sign-in"));
        }
        Ok(Self::Unverified(UnverifiedToken {
            kid,
            algorithm,
            signature,
            text: token.text.to_owned(),
            claims,
        }))
    }
}

impl UnverifiedToken {
    pub fn jwks(&self) -> &str {
        &self.claims.issuer.jwks
    }

    /// The signing input, as sent.
    pub fn signed(&self) -> &str {
        self.text.rsplit_once('.').map_or("", |(signed, _)| signed)
    }

    /// The host must first verify the signature.
    pub fn into_verified(self, revoked: &RevokedTokens) -> Result<VerifiedToken, Problem> {
        Ok(VerifiedToken {
            secret: 0,
            caller: self.claims.caller(revoked)?,
            expires: to_millis(self.claims.times.exp),
            source: self.claims.issuer.source,
            claims: self.claims.values,
            text: self.text,
        })
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
        Some(Value::String(kid)) if (1..=MAX_KID_BYTES).contains(&kid.len()) => {
            Ok((Some(kid.clone()), signature))
        }
        Some(_) => Err("the access token names no key"),
    }
}
