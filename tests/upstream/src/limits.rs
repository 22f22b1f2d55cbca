//! Limits that slide over the last hour, or whatever a test makes the window.

use std::collections::{HashMap, VecDeque};

use crate::clock::Moment;
use crate::refusal::Refusal;

pub(crate) const HOUR_MS: u64 = 60 * 60 * 1000;

/// At most so many uses in any window, counted separately for each scope.
pub(crate) struct SlidingLimit {
    /// None: no limit at all.
    uses: Option<u32>,
    window_ms: u64,
    taken: HashMap<String, VecDeque<Moment>>,
}

impl SlidingLimit {
    pub(crate) fn hourly(uses: u32) -> Self {
        Self {
            uses: Some(uses),
            window_ms: HOUR_MS,
            taken: HashMap::new(),
        }
    }

    pub(crate) fn uses(&self) -> Option<u32> {
        self.uses
    }

    /// Changes the limit; what has been taken remains taken.
    pub(crate) fn set(&mut self, uses: Option<u32>, window_ms: u64) {
        self.uses = uses;
        self.window_ms = window_ms;
    }

    /// Takes one use, unless the window's are all taken.
    pub(crate) fn take(&mut self, scope: &str, now: Moment) -> Result<(), Refusal> {
        let taken = self.taken.entry(scope.to_owned()).or_default();
        while taken
            .front()
            .is_some_and(|first| now.since(*first) >= self.window_ms)
        {
            taken.pop_front();
        }
        let used_up = |uses| usize::try_from(uses).is_ok_and(|uses: usize| taken.len() >= uses);
        if self.uses.is_some_and(used_up) {
            return Err(Refusal::RateLimited);
        }
        taken.push_back(now);
        Ok(())
    }

    pub(crate) fn clear(&mut self) {
        self.taken.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_use_comes_back_an_hour_after_it_was_taken() {
        let mut limit = SlidingLimit::hourly(2);
        assert_eq!(limit.take("a", Moment(0)), Ok(()));
        assert_eq!(limit.take("a", Moment(1000)), Ok(()));
        assert_eq!(
            limit.take("a", Moment(HOUR_MS - 1)),
            Err(Refusal::RateLimited)
        );
        assert_eq!(limit.take("a", Moment(HOUR_MS)), Ok(()));
        assert_eq!(
            limit.take("a", Moment(HOUR_MS + 999)),
            Err(Refusal::RateLimited)
        );
        assert_eq!(limit.take("a", Moment(HOUR_MS + 1000)), Ok(()));
    }

    #[test]
    fn scopes_do_not_share_a_limit() {
        let mut limit = SlidingLimit::hourly(1);
        assert_eq!(limit.take("a", Moment(0)), Ok(()));
        assert_eq!(limit.take("b", Moment(0)), Ok(()));
        assert_eq!(limit.take("a", Moment(0)), Err(Refusal::RateLimited));
    }

    #[test]
    fn a_changed_limit_counts_what_was_taken_before() {
        let mut limit = SlidingLimit::hourly(1);
        assert_eq!(limit.take("a", Moment(0)), Ok(()));
        limit.set(Some(2), 500);
        assert_eq!(limit.take("a", Moment(1)), Ok(()));
        assert_eq!(limit.take("a", Moment(2)), Err(Refusal::RateLimited));
        assert_eq!(limit.take("a", Moment(500)), Ok(()));
    }

    #[test]
    fn no_limit_takes_any_number_of_uses() {
        let mut limit = SlidingLimit::hourly(0);
        assert_eq!(limit.take("a", Moment(0)), Err(Refusal::RateLimited));
        limit.set(None, HOUR_MS);
        assert!((0..1000).all(|_| limit.take("a", Moment(0)) == Ok(())));
    }
}
