use quillgate_worker::host_error::HostError;
use quillgate_worker::http::problem::Problem;
use quillgate_worker::variable::VariableError;

use crate::fixtures::{header, summarize, to_json};

fn errors() -> [(HostError, &'static str, bool); 4] {
    let invalid = VariableError {
        variable: "ADMIN_API_KEY",
        rule: "is not set",
    };
    let busy = HostError::Unavailable("D1 did not answer in time".to_owned());
    let (internal, unbound) = (
        HostError::new("a query without a row"),
        HostError::unbound("PROJECT_GATE"),
    );
    [
        (busy, "503 object-unavailable", true),
        (internal, "500 internal", false),
        (unbound, "500 misconfigured", false),
        (invalid.into(), "500 misconfigured", false),
    ]
}

#[test]
fn only_an_unavailable_runtime_is_worth_a_retry() {
    for (error, summary, is_retryable) in errors() {
        let message = error.to_string();
        let problem = Problem::from(error);
        assert_eq!(summarize(&problem), summary);
        let wait = header(&problem.headers, "retry-after");
        assert_eq!(wait.is_some(), is_retryable, "{summary}");
        assert_eq!(problem.operator, Some(message));
    }
    let unbound = to_json(&HostError::unbound("PROJECT_GATE").into());
    assert_eq!(unbound["variable"], "PROJECT_GATE");
    let detail = unbound["detail"].as_str().unwrap();
    assert!(detail.contains("PROJECT_GATE is not bound"));
}

#[test]
fn kind_survives_as_the_message_of_an_exception() {
    for (error, ..) in errors() {
        assert_eq!(HostError::from_exception(error.to_string()), error);
    }
    for message in ["", "D1_ERROR: no such table: day", "misconfigured: X"] {
        let error = HostError::from_exception(message.to_owned());
        assert_eq!(error, HostError::Unavailable(message.to_owned()));
    }
}
