use quillgate::{RateLimitPolicy, Scope};
use quillgate_worker::auth::caller::{Caller, OPERATE};
use quillgate_worker::auth::trusted_issuer::{Source, read_trusted_issuers};
use serde_json::{Value, json};

use super::{
    GITHUB, assert_accepted, claims, config_of, docs_rule, header, identify, identify_assertion,
    identify_bearer, issuers, team_claims, token,
};
use crate::fixtures::{Predicate, change, each, in_authorization, merge, summarize};

#[track_caller]
fn assert_not_mapped(claims: &Value) {
    let problem = identify_bearer(&token(&header(), claims)).unwrap_err();
    assert_eq!(summarize(&problem), "403 identity-not-mapped");
    let challenge = "Bearer realm=\"quillgate\", error=\"insufficient_scope\"";
    let expected = [("www-authenticate", challenge.to_owned())];
    assert_eq!(problem.headers, expected);
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
        ("acme-docs", "jobs:create", ""),
        ("acme-docs", "jobs:read", ""),
        ("acme-docs", "analytics:read", "insufficient-scope"),
        ("acme-docs", "jobs:create jobs:read", "insufficient-scope"),
        ("acme-site", "analytics:read", "project-not-allowed"),
        ("*", "jobs:read", "project-not-allowed"),
    ] {
        let problem = caller.authorize(project, scope).err();
        let found = problem.map_or("", |problem| problem.kind.as_str());
        assert_eq!(found, kind, "{project} {scope}");
    }
    assert!(caller.require_anywhere(OPERATE).is_err());
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
    for repository in each(json!([
        "acme/docs-evil", "evil/acme/docs", "acme/doc", "Acme/docs", " acme/docs", "acme/docs\u{0}",
        "acme/docs,acme/other", "*", "", { "acme/docs": true }, [], null,
    ])) {
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
    let grants = json!({
        "projects": ["acme-site", "*"],
        "scope": "jobs:create analytics:read gateway:operate",
        "quota": { "create-job": 1_000_000 },
        "grants": [{ "projects": ["acme-site"], "scopes": ["jobs:create"] }],
    });
    let caller = assert_accepted(&token(&header(), &merge(claims(), &grants)));
    assert_eq!(caller, assert_accepted(&token(&header(), &claims())));
    assert!(caller.authorize("acme-site", "jobs:create").is_err());
    assert!(caller.require_anywhere(OPERATE).is_err());
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
    assert_eq!(read.len(), 2);
    let (github, team) = (&read[0], &read[1]);
    assert_eq!(github.issuer, GITHUB);
    assert_eq!(github.audiences, ["quillgate"]);
    assert_eq!((github.source, github.rules.len()), (Source::Bearer, 3));
    assert_eq!(team.audiences, ["first-app", "second-app"]);
    let expected = (Source::AccessAssertion, 1);
    assert_eq!((team.source, team.rules.len()), expected);
    assert_eq!(read_trusted_issuers("[]"), Ok(Vec::new()));
}

#[test]
fn malformed_issuer_is_rejected() {
    let absent = ["issuer", "audience", "jwks", "rules"].map(|name| (name, None));
    let wrong = [
        ("issuer", json!(1)),
        ("issuer", json!("")),
        ("issuer", json!("quillgate")),
        ("issuer", json!("https://issuer.example ")),
        ("issuer", json!("https://issüer.example")),
        ("issuer", json!("x".repeat(513))),
        ("audience", json!("")),
        ("audience", json!([])),
        ("audience", json!(["quillgate", 1])),
        ("jwks", json!({ "keys": [] })),
        ("jwks", json!("http://issuer.example/jwks")),
        ("jwks", json!("http://localhost.evil.example/jwks")),
        ("jwks", json!("https://user:hunter2@issuer.example/jwks")),
        ("jwks", json!("data:application/json,{}")),
        ("header", json!(null)),
        ("header", json!("authorization")),
        ("rules", json!({})),
        ("rules", json!([null])),
        ("audiences", json!(["quillgate"])),
    ];
    let wrong = wrong.map(|(name, value)| (name, Some(value)));
    for (name, value) in absent.into_iter().chain(wrong) {
        let read = config_of(&issuer_with(name, value.clone()));
        let error = read.err().unwrap_or_else(|| panic!("{name}: {value:?}"));
        assert!(error.starts_with("must ") && !error.contains("hunter2"));
    }
    let text = issuers().to_string();
    let is_valid = |text: &str| read_trusted_issuers(text).is_ok();
    is_valid.rejects(&[
        "",
        "null",
        "{}",
        "[{}]",
        r#"["https://issuer.example"]"#,
        &text[1..],
        &text.replacen('{', r#"{"issuer":"https://issuer.example","#, 1),
        &text.replacen(r#""scope""#, r#""scope":"jobs:read","scope""#, 1),
        &text.replacen(r#""ref":"#, r#""ref":"refs/tags/x","ref":"#, 1),
    ]);
}

#[test]
fn clear_text_key_urls_must_be_loopback() {
    for jwks in ["http://127.0.0.1:9000/jwks", "http://[::1]:1/"] {
        let config = config_of(&issuer_with("jwks", Some(json!(jwks))));
        assert!(config.is_ok(), "{jwks}");
    }
}

#[test]
fn issuer_must_be_unique_per_header() {
    let github = issuers()[0].clone();
    let header = json!("cf-access-jwt-assertion");
    let by_access = change(github.clone(), "header", Some(header));
    assert!(config_of(&json!([github, by_access])).is_ok());
    assert!(config_of(&json!([github, github])).is_err());
    assert!(config_of(&json!([by_access, github, by_access])).is_err());
}

#[test]
fn malformed_rule_is_rejected() {
    let absent = ["claims", "projects", "scope"].map(|name| (name, None));
    let wrong = [
        ("claims", json!({})),
        ("claims", json!("repository")),
        ("claims", json!({ "repository": [] })),
        ("claims", json!({ "repository": ["acme/docs", null] })),
        ("claims", json!({ "repository": ["acme/docs", ["x"]] })),
        ("claims", json!({ "run_attempt": 1.5 })),
        ("projects", json!([])),
        ("projects", json!([""])),
        ("projects", json!(["acme-docs", 1])),
        ("scope", json!("")),
        ("scope", json!("*")),
        ("scope", json!("jobs:reed")),
        ("scope", json!("jobs:read,jobs:create")),
        ("scopes", json!("jobs:read")),
        ("quota", json!(null)),
        ("quota", json!("10")),
        ("quota", json!({ "create-jobs": 10 })),
        ("ceiling", json!(null)),
        ("ceiling", json!({ "create": 10 })),
        ("caller", json!(null)),
        ("caller", json!("repository_id")),
        ("caller", json!([""])),
        ("caller", json!(["repository_id", 1])),
    ];
    let wrong = wrong.map(|(name, value)| (name, Some(value)));
    for (name, value) in absent.into_iter().chain(wrong) {
        let read = config_of(&rule_with(name, value.clone()));
        assert!(read.is_err(), "{name}: {value:?}");
    }
    let denies_all = issuer_with("rules", Some(json!([])));
    assert!(config_of(&denies_all).is_ok());
}

#[test]
fn refusal_of_an_unknown_scope_names_every_scope() {
    let error = config_of(&rule_with("scope", Some(json!("jobs:reed")))).err();
    let error = error.expect("a refusal");
    let names = Scope::ALL.map(Scope::as_str);
    let listed = format!("{} and {}", names[..7].join(", "), names[7]);
    assert!(error.contains(&listed), "{error}");
}

#[test]
fn operator_only_rule_needs_no_project() {
    let operator = docs_rule(&json!({ "projects": [], "scope": "gateway:operate" }));
    let config = config_of(&issuer_with("rules", Some(json!([operator])))).unwrap();
    let authorization = format!("Bearer {}", token(&header(), &claims()));
    let credentials = in_authorization(&authorization);
    let caller = identify(&credentials, &config).unwrap();
    assert!(caller.require_anywhere(OPERATE).is_ok());
    assert!(caller.authorize("acme-docs", "jobs:read").is_err());
}
