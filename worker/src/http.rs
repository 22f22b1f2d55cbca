//! HTTP. These modules define the parts of requests and responses, problems, CORS and tracing.

pub mod content;
pub mod cors;
pub mod gateway_rule;
pub mod not_found_page;
pub mod problem;
pub mod problem_kind;
pub mod request_head;
pub mod response;
pub mod route;
pub mod trace;
pub mod url;
