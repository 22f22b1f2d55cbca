//! The search of prompts. A search runs in steps, and each step compares a limited number of jobs.
//!
//! A trigram index finds candidates: jobs that contain a selection of the search string's trigrams.
//! Each candidate's prompt is then compared with the whole string. The index is divided into blocks
//! of rows. A lookup covers one block, because a lookup of common trigrams can visit every row of
//! the covered range. Strings shorter than a trigram, and jobs that are not in the index yet, are
//! searched without the index, newest first.

pub mod turns;

use quillgate::Millis;
use serde::Deserialize;

use crate::jobs::job_row::read_boolean;

/// Number of characters of a prompt that a search covers.
pub const SEARCHED_CHARACTERS: usize = 4_096;
/// Number of rows in a block. One lookup in the index covers one block.
pub const BLOCK_ROWS: u64 = 16_384;
/// Maximum number of jobs that one step compares with the search string.
pub const MAX_CANDIDATES: u64 = 100;
/// Maximum number of steps per request. At the default limits, these steps cover a project's whole
/// index.
const MAX_STEPS: u32 = 16;
/// Maximum number of trigrams in one lookup.
const MAX_TRIGRAMS: usize = 8;
/// Number of characters in a trigram.
const TRIGRAM: usize = 3;
/// The first private-use character that can mark a block.
const MARK_BASE: u64 = 0xF_0000;
/// The base of a mark's digits: the number of private-use characters that encode a digit.
const MARK_DIGITS: u64 = 0x8000;

/// Pause between two alarms that add jobs to the index, so that the object can handle requests.
const BACKLOG_PAUSE: Millis = Millis(20);

/// Returns the first [`SEARCHED_CHARACTERS`] characters of a prompt.
pub fn searched_part(prompt: &str) -> &str {
    let end = prompt.char_indices().nth(SEARCHED_CHARACTERS);
    end.map_or(prompt, |(end, _)| &prompt[..end])
}

/// Returns the trigram that marks the block of `row` in the index.
pub fn block_mark(row: u64) -> String {
    let block = row / BLOCK_ROWS;
    [0, block / MARK_DIGITS, block % MARK_DIGITS]
        .into_iter()
        .filter_map(|digit| char::from_u32(u32::try_from(MARK_BASE + digit).ok()?))
        .collect()
}

/// Returns when the alarm next adds jobs to the index. Returns an earlier `alarm` unchanged. If
/// requests could postpone the alarm repeatedly, the index would never be complete.
///
/// ```
/// use quillgate::Millis;
/// use quillgate_worker::jobs::search::plan_indexing;
///
/// assert_eq!(plan_indexing(None, Millis(5)), Millis(25));
/// assert_eq!(plan_indexing(Some(Millis(20)), Millis(5)), Millis(20));
/// assert_eq!(plan_indexing(Some(Millis(3_600_000)), Millis(5)), Millis(25));
/// ```
pub fn plan_indexing(alarm: Option<Millis>, now: Millis) -> Millis {
    let next = now.plus(BACKLOG_PAUSE);
    alarm.map_or(next, |alarm| alarm.min(next))
}

/// The rows of a project's jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct RowRange {
    /// The row of the oldest job.
    pub first: u64,
    /// The row of the newest job.
    pub last: u64,
    /// The last row that is not in the index yet, or 0 if the index is complete. Rows up to this
    /// row are searched without the index.
    pub backlog: u64,
}

/// Jobs to compare with the search string: at most [`MAX_CANDIDATES`], newest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The exclusive upper bound of the rows that the step compares.
    pub below: u64,
    /// The FTS5 query that selects the jobs, including the mark of one block. `None` selects all
    /// jobs.
    pub expression: Option<String>,
}

/// A job that a step has compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct Candidate {
    /// The row of the job.
    pub row: u64,
    /// Whether the job meets the whole filter.
    #[serde(deserialize_with = "read_boolean")]
    pub is_match: bool,
}

/// The jobs of one page of a search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Rows of matching jobs, newest first.
    pub rows: Vec<u64>,
    /// The exclusive upper bound of the rows that the next page searches. `None` after the last
    /// page.
    pub next: Option<u64>,
}

/// A search for one page.
///
/// ```
/// use quillgate_worker::jobs::search::{Candidate, RowRange, Search, Step};
///
/// let range = RowRange { first: 1, last: 7, backlog: 0 };
/// let mut search = Search::new("ui", range, None, 20);
/// assert_eq!(search.next_step(), Some(Step { below: 8, expression: None }));
/// search.on_examined(&[Candidate { row: 5, is_match: true }]);
/// assert_eq!(search.next_step(), None);
/// assert_eq!(search.finish().rows, [5]);
/// ```
#[derive(Debug)]
pub struct Search {
    trigrams: Vec<String>,
    range: RowRange,
    limit: usize,
    below: u64,
    steps: u32,
    rows: Vec<u64>,
}

impl Search {
    /// Creates a search for `text`, which must be folded as the index is. The search covers
    /// only rows below `below`, or all rows if `below` is `None`. `limit` is the maximum number of
    /// matches per page.
    pub fn new(text: &str, range: RowRange, below: Option<u64>, limit: usize) -> Self {
        let end = range.last.saturating_add(1);
        Self {
            trigrams: choose_trigrams(text),
            range,
            limit,
            below: below.map_or(end, |below| below.min(end)),
            steps: 0,
            rows: Vec::new(),
        }
    }

    /// Returns the next step. Returns `None` when the page is complete, when all rows have been
    /// compared, or after the maximum number of steps.
    pub fn next_step(&self) -> Option<Step> {
        // The search continues until it has one match more than the page holds, which shows that
        // another page follows.
        if self.is_exhausted() || self.rows.len() > self.limit || self.steps == MAX_STEPS {
            return None;
        }
        let expression = self.uses_index().then(|| {
            let mark = block_mark(self.below.saturating_sub(1));
            let terms = std::iter::once(&mark).chain(&self.trigrams);
            let quote = |term: &String| format!("\"{}\"", term.replace('"', "\"\""));
            terms.map(quote).collect::<Vec<_>>().join(" AND ")
        });
        Some(Step {
            below: self.below,
            expression,
        })
    }

    /// Processes the jobs that the last step has compared.
    pub fn on_examined(&mut self, candidates: &[Candidate]) {
        self.steps += 1;
        let matches = candidates.iter().filter(|candidate| candidate.is_match);
        self.rows.extend(matches.map(|candidate| candidate.row));
        let last = candidates.last().map_or(self.below, |last| last.row);
        self.below = if candidates.len() as u64 == MAX_CANDIDATES {
            last
        } else if self.uses_index() {
            let block = self.below.saturating_sub(1) / BLOCK_ROWS * BLOCK_ROWS;
            block.max(self.range.backlog.saturating_add(1))
        } else {
            0
        };
    }

    /// Returns the matches of the page, and where the next page starts.
    pub fn finish(mut self) -> Found {
        let has_more = self.rows.len() > self.limit;
        self.rows.truncate(self.limit);
        let next = if has_more {
            self.rows.last().copied()
        } else {
            (!self.is_exhausted()).then_some(self.below)
        };
        Found {
            rows: self.rows,
            next,
        }
    }

    const fn is_exhausted(&self) -> bool {
        self.below <= self.range.first || self.range.last == 0
    }

    const fn uses_index(&self) -> bool {
        !self.trigrams.is_empty() && self.below > self.range.backlog.saturating_add(1)
    }
}

/// Chooses evenly spread trigrams. A few suffice, because the whole string is compared afterwards.
fn choose_trigrams(text: &str) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    let windows: Vec<String> = characters.windows(TRIGRAM).map(String::from_iter).collect();
    let count = windows.len().min(MAX_TRIGRAMS);
    let mut chosen = Vec::with_capacity(count);
    for number in 0..count {
        let at = number * (windows.len() - 1) / (count - 1).max(1);
        if !chosen.contains(&windows[at]) {
            chosen.push(windows[at].clone());
        }
    }
    chosen
}
