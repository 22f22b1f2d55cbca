//! The budget for reading jobs, per caller and project.
//!
//! A read touches no Durable Object, and stays quick because of that; so each isolate counts for
//! itself. A caller whose requests reach several isolates may read the limit in each of them: the
//! budget keeps one caller from flooding the upstream, and is no exact quota. Only a quota of 0 is
//! exact. (Cloudflare's rate limiting binding is no more exact: it counts per location, over 10 or 60
//! seconds, with a limit fixed at deployment, and says neither what is left nor when.)
//!
//! Reads are counted in sixtieths of the window, so that a caller takes a few hundred bytes. Each
//! counts until the end of its step has left the window, so never too short.

use quillgate::Millis;

use crate::budget;
use crate::budget::{Ask, Ceiling, SharedUse, Used, Verdict};
use quillgate::Policy;

/// How many callers are counted; the one that was idle for longest makes room for another.
pub const MOST_CALLERS: usize = 1_000;

const STEPS: u64 = 60;

/// Who reads, and how much that caller may.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reader {
    /// The caller and the project.
    pub name: String,
    /// The most that the caller's token may read within a window.
    pub quota: Option<u32>,
    /// The ceilings that the caller shares with others.
    pub ceilings: Vec<Ceiling>,
    /// How many reads a window may hold.
    pub limit: u32,
    /// The window's length.
    pub window: Millis,
}

/// What each caller has read, from the one that was idle for longest on.
#[derive(Debug, Default)]
pub struct ReadBudget(Vec<CallerReads>);

#[derive(Debug)]
struct CallerReads {
    name: String,
    /// The end of each step, and how many reads were made in it.
    steps: Vec<(u64, u32)>,
}

impl CallerReads {
    fn count(&self) -> u32 {
        self.steps.iter().map(|(_, count)| *count).sum()
    }

    fn oldest(&self) -> Option<u64> {
        self.steps.first().map(|(end, _)| *end)
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
    /// A refused read counts nowhere: it must not use up a ceiling that other callers share.
    pub fn reserve(&mut self, reader: &Reader, now: Millis) -> Verdict {
        let since = now.since(reader.window).0;
        let ceilings = reader.ceilings.iter();
        let mut shared: Vec<_> = ceilings
            .map(|ceiling| self.take(&ceiling.name, since))
            .collect();
        let mut own = self.take(&reader.name, since);
        let verdict = decide(reader, &own, &shared, now);
        if matches!(verdict, Verdict::Granted(_)) {
            own.add(reader.window, now);
            for reads in &mut shared {
                reads.add(reader.window, now);
            }
        }
        for reads in shared.into_iter().chain([own]) {
            self.keep(reads);
        }
        verdict
    }

    /// How many callers are counted.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether none is.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Removes the reads under `name`, without those that have left the window.
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
        if self.0.len() >= MOST_CALLERS {
            self.0.remove(0);
        }
        self.0.push(reads);
    }
}

fn decide(reader: &Reader, own: &CallerReads, shared: &[CallerReads], now: Millis) -> Verdict {
    let shared = reader.ceilings.iter().zip(shared);
    let shared = shared.map(|(ceiling, reads)| SharedUse {
        most: ceiling.most,
        count: reads.count(),
        oldest: reads.oldest(),
    });
    let used = own.oldest().map(|oldest| Used {
        caller: reader.name.clone(),
        count: own.count(),
        oldest,
    });
    budget::reserve(&Ask {
        policy: Policy::ReadJobs,
        limit: reader.limit,
        window: reader.window.0,
        now: now.0,
        caller: reader.name.clone(),
        quota: reader.quota,
        closed_until: None,
        shared: shared.collect(),
        used: used.into_iter().collect(),
        claims: Vec::new(),
    })
}
