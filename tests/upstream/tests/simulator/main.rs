//! Speaks HTTP to a simulator, as the rest of the project's tests do.

#![expect(clippy::unwrap_used, reason = "a test may end at once")]

mod agent_jobs;
mod auth;
mod client;
mod command;
mod control;
mod faults;
mod page_views;
mod wire;
