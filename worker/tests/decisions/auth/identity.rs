use std::rc::Rc;

use quillgate::Millis;
use quillgate_worker::app::config::Config;
use quillgate_worker::auth::caller::Caller;
use quillgate_worker::auth::{Identity, VerifiedTokens, identify};
use quillgate_worker::http::problem::Problem;
use serde_json::json;

use crate::fixtures::{
    EXPIRED, NOW, OTHER_ISSUER, SECONDS, access_issuer, assert_invalid_token, at, bearer, claims,
    claims_with, configuration, configure, identify_own, identify_signed, in_assertion,
    in_authorization, summarize, token, token_of_issuer, trusted_issuer, verify,
};

/// Returns a configuration with issuers that are trusted in one or both header fields.
fn config() -> Config {
    let rules = |project: &str| json!([{ "claims": { "team": "docs" }, "projects": [project], "scope": "jobs:read" }]);
    let issuers = json!([
        trusted_issuer("both", &rules("demo-docs")),
        access_issuer("both", &rules("access-docs")),
        trusted_issuer("bearer", &rules("demo-docs")),
        access_issuer("access", &rules("demo-docs")),
    ]);
    configure(&[("TRUSTED_ISSUERS", Some(&issuers.to_string()))])
}

fn foreign(issuer: &str) -> String {
    token_of_issuer(issuer, &json!({ "team": "docs" }))
}

/// A simulated isolate. Its requests share a cache of verified tokens.
struct Isolate {
    config: Config,
    verified: VerifiedTokens,
}

impl Isolate {
    fn new() -> Self {
        Self {
            config: config(),
            verified: VerifiedTokens::default(),
        }
    }

    /// Returns the caller of a bearer token.
    fn bearer(&mut self, token: &str, now: Millis) -> Result<Identity, Problem> {
        let authorization = format!("Bearer {token}");
        let credentials = in_authorization(&authorization);
        identify(&credentials, &self.config.auth, now, &mut self.verified)
    }

    /// Like [`Self::bearer`], for a token in `Cf-Access-Jwt-Assertion`.
    fn assertion(&mut self, token: &str, now: Millis) -> Result<Identity, Problem> {
        let credentials = in_assertion(token);
        identify(&credentials, &self.config.auth, now, &mut self.verified)
    }

    /// Returns the caller of a bearer token, as if the host had verified the signature.
    fn verified_bearer(&mut self, token: &str, now: Millis) -> Result<Rc<Caller>, Problem> {
        let authorization = format!("Bearer {token}");
        let credentials = in_authorization(&authorization);
        identify_signed(&credentials, &self.config.auth, now, &mut self.verified)
    }

    fn verified_assertion(&mut self, token: &str, now: Millis) -> Result<Rc<Caller>, Problem> {
        let credentials = in_assertion(token);
        identify_signed(&credentials, &self.config.auth, now, &mut self.verified)
    }
}

#[track_caller]
fn expect_caller(identified: Result<Identity, Problem>) -> Rc<Caller> {
    match identified {
        Ok(Identity::Known(caller)) => caller,
        other => panic!("not a caller: {other:?}"),
    }
}

#[track_caller]
fn assert_unverified(identified: &Result<Identity, Problem>) {
    let is_unverified = matches!(identified, Ok(Identity::Unverified(_)));
    assert!(is_unverified, "{identified:?}");
}

#[test]
fn missing_bearer_token_gets_a_challenge_without_error() {
    let valid = token(&claims());
    for authorization in [
        None,
        Some(""),
        Some("Bearer"),
        Some("Bearer   "),
        Some(&*valid),
        Some(&*format!("Basic {valid}")),
        Some(&*format!("BearerX {valid}")),
        Some(&*format!("Bearer\t{valid}")),
        Some(&*format!(" Bearer {valid}")),
        Some(&*format!("Basic Zm9v, Bearer {valid}")),
    ] {
        let problem = identify_own(&configuration(), authorization).unwrap_err();
        let expected = "401 missing-token";
        assert_eq!(summarize(&problem), expected, "{authorization:?}");
        let challenge = [("www-authenticate", "Bearer realm=\"quillgate\"".to_owned())];
        assert_eq!(problem.headers, challenge, "{authorization:?}");
    }
}

#[test]
fn scheme_name_is_case_insensitive() {
    let token = token(&claims());
    for scheme in ["Bearer", "bearer", "BEARER", "bEaReR", "Bearer  "] {
        let authorization = format!("{scheme} {token}");
        let caller = identify_own(&configuration(), Some(&authorization));
        assert!(caller.is_ok(), "{scheme:?}");
    }
    assert!(identify_own(&configuration(), Some(&bearer())).is_ok());
}

#[test]
fn two_credentials_in_one_field_are_rejected() {
    let valid = token(&claims());
    for both in [
        format!("{valid}, Bearer {valid}"),
        format!("{valid},{valid}"),
        format!("{valid} {valid}"),
    ] {
        assert!(verify(&both).is_err(), "{both}");
    }
}

#[test]
fn issuer_token_is_verified_at_most_once_a_minute() {
    let mut isolate = Isolate::new();
    let token = foreign("both");
    assert_unverified(&isolate.bearer(&token, NOW));
    assert_unverified(&isolate.bearer(&token, NOW));
    let found = isolate.verified.count();
    assert_eq!(found, 0, "no caller is admitted before verification");
    let caller = isolate.verified_bearer(&token, NOW).unwrap();
    assert_eq!(caller.key(), "https://both.example bob");
    assert_eq!(isolate.verified.count(), 1);
    for seconds in [0, 1, 59] {
        let again = expect_caller(isolate.bearer(&token, at(seconds)));
        assert!(Rc::ptr_eq(&caller, &again), "after {seconds} s");
    }
    assert_unverified(&isolate.bearer(&token, at(60)));
    isolate.verified_bearer(&token, at(60)).unwrap();
    expect_caller(isolate.bearer(&token, at(119)));
    assert_eq!(isolate.verified.count(), 1);
}

#[test]
fn gateway_token_is_verified_once() {
    let mut isolate = Isolate::new();
    let token = token(&claims());
    let caller = expect_caller(isolate.bearer(&token, NOW));
    for seconds in [0, 60, 3599] {
        let again = expect_caller(isolate.bearer(&token, at(seconds)));
        assert!(Rc::ptr_eq(&caller, &again), "after {seconds} s");
    }
    assert_eq!(isolate.verified.count(), 1);
}

#[test]
fn cached_token_is_rejected_after_expiry() {
    let mut isolate = Isolate::new();
    for (name, value) in [
        ("exp", json!(SECONDS + 60)),
        ("exp", json!(1_750_000_059.5)),
        ("exp", json!(1_750_000_059.000_9)),
    ] {
        let token = token(&claims_with(name, Some(value)));
        expect_caller(isolate.bearer(&token, NOW));
        expect_caller(isolate.bearer(&token, at(59)));
        let problem = isolate.bearer(&token, at(60)).unwrap_err();
        assert_invalid_token(&problem, EXPIRED);
    }
}

#[test]
fn issuer_token_is_cached_no_longer_than_it_lives() {
    let mut isolate = Isolate::new();
    let token = token_of_issuer("both", &json!({ "team": "docs", "exp": SECONDS + 10 }));
    isolate.verified_bearer(&token, NOW).unwrap();
    expect_caller(isolate.bearer(&token, at(9)));
    // The token is accepted for a minute after `exp` but cached only until `exp`. After that, each
    // request verifies it again.
    assert_unverified(&isolate.bearer(&token, at(10)));
    isolate.verified_bearer(&token, at(69)).unwrap();
    assert_invalid_token(&isolate.bearer(&token, at(70)).unwrap_err(), EXPIRED);
}

#[test]
fn token_is_cached_per_header_field() {
    // The same issuer can be trusted for both fields, with different rules.
    let both = foreign("both");
    let mut isolate = Isolate::new();
    let by_assertion = isolate.verified_assertion(&both, NOW).unwrap();
    assert!(by_assertion.authorize("access-docs", "jobs:read").is_ok());
    assert_unverified(&isolate.bearer(&both, NOW));
    let by_bearer = isolate.verified_bearer(&both, NOW).unwrap();
    assert!(by_bearer.authorize("access-docs", "jobs:read").is_err());
    assert_unverified(&isolate.assertion(&both, NOW));

    let access = foreign("access");
    let mut isolate = Isolate::new();
    isolate.verified_assertion(&access, NOW).unwrap();
    assert_invalid_token(&isolate.bearer(&access, NOW).unwrap_err(), OTHER_ISSUER);
    expect_caller(isolate.assertion(&access, NOW));

    let bearer = foreign("bearer");
    let mut isolate = Isolate::new();
    isolate.verified_bearer(&bearer, NOW).unwrap();
    assert_invalid_token(&isolate.assertion(&bearer, NOW).unwrap_err(), OTHER_ISSUER);
    expect_caller(isolate.bearer(&bearer, NOW));
}

#[test]
fn cached_gateway_token_is_rejected_in_the_access_header() {
    let mut isolate = Isolate::new();
    let own = token(&claims());
    expect_caller(isolate.bearer(&own, NOW));
    assert_eq!(isolate.assertion(&own, NOW).unwrap_err().status, 401);
}

#[test]
fn only_valid_tokens_are_cached() {
    let mut isolate = Isolate::new();
    let own = token(&claims());
    for token in [
        "x".to_owned(),
        format!("{}A", &own[..own.len() - 1]),
        token(&claims_with("exp", Some(json!(SECONDS)))),
        token(&claims_with("iss", Some(json!("https://both.example")))),
        token_of_issuer("both", &json!({ "team": "docs", "exp": SECONDS - 60 })),
        token_of_issuer("both", &json!({ "team": "docs", "aud": "other" })),
        token_of_issuer("both", &json!({ "team": "sales" })),
        foreign("other"),
    ] {
        assert!(isolate.verified_bearer(&token, NOW).is_err(), "{token}");
        assert_eq!(isolate.verified.count(), 0, "{token}");
    }
    assert_unverified(&isolate.bearer(&foreign("both"), NOW));
    assert_eq!(isolate.verified.count(), 0);
}

#[test]
fn token_cache_is_bounded() {
    let mut isolate = Isolate::new();
    for number in 0..1_100 {
        let token = token(&claims_with("jti", Some(json!(number.to_string()))));
        expect_caller(isolate.bearer(&token, NOW));
    }
    assert_eq!(isolate.verified.count(), 1_000);

    // The cache is also limited to 1 MiB of tokens and claims: about 64 of the longest tokens.
    let mut isolate = Isolate::new();
    for number in 0..200 {
        let padded = format!("{number:05}{}", "x".repeat(5_900));
        let token = token(&claims_with("jti", Some(json!(padded))));
        assert!((8_000..=8_192).contains(&token.len()), "{}", token.len());
        expect_caller(isolate.bearer(&token, NOW));
    }
    let count = isolate.verified.count();
    assert!((60..=65).contains(&count), "{count}");
}
