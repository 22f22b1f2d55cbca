//! The log line of a request.

use quillgate_worker::app::log::LogEntry;
use quillgate_worker::http::problem_kind::ProblemKind;
use quillgate_worker::json::to_text;

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
