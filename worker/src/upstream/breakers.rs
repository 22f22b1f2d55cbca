//! The circuit breakers of an isolate.

use std::cell::RefCell;

use quillgate::{Millis, RateLimitPolicy};

use crate::upstream::breaker::{Breakers, State};

thread_local! {
    static BREAKERS: RefCell<Breakers> = RefCell::default();
}

/// Calls `run` with this isolate's circuit breakers.
pub fn with_breakers<T>(run: impl FnOnce(&mut Breakers) -> T) -> T {
    BREAKERS.with_borrow_mut(run)
}

/// Returns [`State::Open`] if any policy's breaker is open in `project`, or in any project for
/// `None`.
pub fn breaker_state(policies: &[RateLimitPolicy], project: Option<&str>, now: Millis) -> State {
    with_breakers(|breakers| breakers.state(policies, project, now))
}
