//! The log's lines and what an operator learns, by exact JSON.

use quillgate_worker::analytics::health::{OrgBudgets, OrgHealth};
use quillgate_worker::app::health::Health;
use quillgate_worker::app::log::LogEntry;
use quillgate_worker::budget::health::BudgetHealth;
use quillgate_worker::http::problem_kind::ProblemKind;
use quillgate_worker::jobs::health::{ProjectBudgets, ProjectHealth};
use quillgate_worker::jobs::log::{
    format_dropped_webhook, format_given_up_webhook, format_lost_job,
};
use quillgate_worker::log::format_operator_line;
use quillgate_worker::upstream::breaker::State;
use quillgate_worker::upstream::metrics::{ExchangeMetrics, RequestMetrics};

fn exchange(operator: Option<&str>) -> ExchangeMetrics {
    ExchangeMetrics {
        status: Some(201),
        milliseconds: 34,
        operator: operator.map(str::to_owned),
    }
}

fn entry(metrics: &RequestMetrics) -> LogEntry<'_> {
    LogEntry {
        request_id: "an-id",
        trace_id: "4bf92f3577b34da6a3ce929d0e0e4736",
        subject: Some("al\"ice"),
        route: Some("/v2/agent/{projectId}/job"),
        project: Some("demo-docs"),
        status: 429,
        problem: Some(ProblemKind::QuotaExceeded),
        metrics,
        milliseconds: 56,
    }
}

#[test]
fn a_line_has_its_members_in_one_order() {
    let metrics = RequestMetrics {
        upstream: Some(exchange(Some("mend the key"))),
        cache: Some("hit; ttl=7".to_owned()),
        budget_left: Some(9),
        operator: None,
    };
    let expected = r#"{"requestId":"an-id","traceId":"4bf92f3577b34da6a3ce929d0e0e4736","subject":"al\"ice","route":"/v2/agent/{projectId}/job","project":"demo-docs","status":429,"problem":"quota-exceeded","upstreamStatus":201,"upstreamMilliseconds":34,"cache":"hit; ttl=7","budgetLeft":9,"milliseconds":56,"operator":"mend the key"}"#;
    assert_eq!(entry(&metrics).to_json(), expected);
}

#[test]
fn what_is_not_known_is_null() {
    let metrics = RequestMetrics::default();
    let entry = LogEntry {
        request_id: "an-id",
        trace_id: "a-trace",
        subject: None,
        route: None,
        project: None,
        status: 404,
        problem: None,
        metrics: &metrics,
        milliseconds: 0,
    };
    let expected = r#"{"requestId":"an-id","traceId":"a-trace","subject":null,"route":null,"project":null,"status":404,"problem":null,"upstreamStatus":null,"upstreamMilliseconds":null,"cache":null,"budgetLeft":null,"milliseconds":0,"operator":null}"#;
    assert_eq!(entry.to_json(), expected);
    let silent = ExchangeMetrics {
        milliseconds: 30_000,
        ..ExchangeMetrics::default()
    };
    let unanswered = RequestMetrics {
        upstream: Some(silent),
        ..RequestMetrics::default()
    };
    let entry = LogEntry {
        metrics: &unanswered,
        ..entry
    };
    let expected = r#""upstreamStatus":null,"upstreamMilliseconds":30000,"#;
    assert!(entry.to_json().contains(expected), "{}", entry.to_json());
}

#[test]
fn a_line_is_one_line() {
    let metrics = RequestMetrics {
        operator: Some("a\r\nb\u{2028}".to_owned()),
        ..RequestMetrics::default()
    };
    let line = entry(&metrics).to_json();
    assert!(!line.contains(['\r', '\n']), "{line}");
    assert!(!format_operator_line("a\nb").contains('\n'));
}

#[test]
fn what_the_gateway_says_to_the_operator_goes_before_what_the_upstream_does() {
    let metrics = |own: Option<&str>, upstream: Option<&str>| RequestMetrics {
        upstream: Some(exchange(upstream)),
        operator: own.map(str::to_owned),
        ..RequestMetrics::default()
    };
    assert_eq!(metrics(Some("a"), Some("b")).operator(), Some("a"));
    assert_eq!(metrics(None, Some("b")).operator(), Some("b"));
    assert_eq!(metrics(Some("a"), None).operator(), Some("a"));
    assert_eq!(metrics(None, None).operator(), None);
    assert_eq!(RequestMetrics::default().operator(), None);
}

#[test]
fn server_timing_has_the_upstreams_part() {
    let metrics = RequestMetrics {
        upstream: Some(exchange(None)),
        ..RequestMetrics::default()
    };
    assert_eq!(metrics.server_timing().as_deref(), Some("upstream;dur=34"));
    assert_eq!(RequestMetrics::default().server_timing(), None);
}

#[test]
fn a_line_for_the_operator_alone_has_one_member() {
    assert_eq!(format_operator_line("a \"b\""), r#"{"operator":"a \"b\""}"#);
}

#[test]
fn what_is_not_announced_is_named_to_the_operator() {
    let line = format_dropped_webhook("msg_1");
    assert!(
        line.starts_with(r#"{"operator":"webhook msg_1 was dropped: "#),
        "{line}"
    );
    let line = format_lost_job("j \"1\"");
    assert!(
        line.starts_with(r#"{"operator":"job j \"1\" has been unknown"#),
        "{line}"
    );
}

#[test]
fn a_webhook_that_is_given_up_is_named_with_its_last_status() {
    let expected = r#"{"webhook":"msg_1","givenUp":true,"status":410}"#;
    assert_eq!(format_given_up_webhook("msg_1", Some(410)), expected);
    let expected = r#"{"webhook":"msg_1","givenUp":true,"status":null}"#;
    assert_eq!(format_given_up_webhook("msg_1", None), expected);
}

fn budget(left: u32, closed_until: Option<u64>) -> BudgetHealth {
    BudgetHealth {
        limit: 100,
        left,
        closed_until,
    }
}

fn organisation(breaker: State) -> OrgHealth {
    OrgHealth {
        breaker,
        budgets: OrgBudgets {
            analytics: budget(7, None),
        },
        cached_pages: 3,
        key_set_calls: 4,
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
fn the_gateways_health_has_its_members_in_one_order() {
    let issuers = vec!["https://issuer.example"];
    let health = Health::new(organisation(State::Closed), None, issuers.clone());
    let expected = r#"{"status":"ok","organisation":{"breaker":"closed","budgets":{"analytics":{"limit":100,"left":7,"closedUntil":null}},"cachedPages":3,"keySetCalls":4},"trustedIssuers":["https://issuer.example"]}"#;
    assert_eq!(health.to_json(), expected);
    let health = Health::new(
        organisation(State::Closed),
        Some(project(State::HalfOpen)),
        Vec::new(),
    );
    let expected = r#"{"status":"ok","organisation":{"breaker":"closed","budgets":{"analytics":{"limit":100,"left":7,"closedUntil":null}},"cachedPages":3,"keySetCalls":4},"project":{"breaker":"half-open","budgets":{"create-job":{"limit":100,"left":100,"closedUntil":null},"send-message":{"limit":100,"left":0,"closedUntil":1750000000000}},"watchers":2,"webhooksWaiting":1,"alarms":5},"trustedIssuers":[]}"#;
    assert_eq!(health.to_json(), expected);
}

#[test]
fn the_gateway_is_degraded_while_a_breaker_is_open() {
    for (org, own, expected) in [
        (State::Closed, None, "ok"),
        (State::HalfOpen, None, "ok"),
        (State::Open, None, "degraded"),
        (State::Closed, Some(State::Closed), "ok"),
        (State::Closed, Some(State::HalfOpen), "ok"),
        (State::Closed, Some(State::Open), "degraded"),
        (State::Open, Some(State::Closed), "degraded"),
    ] {
        let health = Health::new(organisation(org), own.map(project), Vec::new());
        let begins = format!("{{\"status\":\"{expected}\",");
        assert!(health.to_json().starts_with(&begins), "{org:?} {own:?}");
    }
}

#[test]
fn metrics_are_sent_from_an_object_by_these_names() {
    let metrics = RequestMetrics {
        upstream: Some(exchange(Some("x"))),
        cache: None,
        budget_left: Some(1),
        operator: None,
    };
    let expected = serde_json::json!({
        "upstream": { "status": 201, "milliseconds": 34, "operator": "x" },
        "cache": null,
        "budget_left": 1,
        "operator": null,
    });
    assert_eq!(serde_json::to_value(&metrics).unwrap(), expected);
}
