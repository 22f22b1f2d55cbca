//! Tests of the application: its configuration, plans, log lines and health report.

mod config;
mod health;
mod log;
mod plan;
