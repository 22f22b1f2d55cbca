//! The answer: problems, preflights, and the upstream's own, streamed.

use worker::{Headers, Response, ResponseBody, ResponseBuilder, Result};

use crate::cors;
use crate::problem::{MEDIA_TYPE, Problem};
use crate::route;
use crate::upstream::PASSED_ON;

/// Header fields of every answer of the API.
const ALWAYS: [(&str, &str); 2] = [
    ("cache-control", "no-store"),
    ("x-content-type-options", "nosniff"),
];

/// A problem as an answer.
pub fn problem(problem: &Problem, id: &str) -> Result<Response> {
    let headers = Headers::new();
    for (name, value) in &problem.headers {
        headers.set(name, value)?;
    }
    headers.set("content-type", MEDIA_TYPE)?;
    Ok(ResponseBuilder::new()
        .with_status(problem.status)
        .with_headers(headers)
        .fixed(problem.to_json(id).into_bytes()))
}

/// The Worker is up.
pub fn healthy() -> Result<Response> {
    let headers = Headers::new();
    headers.set("content-type", "application/json")?;
    Ok(ResponseBuilder::new()
        .with_headers(headers)
        .fixed(b"{\"status\":\"ok\"}".to_vec()))
}

/// What a path takes (RFC 9110, section 9.3.7), and what a browser's page may send it.
pub fn options(methods: &[&str]) -> Result<Response> {
    let headers = Headers::new();
    headers.set("allow", &route::allowed(methods))?;
    for (name, value) in cors::preflight_headers(methods) {
        headers.set(name, &value)?;
    }
    Ok(ResponseBuilder::new()
        .with_status(204)
        .with_headers(headers)
        .empty())
}

/// The upstream's success: its status, the few header fields that are passed on, and
/// its body as it comes, never buffered.
pub fn success(upstream: &Response) -> Result<Response> {
    let headers = Headers::new();
    for name in PASSED_ON {
        if let Some(value) = upstream.headers().get(name)? {
            headers.set(name, &value)?;
        }
    }
    let builder = ResponseBuilder::new()
        .with_status(upstream.status_code())
        .with_headers(headers);
    Ok(match upstream.body() {
        ResponseBody::Stream(stream) => builder.stream(stream.clone()),
        ResponseBody::Body(bytes) => builder.fixed(bytes.clone()),
        ResponseBody::Empty => builder.empty(),
    })
}

/// What every answer carries: the request's id, what a browser is told, and that
/// nobody in between keeps it.
pub fn finished(mut response: Response, id: &str, origin: &cors::Origin) -> Result<Response> {
    let headers = response.headers_mut();
    for (name, value) in ALWAYS {
        headers.set(name, value)?;
    }
    for (name, value) in cors::headers(origin) {
        headers.set(name, &value)?;
    }
    headers.set("x-request-id", id)?;
    Ok(response)
}
