//! Sliding-window limits, over an hour by default.

use std::collections::{HashMap, VecDeque};

use crate::api_error::ApiError;
use crate::clock::Timestamp;

pub(crate) const HOUR_MS: u64 = 60 * 60 * 1000;

/// A maximum number of uses in any window, counted separately for each scope.
pub(crate) struct SlidingLimit {
    /// The maximum, or `None` for no limit.
    uses: Option<u32>,
    window_ms: u64,
    used: HashMap<String, VecDeque<Timestamp>>,
}

impl SlidingLimit {
    pub(crate) fn hourly(uses: u32) -> Self {
        Self {
            uses: Some(uses),
            window_ms: HOUR_MS,
            used: HashMap::new(),
        }
    }

    pub(crate) fn uses(&self) -> Option<u32> {
        self.uses
    }

    /// Changes the limit. Earlier uses still count.
    pub(crate) fn set(&mut self, uses: Option<u32>, window_ms: u64) {
        self.uses = uses;
        self.window_ms = window_ms;
    }

    /// Counts a use, unless the uses of the window are exhausted.
    pub(crate) fn take(&mut self, scope: &str, now: Timestamp) -> Result<(), ApiError> {
        let used = self.used.entry(scope.to_owned()).or_default();
        while used
            .front()
            .is_some_and(|first| now.since(*first) >= self.window_ms)
        {
            used.pop_front();
        }
        let used_up = |uses| usize::try_from(uses).is_ok_and(|uses: usize| used.len() >= uses);
        if self.uses.is_some_and(used_up) {
            return Err(ApiError::RateLimited);
        }
        used.push_back(now);
        Ok(())
    }

    pub(crate) fn clear(&mut self) {
        self.used.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_use_expires_after_an_hour() {
        let mut limit = SlidingLimit::hourly(2);
        assert_eq!(limit.take("a", Timestamp(0)), Ok(()));
        assert_eq!(limit.take("a", Timestamp(1000)), Ok(()));
        assert_eq!(
            limit.take("a", Timestamp(HOUR_MS - 1)),
            Err(ApiError::RateLimited)
        );
        assert_eq!(limit.take("a", Timestamp(HOUR_MS)), Ok(()));
        assert_eq!(
            limit.take("a", Timestamp(HOUR_MS + 999)),
            Err(ApiError::RateLimited)
        );
        assert_eq!(limit.take("a", Timestamp(HOUR_MS + 1000)), Ok(()));
    }

    #[test]
    fn scopes_do_not_share_a_limit() {
        let mut limit = SlidingLimit::hourly(1);
        assert_eq!(limit.take("a", Timestamp(0)), Ok(()));
        assert_eq!(limit.take("b", Timestamp(0)), Ok(()));
        assert_eq!(limit.take("a", Timestamp(0)), Err(ApiError::RateLimited));
    }

    #[test]
    fn a_changed_limit_counts_earlier_uses() {
        let mut limit = SlidingLimit::hourly(1);
        assert_eq!(limit.take("a", Timestamp(0)), Ok(()));
        limit.set(Some(2), 500);
        assert_eq!(limit.take("a", Timestamp(1)), Ok(()));
        assert_eq!(limit.take("a", Timestamp(2)), Err(ApiError::RateLimited));
        assert_eq!(limit.take("a", Timestamp(500)), Ok(()));
    }

    #[test]
    fn an_absent_limit_permits_any_number_of_uses() {
        let mut limit = SlidingLimit::hourly(0);
        assert_eq!(limit.take("a", Timestamp(0)), Err(ApiError::RateLimited));
        limit.set(None, HOUR_MS);
        assert!((0..1000).all(|_| limit.take("a", Timestamp(0)) == Ok(())));
    }
}
