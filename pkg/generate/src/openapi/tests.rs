//! Compares the document with the gateway's tables.

use std::collections::BTreeSet;

use quillgate::declaration::Place;
use quillgate::{ApiError, Method, Millis, Operation, Policy, Rule, ValidationError};
use quillgate_worker::app::config::Config;
use quillgate_worker::auth as identity;
use quillgate_worker::auth::caller::{Caller, Grant, Quota};
use quillgate_worker::auth::oidc::SignatureCheck;
use quillgate_worker::auth::session;
use quillgate_worker::auth::session::cookie::Cookie;
use quillgate_worker::auth::session::{cross_site, sign_in};
use quillgate_worker::auth::turnstile;
use quillgate_worker::auth::turnstile::Turnstile;
use quillgate_worker::auth::{Credentials, Evidence, Identified, VerifiedTokens, invalid_token};
use quillgate_worker::budget;
use quillgate_worker::budget::{BudgetSnapshot, Decision, Used};
use quillgate_worker::http::gateway_rule::GatewayRule;
use quillgate_worker::http::problem::Problem;
use quillgate_worker::http::problem_kind::{KindStatus, ProblemKind};
use quillgate_worker::http::request_head::RequestHead;
use quillgate_worker::http::{content, cors};
use quillgate_worker::jobs::idempotency;
use quillgate_worker::jobs::idempotency::{KeyDecision, KeyRecord, KeyState, Retry};
use quillgate_worker::jobs::{records, webhook};
use quillgate_worker::upstream::breaker::{Breakers, CallOutcome, MAX_FAILURES, Scope};
use quillgate_worker::upstream::failure;
use quillgate_worker::upstream::head::UpstreamHead;
use quillgate_worker::upstream::permits;
use quillgate_worker::upstream::transport_error::TransportError;
use serde_json::{Map, Value};

use super::description;
use super::problems::schema_name;

/// The gateway's own operations: path and operation id.
const OWN: [(&str, &str); 14] = [
    ("/healthz", "gateway.health"),
    ("/healthz", "gateway.healthHead"),
    ("/healthz/closures/analytics", "gateway.reopenAnalytics"),
    ("/healthz/closures/{policy}", "gateway.reopen"),
    ("/openapi.json", "gateway.description"),
    ("/openapi.json", "gateway.descriptionHead"),
    ("/session", "gateway.session"),
    ("/session", "gateway.sessionHead"),
    ("/session", "gateway.openSession"),
    ("/session", "gateway.endSession"),
    ("/session/methods", "gateway.sessionMethods"),
    ("/session/methods", "gateway.sessionMethodsHead"),
    ("/session/start", "gateway.startSignIn"),
    ("/session/callback", "gateway.concludeSignIn"),
];

/// Returns all operations of the document.
fn operations() -> Vec<(String, String, Value)> {
    let document = description();
    let of_path = |(path, item): (&String, &Value)| {
        let operations = item.as_object().expect("a path item");
        let one = |(method, operation): (&String, &Value)| {
            (method.to_uppercase(), path.clone(), operation.clone())
        };
        operations.iter().map(one).collect::<Vec<_>>()
    };
    document["paths"]
        .as_object()
        .expect("paths")
        .iter()
        .flat_map(of_path)
        .collect()
}

/// Returns the Operation Object of a declared operation.
fn find(operation: Operation) -> Value {
    let declared = operation.declaration();
    let found = operations()
        .into_iter()
        .find(|(method, path, _)| method == declared.method.as_str() && path == declared.path);
    found
        .unwrap_or_else(|| panic!("{} is not described", declared.name))
        .2
}

#[test]
fn every_operation_of_the_table_is_described_and_nothing_else() {
    let id = |operation: &Value| operation["operationId"].as_str().map(str::to_owned);
    let described: BTreeSet<_> = operations()
        .into_iter()
        .map(|(method, path, operation)| (path, id(&operation).expect("an id"), method))
        .filter(|(path, id, _)| !OWN.contains(&(path, id)))
        .collect();
    let table: BTreeSet<_> = Operation::ALL
        .iter()
        .map(|operation| operation.declaration())
        .flat_map(|it| {
            let own = (
                it.path.to_owned(),
                it.name.to_owned(),
                it.method.as_str().to_owned(),
            );
            // Every `GET` operation has a `HEAD` variant.
            let head = (it.method == Method::Get).then(|| {
                let name = format!("{}Head", it.name);
                (it.path.to_owned(), name, "HEAD".to_owned())
            });
            std::iter::once(own).chain(head)
        })
        .collect();
    assert_eq!(described, table);
}

#[test]
fn an_operation_needs_the_scope_that_the_table_says() {
    for operation in Operation::ALL.iter().copied() {
        let security = &find(operation)["security"];
        let operation = operation.declaration();
        for scheme in security.as_array().expect("security") {
            let scopes: Vec<_> = scheme.as_object().expect("a scheme").values().collect();
            assert_eq!(
                scopes,
                [&serde_json::json!([operation.scope.as_str()])],
                "{}",
                operation.name
            );
        }
        assert_eq!(
            security.as_array().map(Vec::len),
            Some(2),
            "{}",
            operation.name
        );
    }
}

#[test]
fn an_operation_takes_the_parameters_of_the_table_and_no_others() {
    for operation in Operation::ALL.iter().copied() {
        let described = find(operation);
        let operation = operation.declaration();
        let own = |own: &&Value| own["in"] == "path" || own["in"] == "query";
        let mut found: Vec<_> = described["parameters"]
            .as_array()
            .expect("parameters")
            .iter()
            .filter(own)
            .map(|own| {
                (
                    own["in"].clone(),
                    own["name"].clone(),
                    own["required"].clone(),
                )
            })
            .collect();
        assert_eq!(
            found.remove(0),
            ("path".into(), "projectId".into(), true.into())
        );
        let outside = operation
            .parameters
            .iter()
            .filter(|own| own.place != Place::Body);
        let expected: Vec<_> = outside
            .map(|own| {
                let place = if own.place == Place::Path {
                    "path"
                } else {
                    "query"
                };
                (place.into(), own.name.into(), own.is_required.into())
            })
            .collect();
        assert_eq!(found, expected, "{}", operation.name);

        let body = &described["requestBody"]["content"]["application/json"]["schema"];
        let members: BTreeSet<_> = body["properties"]
            .as_object()
            .into_iter()
            .flat_map(Map::keys)
            .cloned()
            .collect();
        let expected = operation
            .parameters
            .iter()
            .filter(|own| own.place == Place::Body);
        assert_eq!(members, expected.map(|own| own.name.to_owned()).collect());
        assert!(members.is_empty() || body["additionalProperties"] == false);
    }
}

#[test]
fn every_reference_leads_somewhere() {
    fn references(value: &Value, found: &mut Vec<String>) {
        match value {
            Value::Object(members) => {
                found.extend(
                    members
                        .get("$ref")
                        .and_then(Value::as_str)
                        .map(str::to_owned),
                );
                members
                    .values()
                    .for_each(|member| references(member, found));
            }
            Value::Array(items) => items.iter().for_each(|item| references(item, found)),
            _ => {}
        }
    }
    let document = description();
    let mut found = Vec::new();
    references(&document, &mut found);
    assert!(found.len() > 100, "{} references", found.len());
    for reference in found {
        let place = reference
            .strip_prefix('#')
            .expect("a place in the document");
        assert!(document.pointer(place).is_some(), "{reference}");
    }
}

#[test]
fn every_kind_of_problem_is_described_and_occurs_somewhere() {
    let document = description();
    let responses = document["paths"].to_string();
    for kind in ProblemKind::ALL.iter().copied() {
        let name = schema_name(kind);
        let schema = &document["components"]["schemas"][&name];
        assert_eq!(schema["properties"]["title"]["const"], kind.title());
        let words = schema["description"].as_str().expect("a description");
        for line in kind.documentation() {
            assert!(words.contains(line.trim()), "{words}");
        }
        let status = &schema["properties"]["status"]["const"];
        match kind.status() {
            KindStatus::Always(own) => assert_eq!(*status, own),
            KindStatus::Upstream => assert!(status.is_null()),
        }
        let reference = format!("#/components/schemas/{name}\"");
        assert!(responses.contains(&reference), "{name} occurs nowhere");
    }
}

#[test]
fn every_rule_and_every_policy_is_described() {
    let document = description();
    let problem = &document["components"]["schemas"]["Problem"]["properties"];
    let rules = &problem["errors"]["items"]["properties"]["rule"]["enum"];
    let rules = rules.as_array().expect("rules");
    for rule in GatewayRule::ALL {
        assert!(rules.contains(&rule.as_str().into()), "{rule:?}");
    }
    let core = Rule::ALL.map(Rule::name);
    let own = GatewayRule::ALL.map(GatewayRule::as_str);
    for rule in rules.iter().filter_map(Value::as_str) {
        assert!(core.contains(&rule) || own.contains(&rule), "{rule}");
    }
    let policies = &problem["violated-policies"]["items"]["enum"];
    let policies = policies.as_array().expect("policies");
    for policy in Policy::ALL {
        assert!(policies.contains(&policy.as_str().into()));
        let own = format!("{}-caller", policy.as_str());
        assert!(policies.contains(&own.into()));
    }
    assert_eq!(policies.len(), 2 * Policy::ALL.len());
}

#[test]
fn a_page_may_send_and_read_every_header_field_that_is_described() {
    let named = |section: &str| -> BTreeSet<String> {
        let document = description();
        let names = document["components"][section]
            .as_object()
            .expect("names")
            .keys();
        names
            .map(|name| name.trim_end_matches(".always").to_lowercase())
            .collect()
    };
    // Security schemes and media types cover the first two. The gateway ignores the third.
    let undescribed = ["authorization", "content-type", "quillgate-client"];
    let sent = without(listed(cors::SENT), &undescribed);
    assert_eq!(named("parameters"), sent);
    // Pages can always read the first two, and have no use for the others.
    let unsaid = ["cache-control", "content-language", "allow", "accept-post"];
    let exposed = listed(cors::EXPOSED);
    assert_eq!(without(named("headers"), &unsaid), exposed);
}

/// Splits a comma-separated list of names and converts them to lower case.
fn listed(names: &str) -> BTreeSet<String> {
    names.split(", ").map(str::to_lowercase).collect()
}

fn without(mut names: BTreeSet<String>, others: &[&str]) -> BTreeSet<String> {
    names.retain(|name| !others.contains(&name.as_str()));
    names
}

/// Asserts that a problem matches the schema of its kind.
fn assert_described(problem: &Problem) {
    let kind = problem.kind;
    let document = description();
    let schema = &document["components"]["schemas"][schema_name(kind)];
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
        assert_eq!(json[member], expected["const"], "{kind:?}: {member}");
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
fn problems_are_as_their_kinds_are_described() {
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
    // Every kind must occur, so that every schema is checked.
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
        Problem::invalid(&ValidationError::new("limit", Rule::PAGE_SIZE, "")),
        Problem::malformed_body(),
        Problem::webhooks_off(),
        Problem::webhook_on_follow_up(),
        Problem::no_webhook_hosts(),
        Problem::issuer_unavailable(),
        Problem::object_unavailable(),
        failure::mark_uncertain(Problem::object_unavailable(), Method::Post),
        Problem::internal(),
        Problem::job_not_recorded(),
        Problem::too_many_streams("the caller", 100),
        records::decode_cursor("?").expect_err("not a cursor"),
        webhook::check_address("http://a", &["b".to_owned()]).expect_err("not an allowed host"),
        Retry::read(Some("again")).expect_err("not force"),
        turnstile()
            .require(None, "https://a")
            .expect_err("no response"),
        turnstile::failed_problem(),
        turnstile::unavailable_problem(),
    ]
}

fn turnstile() -> Turnstile {
    Turnstile {
        secret: "s".to_owned(),
        site_key: "k".to_owned(),
        verify_url: "https://a".to_owned(),
    }
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
    // 256 bytes, the signature size of a 2048-bit key.
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
        Identified::Needs(Evidence::Signature(token)) => {
            let token = token.conclude(SignatureCheck::Valid)?;
            verified.identify(&token, &config.auth, now)
        }
        Identified::Caller(caller) => Ok(caller),
        Identified::Needs(Evidence::Session(_)) => Err(Problem::internal()),
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
        caller.require_operator().expect_err("another scope"),
        cors::check_origin(Some("https://b"), "https://a/", &[]).expect_err("another origin"),
        session::problem::ended_problem(),
        session::problem::missing_problem(),
        sign_in::failed_problem("not begun here"),
        cross_site::check_same_origin(&cross_site_head()).expect_err("another site"),
    ]
}

/// Returns the head of a request from another site's page.
fn cross_site_head() -> RequestHead {
    let (method, url) = ("POST".to_owned(), "https://a/session".to_owned());
    RequestHead::read("uuid".to_owned(), method, url, |_| None)
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
    let classify = |status| {
        let head = UpstreamHead {
            status,
            ..UpstreamHead::default()
        };
        failure::classify_error(&head, "", Method::Post, &config.upstream, Millis(1_000_000))
            .problem
    };
    let transport = |error, method| failure::classify_transport_error(error, method).problem;
    vec![
        classify(200),
        classify(302),
        classify(401),
        classify(404),
        classify(429),
        classify(503),
        failure::key_refused_problem(),
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
    let scope = Scope {
        policy: Some(Policy::CreateJob),
        project: "acme".to_owned(),
    };
    for _ in 0..MAX_FAILURES {
        let failed = CallOutcome::Failed {
            target: None,
            retry_after: None,
        };
        breakers.record(&scope, failed, now);
    }
    let snapshot = BudgetSnapshot {
        policy: Policy::Analytics,
        limit: 1,
        window: 1000,
        now: now.0,
        caller: "a".to_owned(),
        quota: Some(1),
        ceilings: Vec::new(),
        blocked_until: None,
        used: vec![Used {
            caller: "a".to_owned(),
            count: 1,
            oldest: now.0,
        }],
    };
    let Decision::Refused(refused) = budget::decide(&snapshot) else {
        panic!("the budget is spent")
    };
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
        breakers.allow(&scope, now).expect_err("an open breaker"),
        permits::busy_problem(),
        refused.problem,
        repeat(KeyState::Running, "first"),
        repeat(KeyState::Unknown, "first"),
        repeat(KeyState::Deleted, "first"),
        repeat(KeyState::Done, "other"),
    ]
}
