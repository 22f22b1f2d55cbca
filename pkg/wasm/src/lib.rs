//! The WebAssembly module inside the npm package `quillgate`.
//!
//! The driver in TypeScript performs the I/O and passes each event to a [`Task`], which returns the
//! next command. Events and commands are numbers, see [`protocol`]. Strings pass through `host.js`.
//! JavaScript parses and decodes response bodies, so rows never enter the module.
//!
//! The module does not throw, panic or format messages. It emits errors as numbers and strings, and
//! the package creates its error classes from them.

#[cfg(target_arch = "wasm32")]
mod host;
pub mod protocol;
#[cfg(target_arch = "wasm32")]
mod task;

/// Has a tenth of the code size of the default allocator. It is fast enough, because a call allocates
/// only a few hundred bytes.
#[cfg(target_arch = "wasm32")]
#[global_allocator]
#[expect(unsafe_code, reason = "the constructor is unsafe")]
static ALLOCATOR: lol_alloc::AssumeSingleThreaded<lol_alloc::FreeListAllocator> =
    // SAFETY: the package never shares the memory of an instance with another thread.
    unsafe { lol_alloc::AssumeSingleThreaded::new(lol_alloc::FreeListAllocator::new()) };

#[cfg(target_arch = "wasm32")]
pub use host::attach;
#[cfg(target_arch = "wasm32")]
pub use task::{Task, check_client};
