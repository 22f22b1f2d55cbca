//! The wasm-bindgen bindings: what the npm package calls.
//!
//! Rust decides, JavaScript carries. The one class is [`Task`]: events and numbers go in, numbers
//! come out, and texts cross by the three functions of `host.js`. A body is parsed by the host,
//! and checked and copied once by the generated `decode.js`; its rows are never seen here.
//!
//! Nothing here throws, panics or formats: a refusal is handed over as numbers and texts, of which
//! the package makes its errors.

mod host;
mod task;

/// A third of the default allocator's size, and quicker.
#[global_allocator]
static ALLOCATOR: lol_alloc::LockedAllocator<lol_alloc::FreeListAllocator> =
    lol_alloc::LockedAllocator::new(lol_alloc::FreeListAllocator::new());

pub use task::{Task, check_client};
