//! The values that the gateway reads from the head of a request.

use proptest::prelude::*;
use quillgate_worker::http::request_head::{RequestHead, accepts_page};

const UUID: &str = "0b7ff8f5-3f4b-4a3c-9a52-7f0c4a4a1b2c";
const URL: &str = "https://gate.example/v2/agent/demo-docs/job?a=b";

/// Reads a request head with these header fields.
fn read(method: &str, fields: &[(&str, &str)]) -> RequestHead {
    let field = |name: &str| {
        let (_, value) = fields.iter().find(|(own, _)| *own == name)?;
        Some((*value).to_owned())
    };
    RequestHead::read(UUID.to_owned(), method.to_owned(), URL.to_owned(), field)
}

#[test]
fn only_text_html_accepts_a_page() {
    for (accept, is_page) in [
        (None, false),
        (Some(""), false),
        (Some("*/*"), false),
        (Some("application/json, text/plain"), false),
        (Some("text/htmlx"), false),
        (Some("text/html"), true),
        (Some("application/xml;q=0.9, Text/HTML ;q=0.8,*/*"), true),
    ] {
        assert_eq!(accepts_page(accept), is_page, "{accept:?}");
    }
}

#[test]
fn request_has_its_header_fields() {
    let head = read(
        "GET",
        &[
            ("x-request-id", "my-id"),
            ("traceparent", "00-1-2-00"),
            ("tracestate", "vendor=1"),
            ("authorization", "Bearer x"),
            ("cf-access-jwt-assertion", "x.y.z"),
            ("cookie", "a=b"),
            ("origin", "https://docs.example"),
            ("sec-fetch-site", "cross-site"),
            ("content-type", "application/json"),
            ("content-length", "7"),
            ("cache-control", "no-cache"),
            ("if-none-match", "\"a\""),
            ("prefer", "wait=5"),
            ("last-event-id", "7"),
            ("idempotency-key", "8e03"),
        ],
    );
    assert_eq!((&*head.id, &*head.uuid), ("my-id", UUID));
    assert_eq!((&*head.method, &*head.url), ("GET", URL));
    assert_eq!(head.path, "/v2/agent/demo-docs/job");
    for (field, expected) in [
        (&head.query, "a=b"),
        (&head.traceparent, "00-1-2-00"),
        (&head.tracestate, "vendor=1"),
        (&head.authorization, "Bearer x"),
        (&head.access_assertion, "x.y.z"),
        (&head.cookie, "a=b"),
        (&head.origin, "https://docs.example"),
        (&head.fetch_site, "cross-site"),
        (&head.content_type, "application/json"),
        (&head.content_length, "7"),
        (&head.cache_control, "no-cache"),
        (&head.if_none_match, "\"a\""),
        (&head.prefer, "wait=5"),
        (&head.last_event_id, "7"),
    ] {
        assert_eq!(field.as_deref(), Some(expected));
    }
    assert_eq!(head.write.idempotency_key, None, "not a write");
}

#[test]
fn write_request_has_its_header_fields() {
    let fields = [
        ("idempotency-key", "8e03"),
        ("idempotency-retry", "force"),
        ("webhook-url", "https://hooks.example"),
        ("cf-turnstile-response", "r"),
    ];
    let write = read("POST", &fields).write;
    let [key, retry, webhook, turnstile] = fields.map(|(_, value)| Some(value));
    assert_eq!(write.idempotency_key.as_deref(), key);
    assert_eq!(write.idempotency_retry.as_deref(), retry);
    assert_eq!(write.webhook_url.as_deref(), webhook);
    assert_eq!(write.turnstile.as_deref(), turnstile);
}

#[test]
fn empty_write_field_differs_from_an_absent_one() {
    let head = read("POST", &[("idempotency-key", ""), ("authorization", "")]);
    // An empty key is invalid; an absent key is allowed.
    assert_eq!(head.write.idempotency_key.as_deref(), Some(""));
    assert_eq!(head.write.idempotency_retry, None);
    assert_eq!((head.authorization, head.origin), (None, None));
}

#[test]
fn session_cookie_is_ignored_next_to_authorization() {
    let cookie = ("cookie", "a=b");
    assert_eq!(read("GET", &[cookie]).session_cookie(), Some("a=b"));
    let both = read("GET", &[cookie, ("authorization", "Bearer x")]);
    assert_eq!(both.session_cookie(), None);
}

#[test]
fn callers_request_id_is_used_when_short_and_harmless() {
    let id = |own: &str| read("GET", &[("x-request-id", own)]).id;
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
    fn any_value_is_kept_verbatim(value in ".{1,12}") {
        let head = read("GET", &[("prefer", value.as_str())]);
        prop_assert_eq!(head.prefer, Some(value));
    }
}
