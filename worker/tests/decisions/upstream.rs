mod attempts;
mod breaker;
mod failure;
mod key_redaction;
mod permits;
mod refusal;
mod snapshot;

use quillgate::ApiError;
use quillgate::credential::AdminKey;
use quillgate::response::Head;
use quillgate_worker::upstream::head::UpstreamHead;
use quillgate_worker::upstream::key_redaction::parse_error_body;
use quillgate_worker::upstream::metrics::{ExchangeMetrics, RequestMetrics};
use quillgate_worker::upstream::request::RequestIds;

use crate::fixtures::{ADMIN_KEY, NOW};

const JSON: Option<&str> = Some("application/json");

fn keys(keys: &[&str]) -> Vec<AdminKey> {
    keys.iter()
        .map(|key| AdminKey::new(*key).unwrap())
        .collect()
}

/// Returns the error of an upstream response, for a gateway with the single key [`ADMIN_KEY`].
fn api_error(status: u16, retry_after: Option<&str>, body: &str) -> ApiError {
    api_error_with(&keys(&[ADMIN_KEY]), status, retry_after, body)
}

fn api_error_with(
    keys: &[AdminKey],
    status: u16,
    retry_after: Option<&str>,
    body: &str,
) -> ApiError {
    let head = Head {
        status,
        retry_after: retry_after.map(str::to_owned),
        ..Head::default()
    };
    head.api_error(parse_error_body(body, keys).as_ref(), NOW)
}

fn head(status: u16, content_type: Option<&str>) -> UpstreamHead {
    let head = UpstreamHead {
        status,
        ..UpstreamHead::default()
    };
    with_field(head, "content-type", content_type)
}

fn with_field(mut head: UpstreamHead, name: &'static str, value: Option<&str>) -> UpstreamHead {
    if let Some(value) = value {
        head.headers.set(name, value.to_owned());
    }
    head
}

fn ids(tracestate: Option<&str>) -> RequestIds {
    RequestIds {
        id: "r1".to_owned(),
        project: "acme".to_owned(),
        traceparent: "00-1-2-00".to_owned(),
        tracestate: tracestate.map(str::to_owned),
    }
}

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
