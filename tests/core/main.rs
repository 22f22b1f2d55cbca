//! Tests of the core on the native target.
#![cfg(not(target_arch = "wasm32"))]
#![expect(
    clippy::unwrap_used,
    reason = "unwrapping a missing value fails the test"
)]

mod agent_job;
mod call;
mod columns;
mod conversions;
mod credential;
mod date;
mod declarations;
mod deployment;
mod error;
mod event_stream;
mod http_date;
mod job_list;
mod operations;
mod options;
mod page_views;
mod pages;
mod parameters;
mod parts;
mod poll;
mod pull_request;
mod response;
mod retry;
mod schema;
mod task;
mod ulid;
