//! Tests of webhooks: allowed URLs, signatures and deliveries.

mod address;
mod delivery;
mod signature;
