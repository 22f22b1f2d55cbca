//! The scan of the job list. `job.prompt_lowercase` contains the folded prompt if folding needs
//! more than `SQLite`'s `lower`. It is empty if an earlier release stored the job, and the search
//! then folds the prompt.

use js_sys::JsString;
use serde::Deserialize;

use super::JobStore;
use crate::jobs::job_row::read_boolean;
use crate::jobs::records::{JobFilter, JobQuery, Position};
use crate::jobs::search::{
    FILTER_BATCH, Found, SEARCH_BATCH, SEARCHED_CHARACTERS, Scan, searched_part,
};
use crate::runtime::{HostResult, yield_now};

/// Compatibility composition (NFKC) and full case folding, as in Unicode's caseless matching.
/// Replaces each NUL with a space, because many functions of `SQLite` ignore everything after a
/// NUL.
///
/// Uses JavaScript's functions: the tables of the Rust crates add 72 kB (gzip) to the wasm module.
fn fold(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase().replace('\0', " ");
    }
    let text = JsString::from(text).normalize("NFKC").to_lower_case();
    // Upper case unites letters that have the same upper case, such as `ß` and `ss`. The end of a
    // word has its own lower-case sigma.
    let text = text.to_upper_case().to_lower_case().normalize("NFKC");
    let text = String::from(text)
        .replace('ς', "σ")
        .replace("i\u{307}", "i");
    text.replace('\0', " ")
}

/// `None` if `SQLite`'s `lower` returns the same string. It converts only ASCII letters.
pub fn find_folded(prompt: &str) -> Option<String> {
    let searched = searched_part(prompt);
    let is_plain = searched.is_ascii() && !searched.contains('\0');
    (!is_plain).then(|| fold(searched))
}

#[derive(Deserialize)]
struct ScannedJob {
    row: u64,
    created_at: u64,
    /// Set if the search must fold the prompt. The last character may be cut.
    unfolded: Option<String>,
    /// Whether the job matches the filter, apart from the text if `unfolded` is set.
    #[serde(deserialize_with = "read_boolean")]
    is_match: bool,
}

impl JobStore {
    pub(super) async fn scan(&self, query: &JobQuery) -> HostResult<Found> {
        let JobFilter {
            state,
            author,
            text: wanted,
        } = &query.filter;
        let wanted = wanted.as_deref().map(fold).unwrap_or_default();
        let limit = usize::try_from(query.limit).unwrap_or(usize::MAX);
        let size = match (wanted.is_empty(), author, state) {
            (false, ..) => SEARCH_BATCH,
            // Every job matches, so that no more jobs need to be read.
            (true, None, None) => limit.saturating_add(1),
            (true, ..) => FILTER_BATCH,
        };
        let start = query.before.unwrap_or(Position::NEWEST);
        let mut scan = Scan::new(start, limit, size);
        while let Some(before) = scan.next_batch() {
            if before != start {
                yield_now().await;
            }
            let jobs: Vec<ScannedJob> = self.database.rows(
                include_str!("sql/scan_jobs.sql"),
                &[
                    &before.created,
                    &before.row,
                    &size,
                    &author,
                    &state,
                    &wanted,
                    &SEARCHED_CHARACTERS,
                ],
            )?;
            let contains = |prompt: String| fold(searched_part(&prompt)).contains(&wanted);
            let compare = |job: ScannedJob| {
                let position = Position {
                    created: job.created_at,
                    row: job.row,
                };
                (position, job.is_match && job.unfolded.is_none_or(contains))
            };
            scan.on_batch(&jobs.into_iter().map(compare).collect::<Vec<_>>());
        }
        Ok(scan.finish())
    }
}

#[cfg(test)]
mod tests;
