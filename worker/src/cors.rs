//! Which pages of which origins may call, by exact origin (Fetch, section 3.2).

use crate::problem::Problem;

/// What is said to a browser about an origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// No browser, or a page of the gateway's own origin: nothing needs to be said.
    Own,
    /// A page of this allowed origin.
    Allowed(String),
}

/// Decides about a request's `Origin`.
///
/// # Errors
/// 403 for an origin that is neither the gateway's own nor allowed: its page could not
/// read the answer, and what is not allowed is not done.
pub fn origin(sent: Option<&str>, url: &str, allowed: &[String]) -> Result<Origin, Problem> {
    let Some(sent) = sent else {
        return Ok(Origin::Own);
    };
    if allowed.iter().any(|origin| origin == sent) {
        return Ok(Origin::Allowed(sent.to_owned()));
    }
    if own_origin(url) == sent {
        return Ok(Origin::Own);
    }
    Err(not_allowed())
}

/// 403: a page from elsewhere.
#[must_use]
pub fn not_allowed() -> Problem {
    let detail = "pages of this origin may not call; see ALLOWED_ORIGINS";
    Problem::new(403, "origin-not-allowed", "Origin not allowed", detail)
}

fn own_origin(url: &str) -> &str {
    let host_at = url.find("://").map_or(0, |at| at + 3);
    let end = url[host_at..]
        .find(['/', '?', '#'])
        .map_or(url.len(), |at| host_at + at);
    &url[..end]
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

const EXPOSED: &str = "Age, Cache-Status, ETag, Idempotent-Replayed, Preference-Applied, Retry-After, RateLimit, RateLimit-Policy, Server-Timing, WWW-Authenticate, X-Request-Id";

/// Request header fields that a page may send, beside those that every page may.
const SENT: &str = "Authorization, Cache-Control, Cf-Turnstile-Response, Content-Type, Idempotency-Key, Idempotency-Retry, If-None-Match, Last-Event-ID, Prefer, Traceparent, Webhook-Url, X-Request-Id";

/// The header fields of the answer to a preflight request for a path with these methods.
#[must_use]
pub fn preflight_headers(methods: &[&str]) -> Vec<(&'static str, String)> {
    vec![
        ("access-control-allow-methods", methods.join(", ")),
        ("access-control-allow-headers", SENT.to_owned()),
        ("access-control-max-age", "7200".to_owned()),
    ]
}
