//! Application tests. They cover the configuration, plans, log lines and the health report.

mod config;
mod health;
mod log;
mod plan;
