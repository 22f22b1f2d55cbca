//! The wasm-bindgen bindings: what the npm package calls.
//!
//! Rust decides, JavaScript carries. The one class is [`Task`]: events go in, commands come out,
//! both as numbers ([`crate::protocol`]), and texts cross by the functions of `host.js`. A body is
//! parsed, checked and copied in JavaScript; its rows are never seen here.
//!
//! Nothing here throws, panics or formats: a refusal is handed over as numbers and texts, of which
//! the package makes its errors.

mod host;
mod task;

/// A tenth of the default allocator's size. A call allocates a few hundred bytes and frees them.
///
/// The package's wasm has one thread: nothing shares its memory, which it makes itself.
#[global_allocator]
#[expect(unsafe_code, reason = "the allocator's declaration asks for it")]
static ALLOCATOR: lol_alloc::AssumeSingleThreaded<lol_alloc::FreeListAllocator> =
    // SAFETY: see above.
    unsafe { lol_alloc::AssumeSingleThreaded::new(lol_alloc::FreeListAllocator::new()) };

pub use host::attach;
pub use task::{Task, check_client};
