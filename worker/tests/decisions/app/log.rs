//! The log line of a request. Operators' monitoring depends on its exact JSON.

use quillgate_worker::app::log::LogEntry;
use quillgate_worker::http::problem_kind::ProblemKind;
use quillgate_worker::log::format_operator_line;
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
fn log_line_has_a_fixed_property_order() {
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
fn unknown_values_are_null_in_a_log_line() {
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
fn log_line_contains_no_line_break() {
    let metrics = RequestMetrics {
        operator: Some("a\r\nb\u{2028}".to_owned()),
        ..RequestMetrics::default()
    };
    let line = entry(&metrics).to_json();
    assert!(!line.contains(['\r', '\n']), "{line}");
    assert!(!format_operator_line("a\nb").contains('\n'));
}
