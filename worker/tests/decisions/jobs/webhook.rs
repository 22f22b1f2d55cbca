//! Where webhooks may go, how they are signed and when they are tried again.

mod address;
mod delivery;
mod signature;
