//! Callers of trusted issuers.

use quillgate::RateLimitPolicy;
use quillgate_worker::auth;
use quillgate_worker::auth::caller::Caller;
use quillgate_worker::auth::revocation::RevokedTokens;
use quillgate_worker::auth::trusted_issuer::read_trusted_issuers;
use quillgate_worker::auth::{Identity, VerifiedTokens};
use quillgate_worker::budget::Ceiling;
use quillgate_worker::http::problem::Problem;
use serde_json::{Value, json};

use super::{GITHUB, claims, config, header, identify, token};
use crate::fixtures::{
    NOW, SECONDS, assert_invalid_token, change, configuration, in_authorization,
};

fn rule(claims: &Value, changes: &Value) -> Value {
    let mut rule = json!({ "claims": claims, "projects": ["acme-docs"], "scope": "jobs:create" });
    for (name, value) in changes.as_object().unwrap() {
        rule[name] = value.clone();
    }
    rule
}

/// Returns the caller of a workflow token under `rules`. `changes` contains the claims to replace.
/// `null` removes a claim.
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
    let mut config = configuration();
    config.auth.trusted_issuers = read_trusted_issuers(&issuers.to_string()).unwrap();
    let variable = |name: &str| (name == "REVOKED_TOKENS").then(|| revoked.to_string());
    config.auth.revoked = RevokedTokens::read(variable, &config.auth.trusted_issuers).unwrap();
    let mut claims = claims();
    for (name, value) in changes.as_object().unwrap() {
        claims = change(claims, name, (!value.is_null()).then(|| value.clone()));
    }
    let authorization = format!("Bearer {}", token(&header(), &claims));
    let credentials = in_authorization(&authorization);
    Ok((*identify(&credentials, &config)?).clone())
}

fn names_of(caller: &Caller) -> Vec<(String, u32)> {
    let ceilings = caller.budget_request(RateLimitPolicy::CreateJob).ceilings;
    let pair = |ceiling: Ceiling| (ceiling.name, ceiling.max);
    ceilings.into_iter().map(pair).collect()
}

#[test]
fn rule_claims_distinguish_callers() {
    let by_id = rule(
        &json!({ "repository_owner_id": "3003" }),
        &json!({ "caller": ["repository_id", "run_attempt"], "quota": 2 }),
    );
    let in_environment = |environment: &str, repository: &str| {
        json!({
            "sub": format!("repo:acme/docs:environment:{environment}"),
            "repository_owner_id": "3003",
            "repository_id": repository,
        })
    };
    let rules = [by_id];
    let caller = |environment, repository| {
        caller_of(&rules, &in_environment(environment, repository)).unwrap()
    };
    let first = caller("a", "2002");
    assert_eq!(
        first.key(),
        format!(r#" {GITHUB} {{"repository_id":"2002","run_attempt":"1"}}"#)
    );
    assert_eq!(first.quota.ceiling(RateLimitPolicy::CreateJob), Some(2));
    assert_eq!(caller("b", "2002").key(), first.key());
    assert_ne!(caller("b", "2003").key(), first.key());
    // A crafted subject cannot impersonate this caller.
    let imitated = json!({ "sub": r#"{"repository_id":"2002","run_attempt":"1"}"#, "x": "y" });
    let by_subject = [rule(&json!({ "x": "y" }), &json!({}))];
    let other = caller_of(&by_subject, &imitated).unwrap();
    assert_ne!(other.key(), first.key());
}

#[test]
fn token_without_a_caller_claim_is_rejected() {
    let rules = [rule(
        &json!({ "repository": "acme/docs" }),
        &json!({ "caller": ["repository_id"] }),
    )];
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
    let main = json!({ "repository": "acme/docs" });
    let rules = [
        rule(&main, &json!({ "ceiling": { "create-job": 5 } })),
        rule(
            &json!({ "ref": "refs/heads/main" }),
            &json!({ "ceiling": 7 }),
        ),
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
    let later = [
        rules[1].clone(),
        rule(
            &main,
            &json!({ "ceiling": 1, "quota": 1, "scope": "jobs:read" }),
        ),
    ];
    let carol = caller_of(&later, &json!({ "sub": "carol" })).unwrap();
    assert_eq!(
        names_of(&carol),
        [(names[1].0.clone(), 7), (names[0].0.clone(), 1)]
    );
}

#[test]
fn subjects_share_a_quota_without_caller_claims() {
    let rules = [rule(
        &json!({ "repository": "acme/docs" }),
        &json!({ "quota": 2, "ceiling": { "create-job": 3 } }),
    )];
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
    let rules = [
        rule(&json!({ "ref": "refs/heads/main" }), &json!({ "quota": 9 })),
        rule(
            &json!({ "repository": "acme/docs" }),
            &json!({ "caller": ["repository_id"], "quota": 2 }),
        ),
        rule(
            &json!({ "repository_owner": "acme" }),
            &json!({ "caller": ["repository_owner"], "quota": 5 }),
        ),
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
    let rules = [rule(&json!({ "repository": "acme/docs" }), &json!({}))];
    let subject = "repo:acme/docs:ref:refs/heads/main";
    for (revocation, is_revoked) in [
        (json!({ "iss": GITHUB, "sub": subject }), true),
        (json!({ "iss": GITHUB, "sub": "repo:acme/docs" }), false),
        (json!({ "sub": subject, "before": SECONDS + 1 }), false),
        (
            json!({ "iss": GITHUB, "sub": subject, "before": SECONDS + 1 }),
            true,
        ),
        (
            json!({ "iss": GITHUB, "sub": subject, "before": SECONDS }),
            false,
        ),
        (
            json!({ "iss": GITHUB, "claims": { "run_attempt": ["2", "1"] } }),
            true,
        ),
        (
            json!({ "iss": GITHUB, "claims": { "run_attempt": 1 } }),
            false,
        ),
        (
            json!({ "iss": GITHUB, "claims": { "run_attempt": "1", "ref": "refs/heads/x" } }),
            false,
        ),
        (json!({ "iss": GITHUB, "claims": { "none": "1" } }), false),
    ] {
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
    let variable = |name: &str| {
        let list = json!([{ "iss": GITHUB, "claims": { "run_attempt": "1" } }]);
        (name == "REVOKED_TOKENS").then(|| list.to_string())
    };
    config.auth.revoked = RevokedTokens::read(variable, &config.auth.trusted_issuers).unwrap();
    let authorization = format!("Bearer {}", token(&header(), &claims()));
    let credentials = in_authorization(&authorization);
    let verified = &mut VerifiedTokens::default();
    let checked = auth::identify(&credentials, &config.auth, NOW, verified);
    assert!(
        matches!(checked, Ok(Identity::Unverified(_))),
        "{checked:?}"
    );
}
