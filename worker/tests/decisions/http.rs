//! HTTP tests. They cover requests, routing, CORS, trace context, responses and problem details.

mod content;
mod cors;
mod not_found_page;
mod problem;
mod request_head;
mod response;
mod route;
mod trace;
mod url;
