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

use crate::budget::{self, Ask, Used, Verdict};
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

impl ReadBudget {
    /// Counts a read, if the caller may make it.
    pub fn reserve(&mut self, reader: &Reader, now: Millis) -> Verdict {
        let since = now.since(reader.window).0;
        let mut reads = self.take(&reader.name);
        let steps = &mut reads.steps;
        steps.retain(|(end, _)| *end > since);
        let used = steps.first().map(|(oldest, _)| Used {
            caller: reader.name.clone(),
            count: steps.iter().map(|(_, count)| *count).sum(),
            oldest: *oldest,
        });
        let verdict = budget::reserve(&Ask {
            policy: Policy::ReadJobs,
            limit: reader.limit,
            window: reader.window.0,
            now: now.0,
            caller: reader.name.clone(),
            quota: reader.quota,
            closed_until: None,
            shared: Vec::new(),
            used: used.into_iter().collect(),
            claims: Vec::new(),
        });
        if matches!(verdict, Verdict::Granted(_)) {
            let length = (reader.window.0 / STEPS).max(1);
            let end = (now.0 / length + 1) * length;
            match steps.last_mut() {
                Some((own, count)) if *own == end => *count += 1,
                _ => steps.push((end, 1)),
            }
        }
        if !steps.is_empty() {
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

    fn take(&mut self, name: &str) -> CallerReads {
        match self.0.iter().position(|reads| reads.name == name) {
            Some(at) => self.0.remove(at),
            None => CallerReads {
                name: name.to_owned(),
                steps: Vec::new(),
            },
        }
    }

    fn keep(&mut self, reads: CallerReads) {
        if self.0.len() >= MOST_CALLERS {
            self.0.remove(0);
        }
        self.0.push(reads);
    }
}
