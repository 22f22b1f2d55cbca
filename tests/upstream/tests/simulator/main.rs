//! Tests of the simulator over HTTP.

#![expect(
    clippy::unwrap_used,
    reason = "unwrapping a missing value fails the test"
)]

mod agent_jobs;
mod auth;
mod automations;
mod client;
mod conversations;
mod deployments;
mod faults;
mod feedback;
mod live;
mod page_views;
mod previews;
mod reports;
mod searches;
mod time;
mod visitors;
mod wire;
