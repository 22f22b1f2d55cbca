//! The entry's `guard` function, which settles the promises of an instance that trapped.

use std::cell::RefCell;

use js_sys::Function;

thread_local! {
    static GUARD: RefCell<Option<Function>> = const { RefCell::new(None) };
}

/// Stores the entry's `guard`.
pub fn set_guard(guard: Function) {
    GUARD.set(Some(guard));
}

/// Returns the entry's `guard`.
pub fn guard() -> Option<Function> {
    GUARD.with_borrow(Clone::clone)
}
