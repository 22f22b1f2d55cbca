//! The budget for reading jobs, per caller and project. The gateway also counts a caller's new
//! sessions in this budget, under a separate key.
//!
//! Counting a read does not call a Durable Object, which keeps reads fast, so each isolate counts
//! separately. A caller that reaches several isolates can use the full limit in each. The budget
//! protects the upstream from floods but is not an exact quota. Only a quota of 0 is exact.
//! Cloudflare's rate limiting binding is not exact either. The binding counts per location over 10
//! or 60 seconds, has a limit that is fixed at deployment, and does not report the remaining
//! requests or the reset time.
//!
//! Reads are counted per step of the window, so the counts of a caller take at most about one
//! kilobyte.

use lru::LruCache;
use quillgate::Millis;

use crate::budget;
use crate::budget::reservation::BudgetRequest;
use crate::budget::{BudgetSnapshot, Granted, LimitUsage, find_step};
use crate::http::problem::Problem;

/// The maximum total number of counted callers and ceilings. A new entry evicts the least recently
/// used entry.
pub const MAX_CALLERS: usize = 1_000;

/// The recent reads of each caller and under each ceiling.
#[derive(Debug)]
pub struct ReadBudget(LruCache<String, Steps>);

/// The steps with reads. Each entry contains the end of the step, as a Unix time in milliseconds,
/// and the number of reads in the step.
type Steps = Vec<(u64, u32)>;

impl Default for ReadBudget {
    fn default() -> Self {
        Self(LruCache::unbounded())
    }
}

impl ReadBudget {
    /// Counts a read if the limit, the quota and every ceiling allow it.
    ///
    /// # Errors
    /// Returns a 429 problem if the limit, the quota or a ceiling does not allow the read. A
    /// refused read is not counted, because it must not use up a ceiling for other callers.
    pub fn reserve(
        &mut self,
        request: &BudgetRequest,
        limit: u32,
        window: Millis,
        now: Millis,
    ) -> Result<Granted, Problem> {
        let since = now.since(window).0;
        let ceilings = &request.ceilings;
        let mut usage = |name: &str, max| self.usage(name, max, since);
        let granted = budget::decide(&BudgetSnapshot {
            policy: request.policy,
            window: window.0,
            now: now.0,
            blocked_until: None,
            limit: usage(&request.caller, limit),
            quota: request.quota.map(|max| usage(&request.caller, max)),
            ceilings: ceilings
                .iter()
                .map(|own| usage(&own.name, own.max))
                .collect(),
        })?;
        for ceiling in ceilings {
            self.count(&ceiling.name, window, now);
        }
        self.count(&request.caller, window, now);
        Ok(granted)
    }

    /// Returns the usage of `name`. Removes the steps that ended at `since` or earlier.
    fn usage(&mut self, name: &str, max: u32, since: u64) -> LimitUsage {
        let mut none = Steps::new();
        let steps = self.0.get_mut(name).unwrap_or(&mut none);
        steps.retain(|(end, _)| *end > since);
        LimitUsage {
            max,
            count: steps.iter().map(|(_, count)| *count).sum(),
            oldest: steps.first().map(|(end, _)| *end),
        }
    }

    /// Counts one read in the current step.
    fn count(&mut self, name: &str, window: Millis, now: Millis) {
        let end = find_step(window, now).0;
        let steps = self.0.get_or_insert_mut(name.to_owned(), Steps::new);
        match steps.last_mut() {
            // A request that waited can be older than the latest one.
            Some((own, count)) if *own >= end => *count += 1,
            _ => steps.push((end, 1)),
        }
        if self.0.len() > MAX_CALLERS {
            self.0.pop_lru();
        }
    }
}
