use std::rc::Rc;

use crate::auth::revocation::RevokedTokens;
use crate::auth::sign_in_issuer::{SignInIssuer, assign_secrets, read_sign_in_issuers};
use crate::auth::trusted_issuer::{TrustedIssuer, read_trusted_issuers};
use crate::variable::{VariableError, Variables, read_variable, variables};

variables! {
    /// Signs and verifies the gateway's own tokens (HS256). Of several, the first signs and all
    /// verify: see [Keys](../operate/keys.md).
    ACCESS_TOKEN_SECRET: Secret = "required";
    /// OIDC issuers, and the permissions of their tokens.
    TRUSTED_ISSUERS: Var = "none";
    /// Issuers at which people sign in to the page: see
    /// [Sign in to the page](../guides/identity-providers.md#sign-in-to-the-page).
    SIGN_IN_ISSUERS: Var = "none";
    /// The client secret, if an issuer requires one.
    SIGN_IN_CLIENT_SECRET: Secret = "none";
    /// Revoked tokens: see [Revoke tokens](../guides/access.md#revoke-tokens).
    REVOKED_TOKENS: SecretOrVar = "none";
    /// More revoked tokens, because a variable has at most 5 kB.
    REVOKED_TOKENS_2: SecretOrVar = "none";
    /// More revoked tokens.
    REVOKED_TOKENS_3: SecretOrVar = "none";
    /// More revoked tokens.
    REVOKED_TOKENS_4: SecretOrVar = "none";
}

pub struct AuthSettings {
    /// Newest first.
    pub token_secrets: Vec<Vec<u8>>,
    pub trusted_issuers: Vec<Rc<TrustedIssuer>>,
    pub sign_in_issuers: Vec<SignInIssuer>,
    pub revoked: RevokedTokens,
}

impl AuthSettings {
    /// The issuers in `REVOKED_TOKENS` that are not trusted: removed or misspelt ones.
    pub fn unknown_issuers(&self) -> Vec<&str> {
        let trusted = &self.trusted_issuers;
        let is_unknown = |name: &&str| trusted.iter().all(|issuer| issuer.issuer != *name);
        list_once(self.revoked.issuers().filter(is_unknown))
    }

    pub fn read(variables: Variables<'_>) -> Result<Self, VariableError> {
        let trusted_issuers = read_variable("TRUSTED_ISSUERS", variables, read_trusted_issuers)?;
        let token_secrets = read_token_secrets(variables("ACCESS_TOKEN_SECRET"))?;
        let revoked = RevokedTokens::read(variables)?;
        let read = |json: &str| read_sign_in_issuers(json, &trusted_issuers);
        let mut sign_in_issuers = read_variable("SIGN_IN_ISSUERS", variables, read)?;
        let variable = "SIGN_IN_CLIENT_SECRET";
        assign_secrets(&mut sign_in_issuers, variables(variable))
            .map_err(|rule| VariableError { variable, rule })?;
        Ok(Self {
            token_secrets,
            trusted_issuers,
            sign_in_issuers,
            revoked,
        })
    }
}

/// Returns each item once, in the order of the first.
pub fn list_once<T: PartialEq>(all: impl Iterator<Item = T>) -> Vec<T> {
    let mut once = Vec::new();
    for one in all {
        if !once.contains(&one) {
            once.push(one);
        }
    }
    once
}

/// The length of a SHA-256 hash (RFC 7518, section 3.2).
const MIN_SECRET_BYTES: usize = 32;

fn read_token_secrets(value: Option<String>) -> Result<Vec<Vec<u8>>, VariableError> {
    let error = |rule| VariableError {
        variable: "ACCESS_TOKEN_SECRET",
        rule,
    };
    let value = value.ok_or(error("is not set"))?;
    let secrets: Vec<_> = value
        .split(',')
        .map(|secret| secret.trim().as_bytes().to_vec())
        .collect();
    let is_short = |secret: &Vec<u8>| secret.len() < MIN_SECRET_BYTES;
    if secrets.iter().any(is_short) {
        return Err(error(
            "must be at least 32 bytes, or several secrets of that length separated by commas",
        ));
    }
    Ok(secrets)
}
