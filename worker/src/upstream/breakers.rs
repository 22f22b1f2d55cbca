//! The circuit breakers of an isolate.

use std::cell::RefCell;

use quillgate::{Millis, Operation};

use crate::upstream::breaker::{Breakers, State};

thread_local! {
    static BREAKERS: RefCell<Breakers> = RefCell::default();
}

/// Runs something with the breakers.
pub fn with_breakers<T>(run: impl FnOnce(&mut Breakers) -> T) -> T {
    BREAKERS.with_borrow_mut(run)
}

/// What the breakers do with these operations, in this project or in any.
pub fn breaker_state(operations: &[Operation], project: Option<&str>, now: Millis) -> State {
    with_breakers(|breakers| breakers.state(operations, project, now))
}
