//! The budget for reading jobs, per caller and project. Sessions count under a separate key. The
//! counts are in memory, because a call of a Durable Object would slow down each read, so only a
//! quota of 0 is exact. Cloudflare's rate limiting binding is not exact either, and reports neither
//! the remaining requests nor the reset time.

use lru::LruCache;
use quillgate::Millis;

use crate::budget::reservation::BudgetRequest;
use crate::budget::{BudgetSnapshot, Granted, LimitUsage, decide, find_step};
use crate::http::problem::Problem;

/// The maximum total number of callers and ceilings.
pub const MAX_CALLERS: usize = 1_000;

#[derive(Debug)]
pub struct ReadBudget(LruCache<String, Steps>);

/// The end of each step, in milliseconds, and the number of reads in the step.
type Steps = Vec<(u64, u32)>;

impl Default for ReadBudget {
    fn default() -> Self {
        Self(LruCache::unbounded())
    }
}

impl ReadBudget {
    /// Counts a read. A refused read is not counted, because it must not use up a ceiling for other
    /// callers.
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
        let granted = decide(&BudgetSnapshot {
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
