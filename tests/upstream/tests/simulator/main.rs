//! Speaks HTTP to a simulator, as the rest of the project's tests do.

#![expect(clippy::unwrap_used, reason = "a test may end at once")]

mod agent_jobs;
mod auth;
mod client;
mod command;
mod control;
mod conversations;
mod faults;
mod feedback;
mod page_faults;
mod page_views;
mod reports;
mod searches;
mod time;
mod visitors;
mod wire;
