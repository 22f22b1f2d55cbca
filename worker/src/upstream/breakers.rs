//! The circuit breakers of an isolate.

use std::cell::RefCell;

use quillgate::{Millis, Policy};

use crate::upstream::breaker::{Breakers, State};

thread_local! {
    static BREAKERS: RefCell<Breakers> = RefCell::default();
}

/// Calls `run` with this isolate's circuit breakers.
pub fn with_breakers<T>(run: impl FnOnce(&mut Breakers) -> T) -> T {
    BREAKERS.with_borrow_mut(run)
}

/// Returns the worst state of these policies, in one project or in all.
pub fn breaker_state(policies: &[Policy], project: Option<&str>, now: Millis) -> State {
    with_breakers(|breakers| breakers.state(policies, project, now))
}
