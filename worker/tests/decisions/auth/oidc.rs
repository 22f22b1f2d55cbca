//! Tokens of trusted issuers.
//!
//! The tested attacks come from RFC 8725 and published advisories on JWT libraries: CVE-2015-9235,
//! CVE-2016-10555, CVE-2018-0114, CVE-2022-23540, CVE-2026-22817 and CVE-2026-22818.

mod callers;
mod rules;
mod tokens;

use std::rc::Rc;

use quillgate_worker::app::config::Config;
use quillgate_worker::auth as identity;
use quillgate_worker::auth::caller::Caller;
use quillgate_worker::auth::token::UnverifiedToken;
use quillgate_worker::auth::trusted_issuer::read_trusted_issuers;
use quillgate_worker::auth::{Credentials, Identity, VerifiedTokens};
use quillgate_worker::http::problem::Problem;
use serde_json::{Value, json};

use crate::fixtures::{
    NOW, SECONDS, configuration, identify_signed, in_assertion, in_authorization, issuer_token,
};

const GITHUB: &str = "https://token.actions.githubusercontent.com";
const TEAM: &str = "https://acme.cloudflareaccess.com";

/// `TRUSTED_ISSUERS` with GitHub Actions and Cloudflare Access. A workflow token can match several
/// rules.
fn issuers() -> Value {
    json!([
        {
            "issuer": GITHUB,
            "audience": "quillgate",
            "jwks": "https://token.actions.githubusercontent.com/.well-known/jwks",
            "rules": [
                {
                    "claims": {
                        "repository": "acme/docs",
                        "ref": ["refs/heads/main", "refs/heads/next"],
                    },
                    "projects": ["acme-docs"],
                    "scope": "jobs:create jobs:read",
                    "quota": { "create-job": 10, "analytics": 5 },
                },
                {
                    "claims": { "repository_owner": "acme" },
                    "projects": ["acme-site"],
                    "scope": "analytics:read",
                    "quota": { "create-job": 3 },
                },
                {
                    "claims": { "run_attempt": 1, "ref_protected": true },
                    "projects": ["*"],
                    "scope": "jobs:read",
                },
            ],
        },
        {
            "issuer": TEAM,
            "audience": ["first-app", "second-app"],
            "jwks": "https://acme.cloudflareaccess.com/cdn-cgi/access/certs",
            "header": "Cf-Access-Jwt-Assertion",
            "rules": [{
                "claims": { "groups": ["docs", "writers"] },
                "projects": ["acme-docs"],
                "scope": "jobs:read gateway:operate",
            }],
        },
    ])
}

fn config() -> Config {
    let mut config = configuration();
    config.auth.trusted_issuers = read_trusted_issuers(&issuers().to_string()).unwrap();
    config
}

fn header() -> Value {
    json!({ "alg": "RS256", "typ": "JWT", "kid": "key-1", "x5t": "a-thumbprint" })
}

/// The claims of a GitHub workflow token.
fn claims() -> Value {
    json!({
        "iss": GITHUB,
        "aud": "quillgate",
        "sub": "repo:acme/docs:ref:refs/heads/main",
        "exp": SECONDS + 300,
        "nbf": SECONDS - 300,
        "iat": SECONDS,
        "repository": "acme/docs",
        "ref": "refs/heads/main",
        "run_attempt": "1",
        "ref_protected": "true",
    })
}

fn team_claims() -> Value {
    json!({
        "iss": TEAM,
        "aud": ["first-app"],
        "sub": "7335d417-61da-459d-899c-0a01c76a2f94",
        "exp": SECONDS + 30 * 86_400,
        "iat": SECONDS,
        "type": "app",
        "groups": ["staff", "docs"],
    })
}

fn token(header: &Value, claims: &Value) -> String {
    issuer_token(&header.to_string(), &claims.to_string())
}

/// Returns the caller of an uncached token, as if the host had verified the signature.
fn identify(credentials: &Credentials<'_>, config: &Config) -> Result<Rc<Caller>, Problem> {
    identify_signed(
        credentials,
        &config.auth,
        NOW,
        &mut VerifiedTokens::default(),
    )
}

/// Checks a token, then identifies its caller as if the host had verified the signature. Returns
/// the checked token and the caller.
fn check_and_identify(credentials: &Credentials<'_>) -> Result<(UnverifiedToken, Caller), Problem> {
    let (config, mut verified) = (config(), VerifiedTokens::default());
    let identified = identity::identify(credentials, &config.auth, NOW, &mut verified)?;
    let Identity::Unverified(token) = identified else {
        panic!("no signature to verify: {identified:?}");
    };
    let signed = token.clone().into_verified(&config.auth.revoked)?;
    let caller = verified.remember(signed, NOW);
    Ok((*token, (*caller).clone()))
}

fn identify_bearer(token: &str) -> Result<(UnverifiedToken, Caller), Problem> {
    check_and_identify(&in_authorization(&format!("Bearer {token}")))
}

/// Like [`identify_bearer`], for a token in `Cf-Access-Jwt-Assertion`.
fn identify_assertion(token: &str) -> Result<(UnverifiedToken, Caller), Problem> {
    check_and_identify(&in_assertion(token))
}

#[track_caller]
fn assert_accepted(token: &str) -> Caller {
    match identify_bearer(token) {
        Ok((_, caller)) => caller,
        Err(problem) => panic!("refused: {}", problem.detail),
    }
}

fn config_of(issuers: &Value) -> Result<Config, String> {
    let text = issuers.to_string();
    let issuers = read_trusted_issuers(&text).map_err(str::to_owned)?;
    let mut config = configuration();
    config.auth.trusted_issuers = issuers;
    Ok(config)
}
