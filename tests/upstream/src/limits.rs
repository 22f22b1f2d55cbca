//! Sliding-window limits.

use std::collections::{HashMap, VecDeque};

use crate::api_error::ApiError;
use crate::clock::Timestamp;

pub(crate) const HOUR_MS: u64 = 60 * 60 * 1000;
pub(crate) const MINUTE_MS: u64 = 60 * 1000;
pub(crate) const TEN_SECONDS_MS: u64 = 10 * 1000;

/// The scope of a limit that all projects share.
pub(crate) const ORGANISATION: &str = "organisation";

/// A maximum number of uses in any window, counted separately for each scope.
pub(crate) struct SlidingLimit {
    /// The maximum, or `None` for no limit.
    uses: Option<u32>,
    window_ms: u64,
    used: HashMap<String, VecDeque<Timestamp>>,
}

impl SlidingLimit {
    pub(crate) fn hourly(uses: u32) -> Self {
        Self::new(uses, HOUR_MS)
    }

    pub(crate) fn new(uses: u32, window_ms: u64) -> Self {
        Self {
            uses: Some(uses),
            window_ms,
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
