use quillgate_worker::http::request_head::{RequestHead, accepts_page};

const UUID: &str = "0b7ff8f5-3f4b-4a3c-9a52-7f0c4a4a1b2c";
const URL: &str = "https://gate.example/v2/agent/demo-docs/job?a=b";

/// Returns the head of a request to [`URL`]. The generated request id is [`UUID`].
fn read(method: &str, fields: &[(&str, &str)]) -> RequestHead {
    let fields = fields.iter();
    let headers = fields.map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let (method, url) = (method.to_owned(), URL.to_owned());
    RequestHead::read(UUID.to_owned(), method, url, headers.collect())
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
fn request_has_its_url_and_header_fields() {
    let head = read("GET", &[("x-request-id", "my-id"), ("prefer", "wait=5")]);
    assert_eq!(head.id, "my-id");
    assert_eq!(head.trace.trace_id, UUID.replace('-', ""));
    assert_eq!((&*head.method, &*head.url), ("GET", URL));
    assert_eq!(head.path, "/v2/agent/demo-docs/job");
    assert_eq!(head.query.as_deref(), Some("a=b"));
    assert_eq!(head.header("prefer"), Some("wait=5"));
    assert_eq!(head.header("accept"), None);
}

#[test]
fn empty_header_field_counts_as_absent_unless_it_is_raw() {
    let head = read("POST", &[("idempotency-key", ""), ("authorization", "")]);
    assert_eq!(head.header("authorization"), None);
    // An empty key is invalid; an absent key is allowed.
    assert_eq!(head.raw_header("idempotency-key"), Some(""));
    assert_eq!(head.raw_header("idempotency-retry"), None);
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
