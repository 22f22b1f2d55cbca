//! The edge gateway: holds the admin key, lets in only those who belong, and speaks
//! the upstream's own paths.
//!
//! A request's life, as file names: [`route`] finds the operation, [`access`] the
//! caller, [`content`] the values; [`gate`] puts the three together and decides.
//! What is decided is plain data, so all of it is tested without workerd; `forward`
//! and `respond` carry it out there.

pub mod access;
pub mod config;
pub mod content;
pub mod cors;
pub mod gate;
pub mod problem;
pub mod route;
pub mod upstream;

#[cfg(target_arch = "wasm32")]
mod forward;
#[cfg(target_arch = "wasm32")]
mod log;
#[cfg(target_arch = "wasm32")]
mod respond;
#[cfg(target_arch = "wasm32")]
mod serve;
