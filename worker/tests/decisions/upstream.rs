//! Upstream tests.

mod attempts;
mod breaker;
mod failure;
mod key_redaction;
mod metrics;
mod permits;
mod refusal;
mod snapshot;

use quillgate::ApiError;
use quillgate::credential::AdminKey;
use quillgate::response::Head;
use quillgate_worker::upstream::head::UpstreamHead;
use quillgate_worker::upstream::key_redaction::parse_error_body;
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
