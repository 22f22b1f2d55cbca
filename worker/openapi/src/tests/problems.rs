//! Checks that a problem of each kind matches the schema of that kind.

use super::super::problems::schema_name;
use super::DOCUMENT;
use quillgate::{ApiError, Method, Millis, RateLimitPolicy, Rule, ValidationError};
use quillgate_worker::app::config::Config;
use quillgate_worker::auth as identity;
use quillgate_worker::auth::caller::{Caller, Grant, OPERATE, Quota};
use quillgate_worker::auth::session::cookie::Cookie;
use quillgate_worker::auth::session::{cross_site, sign_in};
use quillgate_worker::auth::{Credentials, Identity, VerifiedTokens, invalid_token};
use quillgate_worker::budget;
use quillgate_worker::budget::{BudgetSnapshot, LimitUsage};
use quillgate_worker::http::problem::Problem;
use quillgate_worker::http::problem_kind::ProblemKind;
use quillgate_worker::http::request_head::RequestHead;
use quillgate_worker::http::response::HeaderFields;
use quillgate_worker::http::{content, cors};
use quillgate_worker::jobs::idempotency;
use quillgate_worker::jobs::idempotency::{KeyDecision, KeyRecord, KeyState, Retry};
use quillgate_worker::jobs::{records, webhook};
use quillgate_worker::upstream::breaker::{Breakers, CallOutcome, Circuit, MAX_FAILURES};
use quillgate_worker::upstream::failure::{self, TransportError};
use quillgate_worker::upstream::head::UpstreamHead;
use quillgate_worker::upstream::permits;
use serde_json::Value;
use std::collections::BTreeSet;

/// Asserts that a problem matches the schema of its kind.
fn assert_described(problem: &Problem) {
    let kind = problem.kind;
    let schema = &DOCUMENT["components"]["schemas"][schema_name(kind)];
    let json: Value = serde_json::from_str(&problem.to_json("id")).expect("JSON");
    for member in json.as_object().expect("an object").keys() {
        let names = schema["propertyNames"]["enum"].as_array().expect("names");
        assert!(
            names.contains(&member.as_str().into()),
            "{kind:?} has {member}"
        );
    }
    for member in kind.members() {
        assert!(json.get(member).is_some(), "{kind:?} lacks {member}");
    }
    for (member, expected) in schema["properties"].as_object().expect("properties") {
        let expected = match member.as_str() {
            "title" => &expected["examples"][0],
            _ => &expected["const"],
        };
        assert_eq!(json[member], *expected, "{kind:?}: {member}");
    }
    for name in kind.headers() {
        let name = name.to_lowercase();
        assert!(
            problem.headers.iter().any(|(own, _)| *own == name),
            "{kind:?} lacks {name}"
        );
    }
}

#[test]
fn problems_match_the_schemas_of_their_kinds() {
    let problems = [
        simple_problems(),
        problems_of_callers(),
        problems_of_the_upstream(),
        problems_of_records(),
    ];
    let problems = problems.concat();
    for problem in &problems {
        assert_described(problem);
    }
    // A missing kind would leave its schema unchecked.
    let made: BTreeSet<_> = problems.iter().map(|problem| problem.kind).collect();
    assert_eq!(made, ProblemKind::ALL.iter().copied().collect());
}

fn simple_problems() -> Vec<Problem> {
    vec![
        Problem::not_found(),
        Problem::archive_not_configured("there is none"),
        Problem::method_not_allowed("GET, OPTIONS"),
        Problem::misconfigured("ADMIN_API_KEY", "is not set"),
        Problem::unsupported_media_type(),
        Problem::content_too_large(content::MAX_BODY),
        Problem::from(ValidationError::new("limit", Rule::PAGE_SIZE, "")),
        Problem::malformed_body("x"),
        Problem::webhooks_off(),
        Problem::webhook_without_end(),
        Problem::no_webhook_hosts(),
        Problem::issuer_unavailable(),
        Problem::object_unavailable(),
        failure::mark_uncertain(Problem::object_unavailable(), Method::Post),
        Problem::internal(),
        // Only exports use this kind, in their last record.
        Problem::new(ProblemKind::CountsChanged, "the totals changed"),
        Problem::job_not_recorded(),
        Problem::deployment_not_found(),
        Problem::too_many_streams("the caller", 100),
        records::decode_cursor("?").expect_err("not a cursor"),
        webhook::check_address("http://a", &["b".to_owned()]).expect_err("not an allowed host"),
        Retry::read(Some("again")).expect_err("not force"),
    ]
}

fn config() -> Config {
    let read = Config::read(|name| match name {
        "ADMIN_API_KEY" => Some("mint_a_key".to_owned()),
        "ACCESS_TOKEN_SECRET" => Some("s".repeat(32)),
        "TRUSTED_ISSUERS" => Some(ISSUERS.to_owned()),
        _ => None,
    });
    read.map_err(|error| error.to_string())
        .expect("a configuration")
}

const ISSUERS: &str = r#"[{
    "issuer": "i",
    "audience": "a",
    "jwks": "https://a",
    "rules": [{ "claims": { "team": "docs" }, "projects": ["a"], "scope": "jobs:read" }]
}]"#;

/// Returns an `Authorization` value with a trusted issuer's token that no rule matches. Its header
/// is `{"alg":"RS256","kid":"k"}`, its claims are
/// `{"iss":"i","aud":"a","sub":"s","exp":9999999999}`.
fn unmapped_token() -> String {
    let (header, claims) = (
        "eyJhbGciOiJSUzI1NiIsImtpZCI6ImsifQ",
        "eyJpc3MiOiJpIiwiYXVkIjoiYSIsInN1YiI6InMiLCJleHAiOjk5OTk5OTk5OTl9",
    );
    // A 2048-bit RSA key produces a 256-byte signature.
    let signature = ["A".repeat(340), "AA".to_owned()].concat();
    format!("Bearer {header}.{claims}.{signature}")
}

fn identify(authorization: Option<&str>) -> Problem {
    let credentials = Credentials {
        authorization,
        session: Cookie::Missing,
        access_assertion: None,
    };
    let (config, now) = (config(), Millis(1_750_000_000_000));
    let mut verified = VerifiedTokens::default();
    let identified = identity::identify(&credentials, &config.auth, now, &mut verified);
    let caller = identified.and_then(|identified| match identified {
        Identity::Unverified(token) => {
            Ok(verified.remember(token.into_verified(&config.auth.revoked)?, now))
        }
        Identity::Known(caller) => Ok(caller),
        Identity::Session(_) => Err(Problem::internal()),
    });
    caller.expect_err("no caller")
}

fn problems_of_callers() -> Vec<Problem> {
    let caller = Caller {
        issuer: "i".to_owned(),
        subject: "s".to_owned(),
        grants: vec![Grant::new(vec!["a".to_owned()], "jobs:read")],
        quota: Quota::default(),
        claims: None,
        shared: Vec::new(),
        expires: Millis(0),
    };
    vec![
        identify(None),
        identify(Some("Bearer x")),
        identify(Some(&unmapped_token())),
        invalid_token("the access token has expired"),
        caller
            .authorize("b", "jobs:read")
            .expect_err("another project"),
        caller
            .authorize("a", "jobs:create")
            .expect_err("another scope"),
        caller.require_anywhere(OPERATE).expect_err("another scope"),
        cors::check_origin(Some("https://b"), "https://a/", &[]).expect_err("another origin"),
        identity::ended_session_problem(),
        identity::missing_session_problem(),
        sign_in::failed_problem("not begun here"),
        cross_site::check_same_origin(&cross_site_head()).expect_err("another site"),
    ]
}

/// Returns the head of a `POST` without `Origin` and `Sec-Fetch-Site`, which counts as cross-site.
fn cross_site_head() -> RequestHead {
    let (method, url) = ("POST".to_owned(), "https://a/session".to_owned());
    RequestHead::read("uuid".to_owned(), method, url, HeaderFields::default())
}

fn problems_of_the_upstream() -> Vec<Problem> {
    let error = |status, details: &[&str]| ApiError {
        status,
        message: "no".to_owned(),
        details: details.iter().map(|text| (*text).to_owned()).collect(),
        code: None,
        request_id: None,
        retry_after: None,
    };
    let config = config();
    let classify = |status, body| {
        let head = UpstreamHead {
            status,
            ..UpstreamHead::default()
        };
        failure::classify_error(
            &head,
            body,
            Method::Post,
            &config.upstream,
            Millis(1_000_000),
        )
        .problem
    };
    let transport = |error, method| failure::classify_transport_error(error, method).problem;
    vec![
        classify(200, ""),
        classify(302, ""),
        classify(401, ""),
        classify(401, "your plan"),
        classify(403, "blocked"),
        classify(404, ""),
        classify(404, r#"{"error":"project not found"}"#),
        classify(429, ""),
        classify(503, ""),
        failure::classify_malformed(Method::Post).problem,
        transport(TransportError::Broken, Method::Get),
        transport(TransportError::TimedOut, Method::Post),
        failure::error_problem(&error(400, &["limit"]), Method::Get),
        failure::error_problem(&error(503, &[]), Method::Post),
        failure::error_problem(&error(999, &[]), Method::Get),
    ]
}

fn problems_of_records() -> Vec<Problem> {
    let now = Millis(1_000_000);
    let mut breakers = Breakers::default();
    let circuit = Circuit {
        policy: Some(RateLimitPolicy::CreateJob),
        project: "acme".to_owned(),
    };
    for _ in 0..MAX_FAILURES {
        let failed = CallOutcome::Failed {
            target: None,
            retry_after: None,
        };
        breakers.record(&circuit, failed, now);
    }
    let usage = LimitUsage {
        max: 1,
        count: 1,
        oldest: Some(now.0),
    };
    let snapshot = BudgetSnapshot {
        policy: RateLimitPolicy::Analytics,
        window: 1000,
        now: now.0,
        blocked_until: None,
        limit: usage,
        quota: Some(usage),
        ceilings: Vec::new(),
    };
    let refused = budget::decide(&snapshot).expect_err("a spent budget");
    let repeat = |state, fingerprint| {
        let record = KeyRecord {
            fingerprint: "first".to_owned(),
            state,
            at: now.0,
            status: None,
            headers: None,
            body: None,
        };
        match idempotency::decide(Some(&record), fingerprint, Retry::Normal, now) {
            KeyDecision::Refuse(problem) => problem,
            other => panic!("{other:?}"),
        }
    };
    vec![
        breakers.allow(&circuit, now).expect_err("an open breaker"),
        permits::busy_problem(),
        refused,
        repeat(KeyState::Running, "first"),
        repeat(KeyState::Unknown, "first"),
        repeat(KeyState::Deleted, "first"),
        repeat(KeyState::Done, "other"),
    ]
}
