//! The budget for reading jobs, per caller and project.
//!
//! Reads call no Durable Object, which keeps them fast, so each isolate counts separately. A caller
//! that reaches several isolates can use the full limit in each. This protects the upstream from
//! floods but is not an exact quota; only a quota of 0 is exact. Cloudflare's rate limiting binding
//! is not exact either. It counts per location over 10 or 60 seconds, its limit is fixed at
//! deployment, and it does not report the remaining requests or the reset time.
//!
//! Reads are counted per step of the window, so the counts of a caller take at most about one
//! kilobyte.

use lru::LruCache;
use quillgate::Millis;

use crate::budget;
use crate::budget::reservation::BudgetRequest;
use crate::budget::{BudgetSnapshot, Granted, LimitUsage, find_step};
use crate::http::problem::Problem;

/// The maximum number of counted callers and ceilings. A new one replaces the least recently used.
pub const MAX_CALLERS: usize = 1_000;

/// The recent reads of each caller and under each ceiling.
#[derive(Debug)]
pub struct ReadBudget(LruCache<String, Steps>);

/// For each step with reads, its end as a Unix time in milliseconds, and the number of reads.
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
    /// 429 if one of them does not allow the read. A refused read is not counted, because it must
    /// not use up a ceiling for other callers.
    pub fn reserve(
        &mut self,
        request: &BudgetRequest,
        limit: u32,
        window: Millis,
        now: Millis,
    ) -> Result<Granted, Problem> {
        let since = now.since(window).0;
        let mut own = self.take(&request.caller, since);
        let mut ceilings: Vec<_> = (request.ceilings.iter())
            .map(|ceiling| (ceiling, self.take(&ceiling.name, since)))
            .collect();
        let usages = ceilings
            .iter()
            .map(|(ceiling, steps)| usage(steps, ceiling.max));
        let decision = budget::decide(&BudgetSnapshot {
            policy: request.policy,
            window: window.0,
            now: now.0,
            blocked_until: None,
            limit: usage(&own, limit),
            quota: request.quota.map(|max| usage(&own, max)),
            ceilings: usages.collect(),
        });
        if decision.is_ok() {
            add(&mut own, window, now);
            for (_, steps) in &mut ceilings {
                add(steps, window, now);
            }
        }
        for (ceiling, steps) in ceilings {
            self.keep(&ceiling.name, steps);
        }
        self.keep(&request.caller, own);
        decision
    }

    /// Removes the reads under `name`, and returns those that are still in the window.
    fn take(&mut self, name: &str, since: u64) -> Steps {
        let mut steps = self.0.pop(name).unwrap_or_default();
        steps.retain(|(end, _)| *end > since);
        steps
    }

    fn keep(&mut self, name: &str, steps: Steps) {
        if steps.is_empty() {
            return;
        }
        self.0.put(name.to_owned(), steps);
        if self.0.len() > MAX_CALLERS {
            self.0.pop_lru();
        }
    }
}

fn usage(steps: &Steps, max: u32) -> LimitUsage {
    LimitUsage {
        max,
        count: steps.iter().map(|(_, count)| *count).sum(),
        oldest: steps.first().map(|(end, _)| *end),
    }
}

/// Counts one read in the current step.
fn add(steps: &mut Steps, window: Millis, now: Millis) {
    let end = find_step(window, now).0;
    match steps.last_mut() {
        Some((own, count)) if *own == end => *count += 1,
        _ => steps.push((end, 1)),
    }
}
