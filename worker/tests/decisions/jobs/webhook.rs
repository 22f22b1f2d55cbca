//! Webhook tests. They cover allowed URLs, signatures and deliveries.

mod address;
mod delivery;
mod queue;
mod signature;
