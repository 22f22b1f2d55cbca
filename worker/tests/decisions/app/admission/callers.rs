use quillgate::RateLimitPolicy;
use quillgate_worker::app::admission::{Admission, describe_crash};
use quillgate_worker::app::config::Config;
use quillgate_worker::app::routes::Endpoint;
use quillgate_worker::auth::Identity;
use quillgate_worker::auth::caller::OPERATE;
use quillgate_worker::http::cors::Origin;
use serde_json::{Value, json};

use super::{
    CREATE, DEEP, EVENTS, JOBS, OPERATIONS, VIEWS, admit, bare, expect_refusal, get, post, refusal,
    with_scope,
};
use crate::fixtures::{
    self, RequestHead, SECONDS, access_issuer, admit_identified, bearer, bearer_of, change,
    claims_with, configure, field_and_rule, summarize, token_of_issuer, trusted_issuer,
};

#[test]
fn each_operation_requires_its_scope() {
    for (method, url, scope, _) in OPERATIONS {
        for held in ["jobs:create", "jobs:read", "analytics:read", OPERATE, ""] {
            let bearer = with_scope(held);
            let head = post(url, &bearer).method(method);
            match admit(&head).result {
                Ok(_) => assert_eq!(held, scope, "{method} {url}"),
                Err(problem) => {
                    let kind = problem.kind.as_str();
                    assert_eq!(kind, "insufficient-scope", "{method} {url}");
                    assert_ne!(held, scope, "{method} {url}");
                    let named = format!("scope=\"{scope}\"");
                    assert!(problem.headers[0].1.ends_with(&named), "{problem:?}");
                }
            }
        }
    }
}

#[test]
fn only_operators_can_read_the_health_report() {
    let bearer = with_scope("jobs:create jobs:read analytics:read");
    let outcome = admit(&get(DEEP, &bearer));
    assert_eq!(outcome.facts.route, Some("/healthz"));
    assert_eq!(outcome.facts.caller.unwrap().subject, "alice");
    let problem = outcome.result.err().unwrap();
    assert_eq!(summarize(&problem), "403 insufficient-scope");
    let named = format!("scope=\"{OPERATE}\"");
    assert!(problem.headers[0].1.ends_with(&named), "{problem:?}");

    assert_eq!(refusal(&bare("GET", DEEP)), "401 missing-token");
    assert_eq!(refusal(&get(DEEP, "Bearer x")), "401 invalid-token");

    let operator = with_scope(OPERATE);
    let asked = |method, url: &str| {
        let outcome = admit(&get(url, &operator).method(method));
        let project = outcome.project().map(str::to_owned);
        assert_eq!(outcome.endpoint(), Ok(Endpoint::Health), "{method} {url}");
        project
    };
    let base = "https://gate.example/healthz";
    for (query, project) in [
        ("?deep", None),
        ("?deep=0", None),
        ("?deep&project=demo-docs", Some("demo-docs")),
        ("?project=other%20docs&deep=1", Some("other docs")),
        ("?deep#&project=x", None),
    ] {
        for method in ["GET", "HEAD"] {
            let found = asked(method, &format!("{base}{query}"));
            assert_eq!(found.as_deref(), project, "{query}");
        }
    }
    assert_eq!(refusal(&post(DEEP, &operator)), "405 method-not-allowed");
    let page = get(DEEP, &operator).origin("https://evil.example");
    assert_eq!(refusal(&page), "403 origin-not-allowed");
}

#[test]
fn operator_can_act_only_on_projects_of_its_token() {
    let operator_of = |projects: Value| {
        let claims = claims_with("scope", Some(json!(OPERATE)));
        bearer_of(&change(claims, "projects", Some(projects)))
    };
    let (named, none) = (operator_of(json!(["demo-docs"])), operator_of(json!([])));
    let send = |operator: &str, project: &str| {
        let deep = format!("{DEEP}&project={project}");
        let block = format!("https://gate.example/healthz/blocks/create-job?project={project}");
        let lifting = get(&block, operator).method("DELETE");
        [admit(&get(&deep, operator)), admit(&lifting)]
    };
    for outcome in send(&named, "demo-docs") {
        assert_eq!(outcome.facts.project.unwrap().as_str(), "demo-docs");
        assert!(outcome.result.is_ok(), "{:?}", outcome.facts.route);
    }
    for (project, status, kind) in [
        ("other%20docs", 403, "project-not-allowed"),
        ("unknown", 403, "project-not-allowed"),
        ("a%2Fb", 403, "project-not-allowed"),
        ("%00", 400, "invalid-request"),
        (".", 400, "invalid-request"),
        ("%2e%2e", 400, "invalid-request"),
        ("", 400, "invalid-request"),
        ("%", 400, "invalid-request"),
    ] {
        for operator in [&named, &none] {
            for outcome in send(operator, project) {
                assert_eq!(outcome.facts.project, None, "{project}");
                let problem = outcome.result.unwrap_err();
                assert_eq!(summarize(&problem), format!("{status} {kind}"), "{project}");
                if status == 400 {
                    let field = &problem.members["errors"][0]["field"];
                    assert_eq!(field, "project", "{project}");
                }
            }
        }
    }
    assert!(admit(&get(DEEP, &none)).result.is_ok());
}

#[test]
fn project_grant_must_include_the_operator_scope() {
    let config = trusting(&[]);
    let token = issuers_bearer(&json!({ "team": "docs", "admin": true }));
    let url = format!("{DEEP}&project=demo-docs");
    let outcome = admit_identified(&config, &get(&url, &token), None);
    let problem = outcome.result.unwrap_err();
    assert_eq!(summarize(&problem), "403 insufficient-scope");
}

#[test]
fn only_operators_can_lift_an_upstream_block() {
    let operator = with_scope(OPERATE);
    let blocks = "https://gate.example/healthz/blocks/";
    let lift = |rest: &str, authorization: &str| {
        let url = format!("{blocks}{rest}");
        admit(&get(&url, authorization).method("DELETE"))
    };
    let (demo, create) = (Some("demo-docs"), RateLimitPolicy::CreateJob);
    for (rest, policy, project) in [
        ("create-job?project=demo-docs", create, demo),
        ("create-job?project=other+docs", create, Some("other docs")),
        ("analytics", RateLimitPolicy::Analytics, None),
    ] {
        let outcome = lift(rest, &operator);
        assert_eq!(outcome.project(), project, "{rest}");
        assert_eq!(outcome.facts.policy, Some(policy), "{rest}");
        assert_eq!(outcome.endpoint(), Ok(Endpoint::LiftBlock), "{rest}");
        let problem = lift(rest, &bearer()).result.unwrap_err();
        assert_eq!(summarize(&problem), "403 insufficient-scope", "{rest}");
    }
    for rest in ["read-jobs", "create", "", "create-job/"] {
        let problem = lift(rest, &operator).result.unwrap_err();
        assert_eq!(summarize(&problem), "404 not-found", "{rest}");
    }
    for rest in ["create-job", "send-message?project=%"] {
        let problem = lift(rest, &operator).result.unwrap_err();
        assert_eq!(field_and_rule(&problem), ["project", "not-empty"], "{rest}");
    }
    let problem = expect_refusal(&bare("GET", &format!("{blocks}analytics")));
    assert_eq!(summarize(&problem), "405 method-not-allowed");
    assert_eq!(problem.headers, [("allow", "DELETE, OPTIONS".to_owned())]);
}

#[test]
fn unauthenticated_callers_learn_only_which_routes_exist() {
    for (method, path, kind) in [
        ("GET", "demo-docs/tasks", "not-found"),
        ("PUT", "demo-docs/job", "method-not-allowed"),
        ("POST", "demo-docs/jobs", "method-not-allowed"),
        ("POST", "demo-docs/job", "missing-token"),
        ("GET", "demo-docs/jobs?limit=0&cursor=x", "missing-token"),
        ("GET", "%2f/job/%2f", "missing-token"),
        ("GET", "%2f/job/../events", "missing-token"),
    ] {
        let url = format!("https://gate.example/v2/agent/{path}");
        let head = bare(method, &url).content_length("999999999");
        assert_eq!(expect_refusal(&head).kind.as_str(), kind, "{method} {url}");
    }
}

#[test]
fn forbidden_project_is_reported_before_other_errors() {
    let bearer = bearer();
    for path in [
        "/v1/analytics/secret/views?limit=0&x",
        "/v2/agent/secret/jobs?limit=0&cursor=x",
        "/v2/agent/secret/job/..",
        "/v2/agent/secret/job/../events?x",
    ] {
        let url = format!("https://gate.example{path}");
        let refused = refusal(&get(&url, &bearer));
        assert_eq!(refused, "403 project-not-allowed", "{path}");
    }
    let head = post("https://gate.example/v2/agent/secret/job", &bearer);
    let body = head.content_type(None).content_length("999999999");
    assert_eq!(refusal(&body), "403 project-not-allowed");
}

#[test]
fn options_request_needs_an_allowed_origin_and_no_token() {
    for (method, url, ..) in OPERATIONS {
        let preflight = bare("OPTIONS", url).origin("https://docs.example");
        let outcome = admit(&preflight);
        let expected = Origin::Allowed("https://docs.example".to_owned());
        assert_eq!(outcome.facts.origin, expected, "{url}");
        let head = if method == "GET" { " HEAD," } else { "" };
        let expected = format!("{method},{head} OPTIONS");
        assert_eq!(outcome.allowed_methods(), expected, "{url}");
        let put = expect_refusal(&bare("PUT", url));
        assert_eq!(summarize(&put), "405 method-not-allowed", "{url}");
        assert_eq!(put.headers, [("allow", expected)], "{url}");
        let evil = preflight.origin("https://evil.example");
        assert_eq!(refusal(&evil), "403 origin-not-allowed", "{url}");
    }
    let nowhere = bare("OPTIONS", "https://gate.example/v2/x").origin("https://docs.example");
    assert_eq!(refusal(&nowhere), "404 not-found");
}

#[test]
fn crash_leaves_the_outcome_of_writes_unknown() {
    for method in ["POST", "DELETE", "GET", "HEAD", "OPTIONS"] {
        let (_, problem) = describe_crash(None, &bare(method, CREATE).read());
        assert_eq!(summarize(&problem), "500 internal", "{method}");
        let outcome = matches!(method, "POST" | "DELETE").then(|| json!("unknown"));
        assert_eq!(problem.members.get("outcome"), outcome.as_ref(), "{method}");
    }
}

#[test]
fn pages_of_allowed_origins_can_read_the_response_after_a_crash() {
    let config = configure(&[]);
    let origin = |config, origin| {
        let head = bare("POST", CREATE).origin(origin);
        describe_crash(config, &head.read()).0.origin
    };
    let docs = "https://docs.example";
    let allowed = Origin::Allowed(docs.to_owned());
    assert_eq!(origin(Some(&config), Some(docs)), allowed);
    assert_eq!(origin(None, Some(docs)), Origin::Own);
    assert_eq!(origin(Some(&config), None), Origin::Own);
    let other = Some("https://evil.example");
    assert_eq!(origin(Some(&config), other), Origin::Own);
}

#[test]
fn disallowed_origin_is_rejected_before_its_token_is_verified() {
    let bearer = bearer();
    for origin in ["https://evil.example", "null"] {
        for url in [VIEWS, JOBS, EVENTS, DEEP] {
            let with_token = get(url, &bearer).origin(origin);
            let outcome = admit(&with_token);
            let case = format!("{origin} {url}");
            // The page cannot read the response.
            assert_eq!(outcome.facts.origin, Origin::Own, "{case}");
            for head in [with_token, with_token.authorization(None)] {
                assert_eq!(refusal(&head), "403 origin-not-allowed", "{case}");
            }
        }
    }
}

#[test]
fn page_of_another_origin_cannot_use_an_access_assertion() {
    let kind = |head: RequestHead<'_>| refusal(&head.access_assertion("x.y.z"));
    let (own, docs) = (Some("https://gate.example"), Some("https://docs.example"));
    let (refused, passed) = ("403 cross-site", "401 missing-token");
    let elsewhere: &[_] = &["cross-site", "same-site", "other"];
    for (sites, origin, read, write) in [
        (elsewhere, None, refused, refused),
        (elsewhere, own, refused, refused),
        // Pages of an allowed origin may send cross-site requests.
        (elsewhere, docs, passed, passed),
        (&["", "same-origin", "none"], None, passed, refused),
        (&["", "same-origin"], own, passed, passed),
    ] {
        for site in sites {
            let case = format!("{site:?} {origin:?}");
            let site = Some(*site).filter(|site| !site.is_empty());
            let from_page = |head: RequestHead<'static>| head.fetch_site(site).origin(origin);
            assert_eq!(kind(from_page(bare("GET", VIEWS))), read, "{case}");
            assert_eq!(kind(from_page(bare("POST", CREATE))), write, "{case}");
            // Browsers never attach a bearer token automatically, so the check is skipped.
            let with_token = kind(from_page(post(CREATE, "Bearer x")));
            assert_eq!(with_token, "401 invalid-token", "{case}");
        }
    }
}

#[test]
fn allowed_origin_can_read_a_rejection() {
    let head = get(VIEWS, "Bearer x").origin("https://docs.example");
    let outcome = admit(&head);
    let expected = Origin::Allowed("https://docs.example".to_owned());
    assert_eq!(outcome.facts.origin, expected);
    assert_eq!(outcome.result.err().unwrap().status, 401);
}

/// Returns a configuration with one trusted issuer.
pub fn trusting(more: &[(&str, Option<&str>)]) -> Config {
    let scope = "jobs:create jobs:read analytics:read";
    let docs = json!({ "claims": { "team": "docs" }, "projects": ["demo-docs"], "scope": scope });
    let admin = json!({ "claims": { "admin": true }, "projects": [], "scope": "gateway:operate" });
    let issuers = json!([trusted_issuer("issuer", &json!([docs, admin]))]).to_string();
    configure(&[&[("TRUSTED_ISSUERS", Some(&*issuers))], more].concat())
}

pub fn issuers_bearer(claims: &Value) -> String {
    format!("Bearer {}", token_of_issuer("issuer", claims))
}

#[test]
fn issuer_token_is_verified_before_it_is_used() {
    let config = trusting(&[]);
    let bearer = issuers_bearer(&json!({ "team": "docs", "admin": true }));
    let asked = OPERATIONS.map(|(method, url, ..)| (method, url));
    for (method, url) in asked.into_iter().chain([("GET", DEEP)]) {
        let head = post(url, &bearer).method(method);
        let unverified = fixtures::admit(&config, &head);
        assert_eq!(unverified.facts.caller, None, "{url}");
        assert_eq!(unverified.facts.project, None, "{url}");
        let Ok(Admission::Unidentified(Identity::Unverified(token))) = unverified.result else {
            panic!("{url}");
        };
        assert_eq!(token.jwks(), "https://issuer.example/jwks");
        assert_eq!(token.kid.as_deref(), Some("key-1"));
        let verified = admit_identified(&config, &head, None);
        let expected = "https://issuer.example bob";
        assert_eq!(verified.facts.caller.unwrap().key(), expected);
        assert!(verified.result.is_ok(), "{url}");
    }
}

#[test]
fn an_assertion_identifies_its_caller_like_a_cookie() {
    let scope = "analytics:read";
    let rule = json!({ "claims": { "team": "docs" }, "projects": ["demo-docs"], "scope": scope });
    let in_assertions = json!([access_issuer("issuer", &json!([rule]))]).to_string();
    let in_assertions = configure(&[("TRUSTED_ISSUERS", Some(&in_assertions))]);
    for (config, by_cookie) in [(in_assertions, true), (trusting(&[]), false)] {
        let bearer = issuers_bearer(&json!({ "team": "docs" }));
        let token = bearer.strip_prefix("Bearer ").unwrap();
        let head = get(VIEWS, "").authorization((!by_cookie).then_some(&*bearer));
        let facts = admit_identified(&config, &head.access_assertion(token), None).facts;
        assert!(facts.caller.is_some());
        assert_eq!(facts.is_by_cookie, by_cookie);
    }
}

#[test]
fn verified_token_is_limited_to_its_projects_and_scopes() {
    let config = trusting(&[]);
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
