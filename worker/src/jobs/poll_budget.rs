//! The poll budget of a project. Mintlify may count reads of jobs against the limit for creations,
//! so polls have a small budget, and the time between polls grows as the budget is used. A new job
//! never finds the budget empty for long.

use quillgate::Millis;
use serde::Deserialize;

/// Polls are spaced so that the remaining budget lasts for this part of the window.
const PACE_PARTS: u64 = 6;
/// One alarm starts at most as many polls as fit into this part of the window, and at least one.
const BURST_PARTS: u64 = 60;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PollBudget {
    /// Per window, at least 1.
    pub limit: u32,
    pub window: Millis,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
pub struct PollUsage {
    pub used: u32,
    pub latest: Option<Millis>,
    pub oldest_step: Option<Millis>,
    /// After a 429 from Mintlify.
    pub paused_until: Option<Millis>,
}

impl PollUsage {
    pub fn is_paused(&self, now: Millis) -> bool {
        self.paused_until.is_some_and(|until| now < until)
    }
}

impl PollBudget {
    /// The minimum time between two polls of any jobs. `None` if the budget is used up.
    pub fn compute_spacing(self, used: u32) -> Option<Millis> {
        let left = u64::from(self.limit.saturating_sub(used));
        (left > 0).then(|| Millis((self.window.0 / PACE_PARTS).div_ceil(left)))
    }

    /// `None` means now.
    pub fn find_next(self, usage: &PollUsage) -> Option<Millis> {
        let next = match self.compute_spacing(usage.used) {
            Some(spacing) => usage.latest.map(|latest| latest.plus(spacing)),
            None => usage.oldest_step.map(|end| end.plus(self.window)),
        };
        next.max(usage.paused_until)
    }

    /// For jobs that are watched or have a webhook.
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

    /// For a list, a record or a new watcher, regardless of the spacing. The second half of the
    /// budget remains for the spaced polls.
    pub fn count_immediate(self, usage: &PollUsage, now: Millis) -> u32 {
        if usage.is_paused(now) {
            return 0;
        }
        let left = self.limit.saturating_sub(usage.used);
        left.saturating_sub(self.limit / 2)
    }
}
