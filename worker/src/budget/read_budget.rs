//! The budget for reading jobs, per caller and project.
//!
//! Reads call no Durable Object, which keeps them fast, so each isolate counts separately. A caller
//! that reaches several isolates can use the full limit in each. This protects the upstream from
//! floods but is not an exact quota; only a quota of 0 is exact. Cloudflare's rate limiting binding
//! is not exact either. It counts per location over 10 or 60 seconds, its limit is fixed at
//! deployment, and it does not report the remaining requests or the reset time.
//!
//! Reads are counted per step, a sixtieth of the window, so a caller takes about one kilobyte at
//! most. Each read counts until the end of its step has left the window, so never too briefly.

use quillgate::Millis;

use crate::budget;
use crate::budget::{BudgetSnapshot, Ceiling, CeilingUsage, Decision};
use quillgate::RateLimitPolicy;

/// The maximum number of counted callers and ceilings. A new one replaces the one that has been
/// idle for longest.
pub const MAX_CALLERS: usize = 1_000;

const STEPS: u64 = 60;

/// A reading caller and its limits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reader {
    /// The key under which the reads of this caller in this project are counted.
    pub name: String,
    /// The token's own quota: its maximum number of reads within a window.
    pub quota: Option<u32>,
    /// The ceilings that apply to the caller.
    pub ceilings: Vec<Ceiling>,
    /// The maximum number of reads in a window.
    pub limit: u32,
    /// The length of the window.
    pub window: Millis,
}

/// The recent reads of each caller and under each ceiling, ordered from the longest idle to the
/// most recent.
#[derive(Debug, Default)]
pub struct ReadBudget(Vec<CallerReads>);

#[derive(Debug)]
struct CallerReads {
    name: String,
    /// For each step with reads, its end in milliseconds since the Unix epoch and the number of
    /// reads.
    steps: Vec<(u64, u32)>,
}

impl CallerReads {
    fn usage(&self, max: u32) -> CeilingUsage {
        CeilingUsage {
            max,
            count: self.steps.iter().map(|(_, count)| *count).sum(),
            oldest: self.steps.first().map(|(end, _)| *end),
        }
    }

    /// Counts one read in the current step.
    fn add(&mut self, window: Millis, now: Millis) {
        let length = (window.0 / STEPS).max(1);
        let end = (now.0 / length + 1) * length;
        match self.steps.last_mut() {
            Some((own, count)) if *own == end => *count += 1,
            _ => self.steps.push((end, 1)),
        }
    }
}

impl ReadBudget {
    /// Counts a read if the limit, the quota and every ceiling allow it.
    ///
    /// A refused read is not counted: it must not use up a ceiling for other callers.
    pub fn reserve(&mut self, reader: &Reader, now: Millis) -> Decision {
        let since = now.since(reader.window).0;
        let mut own = self.take(&reader.name, since);
        let mut ceilings: Vec<_> = (reader.ceilings.iter())
            .map(|ceiling| self.take(&ceiling.name, since))
            .collect();
        let decision = decide(reader, &own, &ceilings, now);
        if matches!(decision, Decision::Granted(_)) {
            own.add(reader.window, now);
            for reads in &mut ceilings {
                reads.add(reader.window, now);
            }
        }
        for reads in ceilings.into_iter().chain([own]) {
            self.keep(reads);
        }
        decision
    }

    /// Returns the number of counted callers and ceilings.
    pub const fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether no caller or ceiling is counted.
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Removes and returns the reads under `name`, without those that have left the window.
    fn take(&mut self, name: &str, since: u64) -> CallerReads {
        let Some(at) = self.0.iter().position(|reads| reads.name == name) else {
            return CallerReads {
                name: name.to_owned(),
                steps: Vec::new(),
            };
        };
        let mut reads = self.0.remove(at);
        reads.steps.retain(|(end, _)| *end > since);
        reads
    }

    fn keep(&mut self, reads: CallerReads) {
        if reads.steps.is_empty() {
            return;
        }
        if self.0.len() >= MAX_CALLERS {
            self.0.remove(0);
        }
        self.0.push(reads);
    }
}

fn decide(reader: &Reader, own: &CallerReads, ceilings: &[CallerReads], now: Millis) -> Decision {
    let ceilings = reader.ceilings.iter().zip(ceilings);
    let ceilings = ceilings.map(|(ceiling, reads)| reads.usage(ceiling.max));
    budget::decide(&BudgetSnapshot {
        policy: RateLimitPolicy::ReadJobs,
        window: reader.window.0,
        now: now.0,
        blocked_until: None,
        limit: own.usage(reader.limit),
        quota: reader.quota.map(|max| own.usage(max)),
        ceilings: ceilings.collect(),
    })
}
