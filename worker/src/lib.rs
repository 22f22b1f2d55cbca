//! The edge gateway: holds the admin key, lets in only those who belong, and speaks
//! the upstream's own paths.
//!
//! # The life of a request, as file names
//!
//! 1. [`route`] finds the operation, [`identity`] the caller and [`content`] the values; [`plan`]
//!    combines them and decides what to do.
//! 2. [`jobs`] decides what is kept and announced of a job, [`reports`] which pages of analytics are
//!    used and how fresh they are, and [`events`] what a stream sends. [`budget`], [`read_budget`],
//!    [`breaker`] and [`permits`] say whether a request may go upstream, [`upstream`] what its answer
//!    means.
//! 3. [`archive`] decides how the daily archive answers; which request it sends next, the core does
//!    ([`quillgate::archive`]).
//! 4. [`session`] decides which cookies count and how people sign in to the page.
//! 5. `objects` contains the Durable Objects and their stores.
//! 6. `platform` is what touches the runtime: the fetch handler, `fetch`, `WebCrypto`, sockets.
//!
//! Everything but `objects` and `platform` is plain data in, plain data out: no I/O, no clock and
//! no randomness, so all of it is tested natively, in seconds.

pub mod archive;
pub mod bounded_cache;
pub mod breaker;
pub mod budget;
pub mod config;
pub mod content;
pub mod cors;
pub mod events;
pub mod hkdf;
pub mod identity;
pub mod jobs;
pub mod json;
pub mod log;
pub mod packed_head;
pub mod permits;
pub mod plan;
pub mod problem;
pub mod read_budget;
pub mod reports;
pub mod response;
pub mod route;
pub mod session;
pub mod trace;
pub mod turnstile;
pub mod upstream;
pub mod url;
pub mod usage;
pub mod variable;
pub mod watch;

#[cfg(all(target_arch = "wasm32", feature = "runtime"))]
mod objects;
#[cfg(all(target_arch = "wasm32", feature = "runtime"))]
mod platform;
