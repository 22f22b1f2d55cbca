//! The scan of the job list. A request scans a limited number of jobs, so that a page can have few
//! or no jobs although others follow.

use crate::jobs::records::Position;

pub const SEARCHED_CHARACTERS: usize = 4_096;
pub const MAX_SCANNED: usize = 2_000;
/// Other requests can run between two batches.
pub const SEARCH_BATCH: usize = 100;
/// If only states and authors are compared.
pub const FILTER_BATCH: usize = 1_000;

pub fn searched_part(prompt: &str) -> &str {
    let end = prompt.char_indices().nth(SEARCHED_CHARACTERS);
    end.map_or(prompt, |(end, _)| &prompt[..end])
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Newest first.
    pub jobs: Vec<Position>,
    /// `None` after the last page.
    pub next: Option<Position>,
}

#[derive(Debug)]
pub struct Scan {
    limit: usize,
    batch: usize,
    /// `None` after the last batch.
    before: Option<Position>,
    scanned: usize,
    jobs: Vec<Position>,
}

impl Scan {
    /// `limit` is the number of matches per page.
    pub const fn new(before: Position, limit: usize, batch: usize) -> Self {
        Self {
            limit,
            batch,
            before: Some(before),
            scanned: 0,
            jobs: Vec::new(),
        }
    }

    /// `None` when the page is complete, when all jobs have been scanned, or after [`MAX_SCANNED`]
    /// jobs.
    pub fn next_batch(&self) -> Option<Position> {
        // One match more than the page holds shows that another page follows.
        let is_complete = self.jobs.len() > self.limit;
        let may_continue = !is_complete && self.scanned < MAX_SCANNED;
        self.before.filter(|_| may_continue)
    }

    /// A batch with too few jobs is the last one.
    pub fn on_batch(&mut self, batch: &[(Position, bool)]) {
        self.scanned += batch.len();
        let is_last = batch.len() < self.batch;
        self.before = batch.last().map(|(at, _)| *at).filter(|_| !is_last);
        let matches = batch.iter().filter(|(_, is_match)| *is_match);
        self.jobs.extend(matches.map(|(position, _)| *position));
    }

    pub fn finish(mut self) -> Found {
        let has_more = self.jobs.len() > self.limit;
        self.jobs.truncate(self.limit);
        let next = if has_more {
            self.jobs.last().copied()
        } else {
            self.before
        };
        Found {
            jobs: self.jobs,
            next,
        }
    }
}
