//! The way from a token's text to a verified caller. [`Token::read`] verifies the gateway's own
//! tokens, and the host verifies the signature of an [`UnverifiedToken`]. Only a [`VerifiedToken`]
//! has a caller.

use quillgate::Millis;
use serde_json::{Map, Value};

use crate::auth::auth_settings::AuthSettings;
use crate::auth::caller::Caller;
use crate::auth::jwt::Jwt;
use crate::auth::oidc::{self, UnverifiedToken};
use crate::auth::sign_in_issuer::SignInIssuer;
use crate::auth::trusted_issuer::Source;
use crate::auth::{InvalidToken, access_token};

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

impl Token {
    /// HS256 is only valid for the gateway's own tokens.
    pub fn read(
        proof: Proof<'_>,
        settings: &AuthSettings,
        now: Millis,
    ) -> Result<Self, InvalidToken> {
        let token = Jwt::read(proof.text())?;
        if token.algorithm == "HS256" && matches!(proof, Proof::AccessToken(_)) {
            return Ok(Self::Verified(access_token::verify(&token, settings, now)?));
        }
        oidc::check(&token, proof, &settings.trusted_issuers, now).map(Self::Unverified)
    }
}
