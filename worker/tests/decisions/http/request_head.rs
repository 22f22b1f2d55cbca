//! Parsing of the request head that the host passes.

use proptest::prelude::*;
use quillgate_worker::http::request_head::{PackedHead, header_names};

const UUID: &str = "0b7ff8f5-3f4b-4a3c-9a52-7f0c4a4a1b2c";
const URL: &str = "https://gate.example/v2/agent/demo-docs/job";

/// A request head string with these header fields.
fn pack(method: &str, fields: &[(&str, &str)]) -> String {
    let mut lines = vec![UUID.to_owned(), method.to_owned(), URL.to_owned()];
    for name in header_names(method == "POST") {
        let field = fields.iter().find(|(own, _)| own == name);
        lines.push(field.map_or_else(String::new, |(_, value)| format!("={value}")));
    }
    lines.join("\n")
}

#[test]
fn read_request_has_its_header_fields() {
    let text = pack(
        "GET",
        &[
            ("x-request-id", "my-id"),
            ("traceparent", "00-1-2-00"),
            ("tracestate", "vendor=1"),
            ("authorization", "Bearer x"),
            ("cf-access-jwt-assertion", "x.y.z"),
            ("origin", "https://docs.example"),
            ("sec-fetch-site", "cross-site"),
            ("cache-control", "no-cache"),
            ("if-none-match", "\"a\""),
            ("prefer", "wait=5"),
            ("last-event-id", "7"),
        ],
    );
    let packed = PackedHead::read(&text);
    assert_eq!((packed.uuid, packed.method, packed.url), (UUID, "GET", URL));
    assert_eq!(packed.id(), "my-id");
    assert_eq!(packed.traceparent(), Some("00-1-2-00"));
    assert_eq!(packed.tracestate(), Some("vendor=1"));
    let head = packed.request_head();
    assert_eq!((head.method, head.url), ("GET", URL));
    assert_eq!(head.authorization, Some("Bearer x"));
    assert_eq!(head.access_assertion, Some("x.y.z"));
    assert_eq!(head.origin, Some("https://docs.example"));
    assert_eq!(head.fetch_site, Some("cross-site"));
    assert_eq!((head.content_type, head.content_length), (None, None));
    for (name, value) in [
        ("cache-control", "no-cache"),
        ("if-none-match", "\"a\""),
        ("prefer", "wait=5"),
        ("last-event-id", "7"),
    ] {
        assert_eq!(packed.field(name), Some(value));
    }
    assert_eq!(packed.field("content-type"), None);
}

#[test]
fn write_request_has_its_header_fields() {
    let text = pack(
        "POST",
        &[
            ("authorization", "Bearer x"),
            ("content-type", "application/json"),
            ("content-length", "7"),
            ("idempotency-key", "8e03"),
            ("idempotency-retry", "force"),
            ("webhook-url", "https://hooks.example"),
            ("cf-turnstile-response", "r"),
        ],
    );
    let packed = PackedHead::read(&text);
    let head = packed.request_head();
    assert_eq!(head.content_type, Some("application/json"));
    assert_eq!(head.content_length, Some("7"));
    let headers = packed.write_headers();
    assert_eq!(headers.idempotency_key.as_deref(), Some("8e03"));
    assert_eq!(headers.idempotency_retry.as_deref(), Some("force"));
    assert_eq!(
        headers.webhook_url.as_deref(),
        Some("https://hooks.example")
    );
    assert_eq!(headers.turnstile.as_deref(), Some("r"));
    assert_eq!(packed.field("cache-control"), None);
}

#[test]
fn empty_field_differs_from_a_missing_field() {
    let text = pack("POST", &[("idempotency-key", ""), ("authorization", "")]);
    let packed = PackedHead::read(&text);
    // An empty key is invalid; a missing key is allowed.
    assert_eq!(packed.write_headers().idempotency_key.as_deref(), Some(""));
    assert_eq!(packed.write_headers().idempotency_retry, None);
    assert_eq!(packed.request_head().authorization, None);
    assert_eq!(packed.request_head().origin, None);
}

#[test]
fn truncated_head_has_no_fields() {
    for text in ["", UUID, "\n", &format!("{UUID}\nGET\n{URL}")] {
        let packed = PackedHead::read(text);
        assert_eq!((packed.id(), packed.traceparent()), (packed.uuid, None));
        assert_eq!(packed.request_head().authorization, None);
    }
}

#[test]
fn callers_request_id_is_used_when_short_and_harmless() {
    let id = |own: &str| {
        PackedHead::read(&pack("GET", &[("x-request-id", own)]))
            .id()
            .to_owned()
    };
    let longest = "x".repeat(255);
    for own in ["a", "A-b_c=9", &longest] {
        assert_eq!(id(own), own);
    }
    let too_long = "x".repeat(256);
    for own in [
        "", " ", "a b", "a.b", "a/b", "a\"b", "ä", "a,b", "a\r", &too_long,
    ] {
        assert_eq!(id(own), UUID, "{own}");
    }
}

proptest! {
    #[test]
    fn any_value_is_read_in_its_own_field(values in prop::collection::vec(prop::option::of("[^\\n]{0,12}"), 13)) {
        for method in ["GET", "POST", "HEAD"] {
            let names = header_names(method == "POST");
            let fields: Vec<_> = names
                .iter()
                .zip(&values)
                .filter_map(|(name, value)| Some((*name, value.as_deref()?)))
                .collect();
            let text = pack(method, &fields);
            let packed = PackedHead::read(&text);
            for (name, value) in names.iter().zip(&values) {
                prop_assert_eq!(packed.field(name), value.as_deref());
            }
        }
    }
}
