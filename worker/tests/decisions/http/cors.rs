use quillgate_worker::http::cors::{Origin, check_origin, headers, preflight_headers};

use crate::fixtures::{Predicate, header, summarize};

const URL: &str = "https://gate.example/v2/agent/x/job?a=https://evil.example#https://evil.example";

fn allowed() -> Vec<String> {
    ["https://docs.example", "http://localhost:5173"]
        .map(str::to_owned)
        .into()
}

#[test]
fn response_names_an_allowed_origin() {
    for allowed_origin in allowed() {
        let origin = check_origin(Some(&allowed_origin), URL, &allowed()).unwrap();
        assert_eq!(origin, Origin::Allowed(allowed_origin.clone()));
        let headers = headers(&origin);
        assert!(headers.contains(&("access-control-allow-origin", allowed_origin)));
        assert!(headers.contains(&("vary", "Origin".to_owned())));
        let names: Vec<_> = headers.iter().map(|(name, _)| *name).collect();
        assert!(!names.contains(&"access-control-allow-credentials"));
    }
}

#[test]
fn allowed_origin_can_read_the_gateways_header_fields() {
    let headers = headers(&Origin::Allowed("https://docs.example".to_owned()));
    let value = |name: &str| {
        let mut found = headers.iter().filter(|(other, _)| *other == name);
        let (_, value) = found.next()?;
        assert!(found.next().is_none(), "{name} stands once");
        Some(value.as_str())
    };
    let exposed = value("access-control-expose-headers").unwrap();
    let is_exposed = |name: &str| exposed.split(", ").any(|field| field == name);
    is_exposed.accepts(&[
        "ETag",
        "Retry-After",
        "RateLimit",
        "WWW-Authenticate",
        "X-Request-Id",
    ]);
    assert_eq!(value("timing-allow-origin"), Some("https://docs.example"));
}

#[test]
fn gateways_own_origin_is_accepted_without_cors_fields() {
    for url in [
        "https://gate.example",
        "https://gate.example/",
        "https://gate.example?x",
        "https://gate.example#x",
        URL,
    ] {
        let origin = check_origin(Some("https://gate.example"), url, &allowed());
        assert_eq!(origin, Ok(Origin::Own), "{url}");
    }
    let local = "http://127.0.0.1:8787";
    let origin = check_origin(Some(local), &format!("{local}/x"), &[]);
    assert_eq!(origin, Ok(Origin::Own));
    assert_eq!(headers(&Origin::Own), [("vary", "Origin".to_owned())]);
}

#[test]
fn origin_similar_to_an_allowed_one_is_rejected() {
    for sent in [
        "",
        "*",
        "null",
        "https://docs.example/",
        "https://docs.example:443",
        "https://docs.example:8443",
        "https://docs.example.evil.example",
        "https://evil-docs.example",
        "https://a.docs.example",
        "https://docs.example@evil.example",
        "https://docs.example, https://evil.example",
        "https://docs.example\0",
        " https://docs.example",
        "https://docsXexample",
        "HTTPS://docs.example",
        "http://docs.example",
        "http://localhost:517",
        "http://localhost:51730",
        "https://gate.example:443",
        "http://gate.example",
        "https://evil.example",
    ] {
        let problem = check_origin(Some(sent), URL, &allowed()).unwrap_err();
        assert_eq!(summarize(&problem), "403 origin-not-allowed", "{sent}");
        assert_eq!(problem.headers, []);
        assert!(sent.len() < 6 || !problem.detail.contains(sent));
    }
}

#[test]
fn preflight_response_lists_allowed_methods_and_fields() {
    let headers = preflight_headers(&["GET", "POST"]);
    let value = |name| header(&headers, name);
    assert_eq!(value("access-control-allow-methods"), Some("GET, POST"));
    let fields = value("access-control-allow-headers").unwrap();
    let has_field = |name: &str| fields.split(", ").any(|field| field == name);
    has_field.accepts(&[
        "Authorization",
        "Idempotency-Key",
        "Prefer",
        "Quillgate-Client",
        "Webhook-Url",
    ]);
    assert_eq!(value("access-control-max-age"), Some("7200"));
    assert_eq!(value("access-control-allow-credentials"), None);
    let found = value("access-control-allow-origin");
    assert_eq!(found, None, "the origin says");
}
