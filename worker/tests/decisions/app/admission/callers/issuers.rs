//! Admission of trusted issuers' tokens.

use quillgate_worker::app::admission::Admission;
use quillgate_worker::auth::Identity;
use serde_json::json;

use super::super::{DEEP, JOBS, OPERATIONS, VIEWS, get, post};
use super::{ISSUERS, issuers_bearer};
use crate::fixtures::{RequestHead, SECONDS, admit, admit_identified, configure};

#[test]
fn issuer_token_is_verified_before_it_is_used() {
    let config = configure(&[("TRUSTED_ISSUERS", Some(ISSUERS))]);
    let bearer = issuers_bearer(&json!({ "team": "docs", "admin": true }));
    let asked = OPERATIONS.map(|(method, url, ..)| (method, url));
    for (method, url) in asked.into_iter().chain([("GET", DEEP)]) {
        let head = RequestHead {
            method,
            ..post(url, &bearer)
        };
        let unverified = admit(&config, &head);
        assert_eq!(unverified.facts.caller, None, "{url}");
        assert_eq!(unverified.facts.project, None, "{url}");
        let Ok(Admission::Unidentified {
            identity: Identity::Unverified(token),
            ..
        }) = unverified.result
        else {
            panic!("{url}");
        };
        assert_eq!(token.jwks(), "https://issuer.example/jwks");
        assert_eq!(token.kid.as_deref(), Some("key-1"));
        let verified = admit_identified(&config, &head, None);
        assert_eq!(
            verified.facts.caller.unwrap().key(),
            "https://issuer.example bob"
        );
        assert!(verified.result.is_ok(), "{url}");
    }
}

#[test]
fn an_assertion_identifies_its_caller_like_a_cookie() {
    const IN_ASSERTIONS: &str = r#"[{
        "issuer": "https://issuer.example",
        "audience": "quillgate",
        "jwks": "https://issuer.example/jwks",
        "header": "Cf-Access-Jwt-Assertion",
        "rules": [
            { "claims": { "team": "docs" }, "projects": ["demo-docs"], "scope": "analytics:read" }
        ]
    }]"#;
    for (issuers, by_cookie) in [(IN_ASSERTIONS, true), (ISSUERS, false)] {
        let config = configure(&[("TRUSTED_ISSUERS", Some(issuers))]);
        let bearer = issuers_bearer(&json!({ "team": "docs" }));
        let token = bearer.strip_prefix("Bearer ").unwrap();
        let head = RequestHead {
            authorization: (!by_cookie).then_some(&*bearer),
            access_assertion: Some(token),
            ..get(VIEWS, "")
        };
        let facts = admit_identified(&config, &head, None).facts;
        assert!(facts.caller.is_some());
        assert_eq!(facts.is_by_cookie, by_cookie);
    }
}

#[test]
fn verified_token_is_limited_to_its_projects_and_scopes() {
    let config = configure(&[("TRUSTED_ISSUERS", Some(ISSUERS))]);
    let kind = |token: &str, url: &str| {
        let outcome = admit_identified(&config, &get(url, token), None);
        outcome.result.err().unwrap().kind.as_str()
    };
    let docs = issuers_bearer(&json!({ "team": "docs" }));
    assert_eq!(kind(&docs, DEEP), "insufficient-scope");
    let secret = JOBS.replace("demo-docs", "secret");
    assert_eq!(kind(&docs, &secret), "project-not-allowed");
    let admin = issuers_bearer(&json!({ "admin": true }));
    assert_eq!(kind(&admin, JOBS), "project-not-allowed");
    let expired = issuers_bearer(&json!({ "team": "docs", "exp": SECONDS - 61 }));
    assert_eq!(kind(&expired, JOBS), "invalid-token");
}
