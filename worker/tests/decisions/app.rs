mod admission;
mod config;

use quillgate::Operation;
use quillgate_worker::analytics::health::{OrganizationBudgets, OrganizationHealth};
use quillgate_worker::app::health::Health;
use quillgate_worker::app::log::LogEntry;
use quillgate_worker::app::routes::{Endpoint, find};
use quillgate_worker::budget::health::BudgetHealth;
use quillgate_worker::http::problem_kind::ProblemKind;
use quillgate_worker::http::route::join_methods;
use quillgate_worker::jobs::health::{ProjectBudgets, ProjectHealth};
use quillgate_worker::json::to_text;
use quillgate_worker::upstream::breaker::State;

fn budget(left: u32, blocked_until: Option<u64>) -> BudgetHealth {
    BudgetHealth {
        limit: 100,
        left,
        blocked_until,
    }
}

fn organization(breaker: State) -> OrganizationHealth {
    OrganizationHealth {
        breaker,
        budgets: OrganizationBudgets {
            analytics: budget(7, None),
            create_deployment: budget(10, None),
            create_preview: budget(5, None),
        },
        cached_pages: 3,
    }
}

fn project(breaker: State) -> ProjectHealth {
    ProjectHealth {
        breaker,
        budgets: ProjectBudgets {
            create_job: budget(100, None),
            send_message: budget(0, Some(1_750_000_000_000)),
        },
        watchers: 2,
        webhooks_waiting: 1,
        alarms: 5,
    }
}

#[test]
fn health_report_has_a_fixed_property_order() {
    let issuers = vec!["https://issuer.example"];
    let health = Health::new(
        organization(State::Closed),
        None,
        issuers.clone(),
        Vec::new(),
    );
    let expected = r#"{"status":"ok","organization":{"breaker":"closed","budgets":{"analytics":{"limit":100,"left":7,"blockedUntil":null},"create-deployment":{"limit":100,"left":10,"blockedUntil":null},"create-preview":{"limit":100,"left":5,"blockedUntil":null}},"cachedPages":3},"trustedIssuers":["https://issuer.example"]}"#;
    assert_eq!(to_text(&health), expected);
    let project = Some(project(State::Open));
    let health = Health::new(organization(State::Closed), project, Vec::new(), issuers);
    let expected = r#"{"status":"degraded","organization":{"breaker":"closed","budgets":{"analytics":{"limit":100,"left":7,"blockedUntil":null},"create-deployment":{"limit":100,"left":10,"blockedUntil":null},"create-preview":{"limit":100,"left":5,"blockedUntil":null}},"cachedPages":3},"project":{"breaker":"open","budgets":{"create-job":{"limit":100,"left":100,"blockedUntil":null},"send-message":{"limit":100,"left":0,"blockedUntil":1750000000000}},"watchers":2,"webhooksWaiting":1,"alarms":5},"trustedIssuers":[],"unknownIssuers":["https://issuer.example"]}"#;
    assert_eq!(to_text(&health), expected);
}

#[test]
fn health_of_a_project_includes_its_deployments() {
    let jobs = project(State::Closed);
    let health = jobs.clone().with_deployments(&project(State::Open));
    assert_eq!(health.breaker, State::Open);
    assert_eq!(health.budgets, jobs.budgets);
    assert_eq!(
        (health.watchers, health.webhooks_waiting, health.alarms),
        (4, 2, 10)
    );
}

#[test]
fn gateway_is_degraded_while_a_breaker_is_open() {
    for (org, own, expected) in [
        (State::Closed, None, "ok"),
        (State::Open, None, "degraded"),
        (State::Closed, Some(State::Closed), "ok"),
        (State::Closed, Some(State::Open), "degraded"),
        (State::Open, Some(State::Closed), "degraded"),
    ] {
        let health = Health::new(organization(org), own.map(project), Vec::new(), Vec::new());
        let begins = format!("{{\"status\":\"{expected}\",");
        assert!(to_text(&health).starts_with(&begins), "{org:?} {own:?}");
    }
}

fn entry() -> LogEntry<'static> {
    LogEntry {
        request_id: "an-id",
        trace_id: "4bf92f3577b34da6a3ce929d0e0e4736",
        subject: Some("al\"ice"),
        route: Some("/v2/agent/{projectId}/job"),
        project: Some("demo-docs"),
        status: 429,
        problem: Some(ProblemKind::QuotaExceeded),
        upstream_status: Some(201),
        upstream_milliseconds: Some(34),
        cache: Some("hit; ttl=7"),
        budget_left: Some(9),
        milliseconds: 56,
        operator: Some("mend the key"),
    }
}

#[test]
fn log_line_has_a_fixed_property_order() {
    let expected = r#"{"requestId":"an-id","traceId":"4bf92f3577b34da6a3ce929d0e0e4736","subject":"al\"ice","route":"/v2/agent/{projectId}/job","project":"demo-docs","status":429,"problem":"quota-exceeded","upstreamStatus":201,"upstreamMilliseconds":34,"cache":"hit; ttl=7","budgetLeft":9,"milliseconds":56,"operator":"mend the key"}"#;
    assert_eq!(to_text(&entry()), expected);
}

#[test]
fn log_line_contains_no_line_break() {
    let entry = LogEntry {
        operator: Some("a\r\nb\u{2028}"),
        ..entry()
    };
    let line = to_text(&entry);
    assert!(!line.contains(['\r', '\n']), "{line}");
}

const CREATE: &str = "/v2/agent/demo-docs/job";
const GET: &str = "/v2/agent/demo-docs/job/j1";
const MESSAGE: &str = "/v2/agent/demo-docs/job/j1/message";
const JOBS: &str = "/v2/agent/demo-docs/jobs";
const EVENTS: &str = "/v2/agent/demo-docs/job/j1/events";
const VIEWS: &str = "/v1/analytics/demo-docs/views";

#[test]
fn each_operation_is_found_by_its_method_and_path() {
    for operation in Operation::ALL.iter().copied() {
        let declared = operation.declaration();
        let path = declared.path.replace("{projectId}", "demo-docs");
        let path = path.replace("{id}", "j1").replace("{threadId}", "t1");
        let route = find(declared.method.as_str(), &path).unwrap();
        assert_eq!(route.endpoint, Endpoint::Operation(operation), "{path}");
    }
    let route = find("GET", GET).unwrap();
    assert_eq!(route.segments, [("projectId", "demo-docs"), ("id", "j1")]);
}

#[test]
fn path_values_are_returned_undecoded() {
    for segment in [
        "%2e%2e", "..", "a%2Fb", "a;b=c", "*", "a b", "ü", "message", "events", "job", "jobs",
    ] {
        for rest in ["", "/events"] {
            let path = format!("/v2/agent/{segment}/job/{segment}{rest}");
            let route = find("GET", &path).unwrap();
            let expected = [("projectId", segment), ("id", segment)];
            assert_eq!(route.segments, expected, "{path}");
        }
    }
}

#[test]
fn path_must_match_an_operation_exactly() {
    for path in [
        "",
        "/",
        "v2/agent/demo-docs/job",
        "/v2/agent/demo-docs/job/",
        "/v2/agent/demo-docs/job//message",
        "/v2/agent/demo-docs/job/j1/messages",
        "/v2/agent/demo-docs/job/j1/x/message",
        "/v2/agent/demo-docs/job/j1/events/1",
        "/v2/agent/demo-docs/job/j1/%65vents",
        "/v2/agent/demo-docs/job/j1;x/events;y",
        "/v2/agent/demo-docs/job/j1/message/events",
        "/v2/agent//job/j1/events",
        "/v2/agent/demo-docs/jobs/",
        "/v2/agent/demo-docs/jobs/j1/events",
        "/v2/agent/demo-docs/job%73",
        "/v2/agent/demo-docs/jobs%3flimit=5",
        "//v2/agent/demo-docs/job",
        "/./v2/agent/demo-docs/job",
        "/x/../v2/agent/demo-docs/job",
        "/v2/agent/demo-docs/../demo-docs/job",
        "/v2/agent/demo-docs/%6aob",
        "/v2%2fagent/demo-docs/job",
        "/v2/agent/demo-docs/job;x=1",
        "/v2/agent/demo-docs/job.json",
        "/v2/agent/demo-docs/job%00",
        "/v2/agent/demo-docs/Job",
        "/V2/agent/demo-docs/job",
        "\\v2\\agent\\demo-docs\\job",
        "/v3/agent/demo-docs/job",
        "/v1/analytics/demo-docs/views/exports",
        "/v1/analytics/demo-docs/referrers",
        "/prefix/v2/agent/demo-docs/job",
        "/v2/agent/{projectId}",
    ] {
        for method in ["GET", "POST", "DELETE", "OPTIONS"] {
            assert_eq!(find(method, path).unwrap_err(), [""; 0], "{path}");
        }
    }
}

#[test]
fn wrong_method_is_rejected_with_the_allowed_ones() {
    for (path, allow, others) in [
        (CREATE, "POST, OPTIONS", ["GET", "HEAD"]),
        (GET, "GET, HEAD, OPTIONS", ["POST", "DELETE"]),
        (MESSAGE, "POST, OPTIONS", ["GET", "PATCH"]),
        (JOBS, "GET, HEAD, OPTIONS", ["POST", "DELETE"]),
        (EVENTS, "GET, HEAD, OPTIONS", ["POST", "PUT"]),
        (VIEWS, "GET, HEAD, OPTIONS", ["POST", "PUT"]),
    ] {
        for method in others
            .into_iter()
            .chain(["TRACE", "OPTIONS", "get", "Post", "", "GET "])
        {
            let found = join_methods(&find(method, path).unwrap_err());
            assert_eq!(found, allow, "{method:?} {path}");
        }
    }
}
