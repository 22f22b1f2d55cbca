//! Application tests. They cover the configuration, admission, log lines and the health report.

mod admission;
mod config;
mod health;
mod log;
mod routes;
