//! The comparison of stored prompts with a search string.
//!
//! The column `job.prompt_lowercase` contains the searched part of a prompt, folded, if folding it
//! needs more than `SQLite`'s `lower` function. It is empty if an earlier release stored the job
//! without folding its prompt. The search then folds the prompt.

use js_sys::JsString;
use serde::Deserialize;

use super::JobStore;
use crate::jobs::job_row::read_boolean;
use crate::jobs::records::{JobQuery, Position};
use crate::jobs::search::{BATCH, Found, SEARCHED_CHARACTERS, Scan, searched_part};
use crate::runtime::{HostResult, number, text, yield_now};

/// The columns of a [`ScannedJob`].
const SCANNED_COLUMNS: &str = "row, created_at,
  CASE prompt_lowercase WHEN '' THEN
    CAST(substr(CAST(coalesce(prompt, prompt_summary) AS BLOB), 1, 4 * ?1) AS TEXT)
  END AS unfolded,
  coalesce(instr(
    coalesce(prompt_lowercase, lower(substr(coalesce(prompt, prompt_summary), 1, ?1))), ?2
  ), 0) > 0 AS is_match";

/// Folds a string for a search: compatibility composition (NFKC) and full case folding, as in
/// Unicode's caseless matching. Removes the dot that folding adds to the `i` of `İ`. Replaces each
/// NUL with a space, because many functions of `SQLite` ignore everything after a NUL.
///
/// Uses JavaScript's functions. The tables of the Rust crates add 72 kB (gzip) to the wasm module.
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

/// Returns the searched part of a prompt, folded, or `None` if `SQLite`'s `lower` function returns
/// the same string. The `SQLite` function converts only ASCII letters and ignores everything after
/// a NUL.
pub fn find_folded(prompt: &str) -> Option<String> {
    let searched = searched_part(prompt);
    let is_plain = searched.is_ascii() && !searched.contains('\0');
    (!is_plain).then(|| fold(searched))
}

#[derive(Deserialize)]
struct ScannedJob {
    row: u64,
    created_at: u64,
    /// The searched part of the prompt if it is not folded yet. The last character may be cut.
    unfolded: Option<String>,
    #[serde(deserialize_with = "read_boolean")]
    is_match: bool,
}

impl JobStore {
    /// Finds the jobs of a page whose prompts contain `wanted`.
    pub(super) async fn search(&self, query: &JobQuery, wanted: &str) -> HostResult<Found> {
        let wanted = fold(wanted);
        let limit = usize::try_from(query.limit).unwrap_or(usize::MAX);
        let mut scan = Scan::new(query.before.unwrap_or(Position::NEWEST), limit);
        while let Some(before) = scan.next_batch() {
            yield_now().await;
            let values = vec![number(SEARCHED_CHARACTERS as u64), text(&wanted)];
            let jobs: Vec<ScannedJob> =
                self.select_jobs(SCANNED_COLUMNS, values, &query.filter, before, BATCH as u64)?;
            let batch: Vec<_> = jobs.into_iter().map(|job| job.compare(&wanted)).collect();
            scan.on_batch(&batch);
        }
        Ok(scan.finish())
    }
}

impl ScannedJob {
    /// Returns the position of the job, and whether its prompt contains `wanted`.
    fn compare(self, wanted: &str) -> (Position, bool) {
        let position = Position {
            created: self.created_at,
            row: self.row,
        };
        let is_match = self.unfolded.map_or(self.is_match, |prompt| {
            fold(searched_part(&prompt)).contains(wanted)
        });
        (position, is_match)
    }
}

#[cfg(test)]
mod tests {
    use wasm_bindgen_test::wasm_bindgen_test;

    use super::*;

    #[wasm_bindgen_test]
    fn a_folded_copy_is_stored_only_if_sqlite_would_not_create_the_same() {
        assert_eq!(find_folded("Fix the API"), None);
        assert_eq!(find_folded("ÜBERSICHT").as_deref(), Some("übersicht"));
        assert_eq!(
            find_folded("Before\0After").as_deref(),
            Some("before after")
        );
    }

    #[wasm_bindgen_test]
    fn spellings_of_the_same_text_are_folded_to_the_same_string() {
        for (folded, spellings) in [
            ("café", &["café", "cafe\u{301}", "CAFÉ", "Cafe\u{301}"][..]),
            ("faq", &["FAQ", "ＦＡＱ", "ｆａｑ", "𝐅𝐀𝐐"]),
            (
                "istanbul",
                &["İstanbul", "I\u{307}stanbul", "ISTANBUL", "ıstanbul"],
            ),
            ("strasse", &["Straße", "STRASSE", "STRAẞE"]),
            ("οδοσ 1", &["ΟΔΟΣ 1", "οδος １", "οδοσ ①"]),
            ("ガイド", &["ガイド", "ｶﾞｲﾄﾞ", "カ\u{3099}イト\u{3099}"]),
            (
                "한국",
                &["한국", "\u{1112}\u{1161}\u{11ab}\u{1100}\u{116e}\u{11a8}"],
            ),
            ("file ǰ", &["ﬁle ǰ", "FILE\u{a0}J\u{30c}", "file\0ǰ"]),
        ] {
            for spelling in spellings {
                assert_eq!(fold(spelling), folded, "{spelling}");
                assert_eq!(fold(&fold(spelling)), folded, "{spelling}");
            }
        }
    }
}
