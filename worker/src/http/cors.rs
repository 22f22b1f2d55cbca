use crate::http::problem::Problem;
use crate::http::problem_kind::ProblemKind;
use crate::http::url::origin_of;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Origin {
    /// Also a request without `Origin`. Needs no `Access-Control-*` fields.
    #[default]
    Own,
    /// Listed in `ALLOWED_ORIGINS`.
    Allowed(String),
}

/// Without CORS headers, the browser would hide the response, but the request would still take
/// effect.
pub fn check_origin(sent: Option<&str>, url: &str, allowed: &[String]) -> Result<Origin, Problem> {
    let Some(sent) = sent else {
        return Ok(Origin::Own);
    };
    if allowed.iter().any(|origin| origin == sent) {
        return Ok(Origin::Allowed(sent.to_owned()));
    }
    if origin_of(url) == sent {
        return Ok(Origin::Own);
    }
    let detail = "pages of this origin may not call the gateway; see ALLOWED_ORIGINS";
    Err(Problem::new(ProblemKind::OriginNotAllowed, detail))
}

pub fn headers(origin: &Origin) -> Vec<(&'static str, String)> {
    let mut headers = vec![("vary", "Origin".to_owned())];
    if let Origin::Allowed(origin) = origin {
        headers.push(("access-control-allow-origin", origin.clone()));
        headers.push(("access-control-expose-headers", EXPOSED.to_owned()));
        headers.push(("timing-allow-origin", origin.clone()));
    }
    headers
}

/// In addition to the safelisted fields.
pub const EXPOSED: &str = "Age, Cache-Status, Content-Disposition, ETag, Idempotent-Replayed, Preference-Applied, Retry-After, RateLimit, RateLimit-Policy, Server-Timing, WWW-Authenticate, X-Request-Id";

/// The npm package sends `Quillgate-Client` instead of `User-Agent`, which browsers forbid.
pub const SENT: &str = "Authorization, Cache-Control, Content-Type, Idempotency-Key, Idempotency-Retry, If-None-Match, Last-Event-ID, Prefer, Quillgate-Client, Traceparent, Tracestate, Webhook-Url, X-Request-Id";

pub fn preflight_headers(methods: &[&str]) -> Vec<(&'static str, String)> {
    vec![
        ("access-control-allow-methods", methods.join(", ")),
        ("access-control-allow-headers", SENT.to_owned()),
        ("access-control-max-age", "7200".to_owned()),
    ]
}
