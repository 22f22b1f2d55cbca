//! Tests of the HTTP layer, from request heads to problems.

mod content;
mod cors;
mod not_found_page;
mod problem;
mod request_head;
mod response;
mod route;
mod trace;
mod url;
