//! The page for browsers that navigate to an unknown path. Other clients receive a problem.

use crate::http::problem::Problem;
use crate::http::problem_kind::ProblemKind;
use crate::http::request_head::{RequestHead, accepts_page};
use crate::http::response::{GatewayResponse, HeaderFields};

const PAGE: &str = include_str!("not_found_page.html");

/// Allows only the style of the page, by its hash.
const POLICY: &str = "default-src 'none'; \
    style-src 'sha256-8K7S1BrLQawYPGdE7ZTgSUufndI8CNky8WF+Xzm0zSk='; \
    base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

pub fn applies(problem: &Problem, head: &RequestHead) -> bool {
    problem.kind == ProblemKind::NotFound
        && matches!(&*head.method, "GET" | "HEAD")
        && accepts_page(head.header("accept"))
}

pub fn response() -> GatewayResponse {
    let headers = HeaderFields::default()
        .with("content-type", "text/html; charset=utf-8")
        .with("content-security-policy", POLICY)
        .with("cross-origin-opener-policy", "same-origin")
        .with("cross-origin-resource-policy", "same-origin")
        .with("referrer-policy", "no-referrer")
        .with("x-frame-options", "DENY");
    GatewayResponse {
        status: 404,
        headers,
        body: Some(PAGE.to_owned()),
        problem: Some(ProblemKind::NotFound),
    }
}
