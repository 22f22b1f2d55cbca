//! Which origins may call, by their exact names, and what their pages may send and read (Fetch,
//! section 3.2).

use crate::http::problem::Problem;
use crate::http::problem_kind::ProblemKind;
use crate::http::url::origin_of;

/// The origin of a request, as far as the answer depends on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// Not a browser, or a page of the gateway's own origin: the answer needs no header fields.
    Own,
    /// A page of this allowed origin.
    Allowed(String),
}

/// Checks a request's `Origin`.
///
/// # Errors
/// 403 for an origin that is neither the gateway's own nor allowed: its page could not read the
/// answer, and the request must not have an effect either.
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
    Err(origin_not_allowed())
}

/// 403: a page of an origin that is not allowed.
#[must_use]
pub fn origin_not_allowed() -> Problem {
    let detail = "pages of this origin may not call the gateway; see ALLOWED_ORIGINS";
    Problem::new(ProblemKind::OriginNotAllowed, detail)
}

/// The header fields of every answer to a page of this origin.
#[must_use]
pub fn headers(origin: &Origin) -> Vec<(&'static str, String)> {
    let mut headers = vec![("vary", "Origin".to_owned())];
    if let Origin::Allowed(origin) = origin {
        headers.push(("access-control-allow-origin", origin.clone()));
        headers.push(("access-control-expose-headers", EXPOSED.to_owned()));
        headers.push(("timing-allow-origin", origin.clone()));
    }
    headers
}

/// The response header fields that a page may read, beside those that any page may read.
pub const EXPOSED: &str = "Age, Cache-Status, Content-Disposition, ETag, Idempotent-Replayed, Preference-Applied, Retry-After, RateLimit, RateLimit-Policy, Server-Timing, WWW-Authenticate, X-Request-Id";

/// The request header fields that a page may send, beside those that any page may send.
pub const SENT: &str = "Authorization, Cache-Control, Cf-Turnstile-Response, Content-Type, Idempotency-Key, Idempotency-Retry, If-None-Match, Last-Event-ID, Prefer, Traceparent, Tracestate, Webhook-Url, X-Request-Id";

/// The header fields of the answer to a preflight request for a path with these methods.
#[must_use]
pub fn preflight_headers(methods: &[&str]) -> Vec<(&'static str, String)> {
    vec![
        ("access-control-allow-methods", methods.join(", ")),
        ("access-control-allow-headers", SENT.to_owned()),
        ("access-control-max-age", "7200".to_owned()),
    ]
}
