//! Rules of trusted issuers.

use quillgate::RateLimitPolicy;
use quillgate_worker::auth::caller::Caller;
use quillgate_worker::auth::trusted_issuer::{Source, read_trusted_issuers};
use serde_json::{Value, json};

use super::{
    GITHUB, assert_accepted, claims, config_of, header, identify, identify_assertion,
    identify_bearer, issuers, team_claims, token,
};
use crate::fixtures::{change, in_authorization, status_and_kind};

#[track_caller]
fn assert_not_mapped(claims: &Value) {
    let problem = identify_bearer(&token(&header(), claims)).unwrap_err();
    assert_eq!(status_and_kind(&problem), (403, "identity-not-mapped"));
    let challenge = "Bearer realm=\"quillgate\", error=\"insufficient_scope\"";
    assert_eq!(
        problem.headers,
        [("www-authenticate", challenge.to_owned())]
    );
}

/// Returns the maximum of each ceiling that the caller shares with other callers.
fn shared_limits(caller: &Caller, policy: RateLimitPolicy) -> Vec<u32> {
    let ceilings = caller.budget_request(policy).ceilings.into_iter();
    ceilings.map(|ceiling| ceiling.max).collect()
}

#[test]
fn workflow_can_do_what_its_rule_grants() {
    let caller = assert_accepted(&token(&header(), &claims()));
    for (project, scope, kind) in [
        ("acme-docs", "jobs:create", None),
        ("acme-docs", "jobs:read", None),
        ("acme-docs", "analytics:read", Some("insufficient-scope")),
        (
            "acme-docs",
            "jobs:create jobs:read",
            Some("insufficient-scope"),
        ),
        ("acme-site", "analytics:read", Some("project-not-allowed")),
        ("*", "jobs:read", Some("project-not-allowed")),
    ] {
        let problem = caller.authorize(project, scope).err();
        assert_eq!(
            problem.map(|problem| problem.kind.as_str()),
            kind,
            "{project} {scope}"
        );
    }
    assert!(caller.require_operator().is_err());
    assert_eq!(shared_limits(&caller, RateLimitPolicy::CreateJob), [10]);
    assert!(shared_limits(&caller, RateLimitPolicy::SendMessage).is_empty());
}

#[test]
fn each_matching_rule_is_a_separate_grant() {
    let claims = change(claims(), "repository_owner", Some(json!("acme")));
    let caller = assert_accepted(&token(&header(), &claims));
    assert_eq!(caller.grants.len(), 2);
    assert!(caller.authorize("acme-docs", "jobs:create").is_ok());
    assert!(caller.authorize("acme-site", "analytics:read").is_ok());
    for (project, scope) in [
        ("acme-site", "jobs:create"),
        ("acme-docs", "analytics:read"),
    ] {
        let problem = caller.authorize(project, scope).unwrap_err();
        assert_eq!(problem.kind.as_str(), "insufficient-scope");
    }
    assert!(!caller.quota.is_limited());
    let limits = RateLimitPolicy::ALL.map(|policy| shared_limits(&caller, policy));
    assert_eq!(limits[..4], [vec![10, 3], vec![], vec![5], vec![]]);
}

#[test]
fn claims_of_two_rules_never_combine() {
    for (repository, reference) in [
        ("acme/docs", "refs/heads/other"),
        ("acme/other", "refs/heads/main"),
    ] {
        let claims = change(claims(), "repository", Some(json!(repository)));
        assert_not_mapped(&change(claims, "ref", Some(json!(reference))));
    }
}

#[test]
fn claim_must_equal_the_whole_value() {
    for repository in [
        json!("acme/docs-evil"),
        json!("evil/acme/docs"),
        json!("acme/doc"),
        json!("Acme/docs"),
        json!(" acme/docs"),
        json!("acme/docs\u{0}"),
        json!("acme/docs,acme/other"),
        json!("*"),
        json!(""),
        json!({ "acme/docs": true }),
        json!([]),
        json!(null),
    ] {
        assert_not_mapped(&change(claims(), "repository", Some(repository)));
    }
    assert_not_mapped(&change(claims(), "repository", None));
    for name in ["Repository", "repository ", "repository_"] {
        let without = change(claims(), "repository", None);
        assert_not_mapped(&change(without, name, Some(json!("acme/docs"))));
    }
}

#[test]
fn claim_matches_if_any_of_its_values_is_accepted() {
    for (reference, matches) in [
        (json!("refs/heads/next"), true),
        (json!(["refs/heads/next"]), true),
        (json!(["refs/heads/x", "refs/heads/main"]), true),
        (json!(["refs/heads/x"]), false),
        (json!("refs/heads/main refs/heads/next"), false),
        (json!("refs/heads/mai"), false),
    ] {
        let claims = change(claims(), "ref", Some(reference));
        if matches {
            assert_accepted(&token(&header(), &claims));
        } else {
            assert_not_mapped(&claims);
        }
    }
}

#[test]
fn strings_never_match_numbers_or_booleans() {
    let other = change(claims(), "repository", None);
    for (attempt, protected, matches) in [
        (json!(1), json!(true), true),
        (json!([2, 1]), json!([true]), true),
        (json!("1"), json!(true), false),
        (json!(1), json!("true"), false),
        (json!(1.0), json!(true), false),
        (json!(-1), json!(true), false),
        (json!(true), json!(true), false),
        (json!(1), json!(1), false),
        (json!(1), json!(false), false),
    ] {
        let claims = change(other.clone(), "run_attempt", Some(attempt));
        let claims = change(claims, "ref_protected", Some(protected));
        if matches {
            let caller = assert_accepted(&token(&header(), &claims));
            assert!(caller.authorize("*", "jobs:read").is_ok(), "a literal star");
            assert!(caller.authorize("acme-docs", "jobs:read").is_err());
        } else {
            assert_not_mapped(&claims);
        }
    }
}

#[test]
fn token_cannot_grant_itself_access() {
    let mut claims = claims();
    claims["projects"] = json!(["acme-site", "*"]);
    claims["scope"] = json!("jobs:create analytics:read gateway:operate");
    claims["quota"] = json!({ "create-job": 1_000_000 });
    claims["grants"] = json!([{ "projects": ["acme-site"], "scopes": ["jobs:create"] }]);
    let caller = assert_accepted(&token(&header(), &claims));
    assert_eq!(caller, assert_accepted(&token(&header(), &self::claims())));
    assert!(caller.authorize("acme-site", "jobs:create").is_err());
    assert!(caller.require_operator().is_err());
}

#[test]
fn array_claim_must_contain_a_value_of_the_rule() {
    for (groups, matches) in [
        (json!("docs"), true),
        (json!(["writers"]), true),
        (json!(["docs", 1, null]), true),
        (json!(["docs-evil"]), false),
        (json!(["doc", "s"]), false),
        (json!("docs writers"), false),
        (json!([["docs"]]), false),
        (json!({ "docs": "docs" }), false),
    ] {
        let claims = change(team_claims(), "groups", Some(groups.clone()));
        let identified = identify_assertion(&token(&header(), &claims));
        assert_eq!(identified.is_ok(), matches, "{groups}");
    }
}

/// Returns a `TRUSTED_ISSUERS` value with the first issuer of [`issuers`], in which the property
/// `name` is set to `value`. `None` removes the property.
fn issuer_with(name: &str, value: Option<Value>) -> Value {
    json!([change(issuers()[0].clone(), name, value)])
}

/// Like [`issuer_with`], for a property of the issuer's first rule. Omits the issuer's other rules.
fn rule_with(name: &str, value: Option<Value>) -> Value {
    let rule = change(issuers()[0]["rules"][0].clone(), name, value);
    issuer_with("rules", Some(json!([rule])))
}

#[test]
fn valid_trusted_issuers_are_accepted() {
    let read = read_trusted_issuers(&issuers().to_string()).unwrap();
    let [github, team] = &read[..] else {
        panic!("two issuers");
    };
    assert_eq!(github.issuer, GITHUB);
    assert_eq!(github.audiences, ["quillgate"]);
    assert_eq!((github.source, github.rules.len()), (Source::Bearer, 3));
    assert_eq!(team.audiences, ["first-app", "second-app"]);
    assert_eq!(
        (team.source, team.rules.len()),
        (Source::AccessAssertion, 1)
    );
    assert_eq!(read_trusted_issuers("[]"), Ok(Vec::new()));
}

#[test]
fn malformed_issuer_is_rejected() {
    for (name, value) in [
        ("issuer", None),
        ("issuer", Some(json!(1))),
        ("issuer", Some(json!(""))),
        ("issuer", Some(json!("quillgate"))),
        ("issuer", Some(json!("https://issuer.example "))),
        ("issuer", Some(json!("https://issüer.example"))),
        ("issuer", Some(json!("x".repeat(513)))),
        ("audience", None),
        ("audience", Some(json!(""))),
        ("audience", Some(json!([]))),
        ("audience", Some(json!(["quillgate", 1]))),
        ("jwks", None),
        ("jwks", Some(json!({ "keys": [] }))),
        ("jwks", Some(json!("http://issuer.example/jwks"))),
        ("jwks", Some(json!("http://localhost.evil.example/jwks"))),
        (
            "jwks",
            Some(json!("https://user:hunter2@issuer.example/jwks")),
        ),
        ("jwks", Some(json!("data:application/json,{}"))),
        ("header", Some(json!(null))),
        ("header", Some(json!("authorization"))),
        ("rules", None),
        ("rules", Some(json!({}))),
        ("rules", Some(json!([null]))),
        ("audiences", Some(json!(["quillgate"]))),
    ] {
        let read = config_of(&issuer_with(name, value.clone()));
        let error = read.err().unwrap_or_else(|| panic!("{name}: {value:?}"));
        assert!(error.starts_with("must ") && !error.contains("hunter2"));
    }
    for text in [
        "",
        "null",
        "{}",
        "[{}]",
        r#"["https://issuer.example"]"#,
        &issuers().to_string()[1..],
        &issuers()
            .to_string()
            .replacen('{', r#"{"issuer":"https://issuer.example","#, 1),
        &issuers()
            .to_string()
            .replacen(r#""scope""#, r#""scope":"jobs:read","scope""#, 1),
        &issuers()
            .to_string()
            .replacen(r#""ref":"#, r#""ref":"refs/tags/x","ref":"#, 1),
    ] {
        assert!(read_trusted_issuers(text).is_err(), "{text}");
    }
}

#[test]
fn clear_text_key_urls_must_be_loopback() {
    for jwks in [
        "http://127.0.0.1:9000/jwks",
        "http://localhost/jwks",
        "http://[::1]:1/",
    ] {
        assert!(
            config_of(&issuer_with("jwks", Some(json!(jwks)))).is_ok(),
            "{jwks:?}"
        );
    }
}

#[test]
fn issuer_must_be_unique_per_header() {
    let github = issuers()[0].clone();
    let by_access = change(
        github.clone(),
        "header",
        Some(json!("cf-access-jwt-assertion")),
    );
    assert!(config_of(&json!([github, by_access])).is_ok());
    assert!(config_of(&json!([github, github])).is_err());
    assert!(config_of(&json!([by_access, github, by_access])).is_err());
}

#[test]
fn malformed_rule_is_rejected() {
    for (name, value) in [
        ("claims", None),
        ("claims", Some(json!({}))),
        ("claims", Some(json!("repository"))),
        ("claims", Some(json!({ "repository": [] }))),
        ("claims", Some(json!({ "repository": ["acme/docs", null] }))),
        (
            "claims",
            Some(json!({ "repository": ["acme/docs", ["x"]] })),
        ),
        ("claims", Some(json!({ "run_attempt": 1.5 }))),
        ("projects", None),
        ("projects", Some(json!([]))),
        ("projects", Some(json!([""]))),
        ("projects", Some(json!(["acme-docs", 1]))),
        ("scope", None),
        ("scope", Some(json!(""))),
        ("scope", Some(json!("*"))),
        ("scope", Some(json!("jobs:reed"))),
        ("scope", Some(json!("jobs:read,jobs:create"))),
        ("scopes", Some(json!("jobs:read"))),
        ("quota", Some(json!(null))),
        ("quota", Some(json!("10"))),
        ("quota", Some(json!({ "create-jobs": 10 }))),
        ("ceiling", Some(json!(null))),
        ("ceiling", Some(json!({ "create": 10 }))),
        ("caller", Some(json!(null))),
        ("caller", Some(json!("repository_id"))),
        ("caller", Some(json!([""]))),
        ("caller", Some(json!(["repository_id", 1]))),
    ] {
        let read = config_of(&rule_with(name, value.clone()));
        assert!(read.is_err(), "{name}: {value:?}");
    }
    assert!(
        config_of(&issuer_with("rules", Some(json!([])))).is_ok(),
        "denies all"
    );
}

#[test]
fn operator_only_rule_needs_no_project() {
    let operator = json!([{
        "claims": { "repository": "acme/docs" },
        "projects": [],
        "scope": "gateway:operate",
    }]);
    let config = config_of(&issuer_with("rules", Some(operator)))
        .ok()
        .unwrap();
    let authorization = format!("Bearer {}", token(&header(), &claims()));
    let credentials = in_authorization(&authorization);
    let caller = identify(&credentials, &config).unwrap();
    assert!(caller.require_operator().is_ok());
    assert!(caller.authorize("acme-docs", "jobs:read").is_err());
}
