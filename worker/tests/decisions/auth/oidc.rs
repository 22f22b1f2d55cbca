//! Tokens of trusted issuers.
//!
//! The tested attacks come from RFC 8725 and published advisories on JWT libraries: CVE-2015-9235,
//! CVE-2016-10555, CVE-2018-0114, CVE-2022-23540, CVE-2026-22817 and CVE-2026-22818.

mod rules;
mod tokens;

use std::rc::Rc;

use quillgate::RateLimitPolicy;
use quillgate_worker::app::config::Config;
use quillgate_worker::auth::caller::Caller;
use quillgate_worker::auth::revocation::RevokedTokens;
use quillgate_worker::auth::token::UnverifiedToken;
use quillgate_worker::auth::trusted_issuer::read_trusted_issuers;
use quillgate_worker::auth::{Credentials, Identity, VerifiedTokens};
use quillgate_worker::budget::Ceiling;
use quillgate_worker::http::problem::Problem;
use quillgate_worker::{auth, auth as identity};
use serde_json::{Value, json};

use crate::fixtures::{
    NOW, SECONDS, assert_invalid_token, change, configuration, identify_signed, in_assertion,
    in_authorization, issuer_token, merge,
};

const GITHUB: &str = "https://token.actions.githubusercontent.com";
const TEAM: &str = "https://acme.cloudflareaccess.com";

/// `TRUSTED_ISSUERS` with GitHub Actions and Cloudflare Access.
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
    config_of(&issuers()).unwrap()
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
    let verified = &mut VerifiedTokens::default();
    identify_signed(credentials, &config.auth, NOW, verified)
}

/// Checks a token, then identifies its caller as if the host had verified the signature.
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
    identify_bearer(token).unwrap().1
}

fn config_of(issuers: &Value) -> Result<Config, &'static str> {
    let mut config = configuration();
    config.auth.trusted_issuers = read_trusted_issuers(&issuers.to_string())?;
    Ok(config)
}

/// Returns a rule for tokens in which the claim `name` is `value`.
fn rule(name: &str, value: &str, changes: &Value) -> Value {
    let claims = json!({ name: value });
    let rule = json!({ "claims": claims, "projects": ["acme-docs"], "scope": "jobs:create" });
    merge(rule, changes)
}

/// Returns a rule for the workflow tokens of the repository `acme/docs`.
fn docs_rule(changes: &Value) -> Value {
    rule("repository", "acme/docs", changes)
}

/// Returns the caller of a workflow token under `rules`.
fn caller_of(rules: &[Value], changes: &Value) -> Result<Caller, Problem> {
    caller_under(rules, changes, &json!([]))
}

fn caller_under(rules: &[Value], changes: &Value, revoked: &Value) -> Result<Caller, Problem> {
    let issuers = json!([{
        "issuer": GITHUB,
        "audience": "quillgate",
        "jwks": format!("{GITHUB}/.well-known/jwks"),
        "rules": rules,
    }]);
    let mut config = config_of(&issuers).unwrap();
    revoke(&mut config, revoked);
    let mut claims = claims();
    for (name, value) in changes.as_object().unwrap() {
        claims = change(claims, name, (!value.is_null()).then(|| value.clone()));
    }
    let authorization = format!("Bearer {}", token(&header(), &claims));
    let credentials = in_authorization(&authorization);
    Ok((*identify(&credentials, &config)?).clone())
}

/// Sets the `REVOKED_TOKENS` of a configuration.
fn revoke(config: &mut Config, list: &Value) {
    let variable = |name: &str| (name == "REVOKED_TOKENS").then(|| list.to_string());
    config.auth.revoked = RevokedTokens::read(variable).unwrap();
}

fn names_of(caller: &Caller) -> Vec<(String, u32)> {
    let ceilings = caller.budget_request(RateLimitPolicy::CreateJob).ceilings;
    let pair = |ceiling: Ceiling| (ceiling.name, ceiling.max);
    ceilings.into_iter().map(pair).collect()
}

#[test]
fn rule_claims_distinguish_callers() {
    let by_id = json!({ "caller": ["repository_id", "run_attempt"], "quota": 2 });
    let in_environment = |environment: &str, repository: &str| {
        json!({
            "sub": format!("repo:acme/docs:environment:{environment}"),
            "repository_owner_id": "3003",
            "repository_id": repository,
        })
    };
    let rules = [rule("repository_owner_id", "3003", &by_id)];
    let caller = |environment, repository| {
        caller_of(&rules, &in_environment(environment, repository)).unwrap()
    };
    let first = caller("a", "2002");
    let expected = format!(r#" {GITHUB} {{"repository_id":"2002","run_attempt":"1"}}"#);
    assert_eq!(first.key(), expected);
    assert_eq!(first.quota.ceiling(RateLimitPolicy::CreateJob), Some(2));
    assert_eq!(caller("b", "2002").key(), first.key());
    assert_ne!(caller("b", "2003").key(), first.key());
    // A crafted subject cannot impersonate this caller.
    let imitated = json!({ "sub": r#"{"repository_id":"2002","run_attempt":"1"}"#, "x": "y" });
    let by_subject = [rule("x", "y", &json!({}))];
    let other = caller_of(&by_subject, &imitated).unwrap();
    assert_ne!(other.key(), first.key());
}

#[test]
fn token_without_a_caller_claim_is_rejected() {
    let rules = [docs_rule(&json!({ "caller": ["repository_id"] }))];
    for (value, is_admitted) in [
        (json!("2002"), true),
        (json!(2002), true),
        (json!(null), false),
        (json!(["2002"]), false),
        (json!({}), false),
        (json!(20.02), false),
    ] {
        let caller = caller_of(&rules, &json!({ "repository_id": value }));
        assert_eq!(caller.is_ok(), is_admitted, "{value}");
    }
}

#[test]
fn all_callers_of_a_rule_share_its_ceiling() {
    let rules = [
        docs_rule(&json!({ "ceiling": { "create-job": 5 } })),
        rule("ref", "refs/heads/main", &json!({ "ceiling": 7 })),
    ];
    let alice = caller_of(&rules, &json!({ "sub": "alice" })).unwrap();
    let bob = caller_of(&rules, &json!({ "sub": "bob" })).unwrap();
    assert_ne!(alice.key(), bob.key());
    let names = names_of(&alice);
    assert_eq!(names, names_of(&bob));
    let most: Vec<_> = names.iter().map(|(_, most)| *most).collect();
    assert_eq!(most, [5, 7]);
    assert_ne!(names[0].0, names[1].0);
    let messages = alice.budget_request(RateLimitPolicy::SendMessage).ceilings;
    assert_eq!(messages.len(), 1, "the other has none for it");
    // The budget identifies a ceiling by the claims of its rule. Reordering the rules or changing
    // their other properties does not reset the count.
    let changed = docs_rule(&json!({ "ceiling": 1, "quota": 1, "scope": "jobs:read" }));
    let later = [rules[1].clone(), changed];
    let carol = caller_of(&later, &json!({ "sub": "carol" })).unwrap();
    let expected = [(names[1].0.clone(), 7), (names[0].0.clone(), 1)];
    assert_eq!(names_of(&carol), expected);
}

#[test]
fn subjects_share_a_quota_without_caller_claims() {
    let rule = docs_rule(&json!({ "quota": 2, "ceiling": { "create-job": 3 } }));
    let rules = [rule];
    let of = |subject: &str| caller_of(&rules, &json!({ "sub": subject })).unwrap();
    let (alice, bob) = (of("alice"), of("bob"));
    for policy in [
        RateLimitPolicy::SendMessage,
        RateLimitPolicy::Analytics,
        RateLimitPolicy::ReadJobs,
    ] {
        assert_eq!(alice.quota.ceiling(policy), None, "{policy:?}");
        let ceilings = alice.budget_request(policy).ceilings;
        assert_eq!(ceilings, bob.budget_request(policy).ceilings);
        assert_eq!(ceilings.len(), 1);
        assert_eq!(ceilings[0].max, 2);
    }
    // For job creations, the rule has a ceiling, so each subject has its own quota.
    assert_eq!(alice.quota.ceiling(RateLimitPolicy::CreateJob), Some(2));
    assert_eq!(names_of(&alice)[0].1, 3);
}

#[test]
fn rules_with_different_caller_claims_count_separately() {
    let by_owner = json!({ "caller": ["repository_owner"], "quota": 5 });
    let rules = [
        rule("ref", "refs/heads/main", &json!({ "quota": 9 })),
        docs_rule(&json!({ "caller": ["repository_id"], "quota": 2 })),
        rule("repository_owner", "acme", &by_owner),
    ];
    let claims = json!({ "sub": "s", "repository_id": "1", "repository_owner": "acme" });
    let caller = caller_of(&rules, &claims).unwrap();
    let by_id = format!(r#" {GITHUB} {{"repository_id":"1"}}"#);
    assert_eq!(caller.key(), by_id);
    assert_eq!(caller.quota.ceiling(RateLimitPolicy::CreateJob), Some(2));
    let by_owner = format!(r#" {GITHUB} {{"repository_owner":"acme"}}"#);
    // The first rule has no `caller` claims, so all its callers share one quota.
    let first_rule = &caller_of(&rules[..1], &claims).unwrap();
    let [of_rule] = &names_of(first_rule)[..] else {
        panic!("one shared quota")
    };
    assert_eq!(of_rule.1, 9);
    let shared = [of_rule.clone(), (by_owner.clone(), 5)];
    assert_eq!(names_of(&caller), shared);
    // A caller that matches only the last rule counts towards that rule's shared quota.
    let other = json!({ "ref": "x", "repository": "acme/x", "repository_owner": "acme" });
    let other = caller_of(&rules, &other).unwrap();
    assert_eq!(other.key(), by_owner);
}

#[test]
fn issuer_token_is_revoked_by_subject_or_other_claims() {
    let rules = [docs_rule(&json!({}))];
    let subject = "repo:acme/docs:ref:refs/heads/main";
    let before = json!({ "sub": subject, "before": SECONDS + 1 });
    assert!(caller_under(&rules, &json!({}), &json!([before])).is_ok());
    let other_branch = json!({ "run_attempt": "1", "ref": "refs/heads/x" });
    for (revocation, is_revoked) in [
        (json!({ "sub": subject }), true),
        (json!({ "sub": "repo:acme/docs" }), false),
        (before, true),
        (json!({ "sub": subject, "before": SECONDS }), false),
        (json!({ "claims": { "run_attempt": ["2", "1"] } }), true),
        (json!({ "claims": { "run_attempt": 1 } }), false),
        (json!({ "claims": other_branch }), false),
        (json!({ "claims": { "none": "1" } }), false),
    ] {
        let revocation = change(revocation, "iss", Some(json!(GITHUB)));
        let caller = caller_under(&rules, &json!({}), &json!(["x", revocation]));
        assert_eq!(caller.is_err(), is_revoked, "{revocation}");
        if let Err(problem) = caller {
            assert_invalid_token(&problem, "the access token has been revoked");
        }
    }
    // A token without `iat` could have been issued at any time, so the revocation applies to it.
    let revocation = json!([{ "iss": GITHUB, "sub": subject, "before": 1 }]);
    assert!(caller_under(&rules, &json!({ "iat": null }), &revocation).is_err());
}

#[test]
fn forged_token_never_reveals_revocations() {
    let mut config = config();
    let revocation = json!({ "iss": GITHUB, "claims": { "run_attempt": "1" } });
    revoke(&mut config, &json!([revocation]));
    let authorization = format!("Bearer {}", token(&header(), &claims()));
    let credentials = in_authorization(&authorization);
    let verified = &mut VerifiedTokens::default();
    let checked = auth::identify(&credentials, &config.auth, NOW, verified);
    let is_unverified = matches!(checked, Ok(Identity::Unverified(_)));
    assert!(is_unverified, "{checked:?}");
}
