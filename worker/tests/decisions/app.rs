//! The configuration, the plan of a request, the log and the health report.

mod config;
mod health;
mod log;
mod plan;
