mod events;
mod idempotency;
mod machine;
mod poll_budget;
mod pull_request;
mod records;
mod webhook;
