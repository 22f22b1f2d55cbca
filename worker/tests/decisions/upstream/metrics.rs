//! Metrics of a request.

use quillgate_worker::upstream::metrics::{ExchangeMetrics, RequestMetrics};

fn exchange(operator: Option<&str>) -> ExchangeMetrics {
    ExchangeMetrics {
        status: Some(201),
        milliseconds: 34,
        operator: operator.map(str::to_owned),
    }
}

#[test]
fn gateway_operator_message_precedes_the_upstreams() {
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
fn server_timing_has_the_upstream_duration() {
    let metrics = RequestMetrics {
        upstream: Some(exchange(None)),
        ..RequestMetrics::default()
    };
    assert_eq!(metrics.server_timing().as_deref(), Some("upstream;dur=34"));
    assert_eq!(RequestMetrics::default().server_timing(), None);
}

#[test]
fn the_metrics_of_two_exchanges_add_up_and_keep_the_first_message() {
    let exchange = |milliseconds, operator: Option<&str>| ExchangeMetrics {
        status: Some(200),
        milliseconds,
        operator: operator.map(str::to_owned),
    };
    let mut metrics = RequestMetrics::default();
    metrics.add_exchange(exchange(30, Some("the first key was refused")));
    metrics.add_exchange(ExchangeMetrics {
        status: Some(503),
        ..exchange(12, None)
    });
    assert_eq!(metrics.server_timing().unwrap(), "upstream;dur=42");
    assert_eq!(metrics.operator(), Some("the first key was refused"));
    assert_eq!(metrics.upstream.unwrap().status, Some(503));
}
