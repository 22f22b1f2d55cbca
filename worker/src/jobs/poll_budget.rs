//! The poll budget of a project. The budget limits the number of polls in any window, and
//! determines the time between polls.
//!
//! Mintlify may count reads of jobs against the limit for creations. Polls therefore have a small
//! budget, and the time between polls grows as the budget is used. As a result, a few jobs are
//! polled often, many jobs are polled slowly, and a new job never finds the budget empty for long.

use quillgate::Millis;
use serde::Deserialize;

/// Polls are spaced so that the remaining budget would last for one sixth of the window.
const PACE_PARTS: u64 = 6;
/// One alarm starts at most as many polls as fit into one sixtieth of the window at the current
/// spacing, and at least one.
const BURST_PARTS: u64 = 60;

/// The poll budget of a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PollBudget {
    /// The maximum number of polls in any window, at least 1.
    pub limit: u32,
    /// The length of a window, an hour by default.
    pub window: Millis,
}

/// The polls of a project in the current window.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
pub struct PollUsage {
    /// The number of polls that count in the window.
    pub used: u32,
    /// When the latest poll was sent.
    pub latest: Option<Millis>,
    /// The end of the oldest step that contains polls.
    pub oldest_step: Option<Millis>,
    /// The end of the pause after a 429 from Mintlify.
    pub paused_until: Option<Millis>,
}

impl PollUsage {
    /// Whether polls are paused because Mintlify responded 429.
    pub fn is_paused(&self, now: Millis) -> bool {
        self.paused_until.is_some_and(|until| now < until)
    }
}

impl PollBudget {
    /// Computes the minimum time between two polls of any of a project's jobs. Returns `None` when
    /// the budget of the window is used up.
    ///
    /// ```
    /// use quillgate::Millis;
    /// use quillgate_worker::jobs::poll_budget::PollBudget;
    ///
    /// let budget = PollBudget { limit: 20, window: Millis::from_seconds(3600) };
    /// assert_eq!(budget.compute_spacing(0), Some(Millis::from_seconds(30)));
    /// assert_eq!(budget.compute_spacing(10), Some(Millis::from_seconds(60)));
    /// assert_eq!(budget.compute_spacing(20), None);
    /// ```
    pub fn compute_spacing(self, used: u32) -> Option<Millis> {
        let left = u64::from(self.limit.saturating_sub(used));
        (left > 0).then(|| Millis((self.window.0 / PACE_PARTS).div_ceil(left)))
    }

    /// Returns when the next poll may be sent; `None` means now.
    pub fn find_next(self, usage: &PollUsage) -> Option<Millis> {
        let next = match self.compute_spacing(usage.used) {
            Some(spacing) => usage.latest.map(|latest| latest.plus(spacing)),
            None => usage.oldest_step.map(|end| end.plus(self.window)),
        };
        next.max(usage.paused_until)
    }

    /// Returns the number of polls that may be sent now, for jobs that are watched or have a
    /// webhook.
    pub fn count_allowed(self, usage: &PollUsage, now: Millis) -> u32 {
        if self.find_next(usage).is_some_and(|next| now < next) {
            return 0;
        }
        let Some(spacing) = self.compute_spacing(usage.used) else {
            return 0;
        };
        let burst = Millis(self.window.0 / BURST_PARTS);
        let elapsed = usage
            .latest
            .map_or(burst, |latest| now.since(latest).min(burst));
        let earned = elapsed.0 / spacing.0.max(1);
        let left = self.limit.saturating_sub(usage.used);
        u32::try_from(earned).unwrap_or(u32::MAX).clamp(1, left)
    }

    /// Returns the number of polls that a request for a list or a record, or a new watcher, may
    /// cause now, regardless of the spacing. Returns 0 during a pause after a 429. Also returns 0
    /// once half of the budget is used, so that the rest remains for the spaced polls.
    pub fn count_immediate(self, usage: &PollUsage, now: Millis) -> u32 {
        if usage.is_paused(now) {
            return 0;
        }
        let left = self.limit.saturating_sub(usage.used);
        left.saturating_sub(self.limit / 2)
    }
}
