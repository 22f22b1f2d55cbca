//! The search index of a project's jobs. The store maintains and queries the index, and
//! [`crate::jobs::search`] decides the steps of a search.
//!
//! A row of `job_search` contains [`block_mark`] and the searched part of a prompt, folded. The
//! column `job.prompt_lowercase` contains the same part if folding it needs more than `lower`.
//! Alarms index the jobs that an earlier release stored: rows up to `search_backlog.last`.

use std::cell::RefCell;

use futures_channel::oneshot::{self, Sender};
use js_sys::JsString;
use serde::Deserialize;

use super::JobStore;
use crate::jobs::records::{JobFilter, JobQuery};
use crate::jobs::search::turns::Turns;
use crate::jobs::search::{
    Candidate, Found, MAX_CANDIDATES, RowRange, SEARCHED_CHARACTERS, Search, Step, block_mark,
    searched_part,
};
use crate::runtime::{HostError, HostResult, number, optional_text, text, yield_now};

const MAX_INDEXED: u64 = 100;

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

/// The turn of a search. Dropping the turn wakes the next search.
struct Turn<'a>(&'a RefCell<Turns<Sender<()>>>);

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        loop {
            let next = self.0.borrow_mut().finish();
            // Sending fails if the waiting search was dropped.
            if next.is_none_or(|search| search.send(()).is_ok()) {
                return;
            }
        }
    }
}

#[derive(Deserialize)]
struct PromptRow {
    row: u64,
    prompt: String,
}

impl JobStore {
    /// Adds a job to the index. `folded` is the result of [`find_folded`].
    pub(super) fn index_prompt(
        &self,
        row: u64,
        prompt: &str,
        folded: Option<&str>,
    ) -> HostResult<()> {
        let indexed = match folded {
            Some(folded) => block_mark(row) + folded,
            None => block_mark(row) + &fold(searched_part(prompt)),
        };
        let insert = "INSERT OR REPLACE INTO job_search (rowid, prompt) VALUES (?, ?)";
        self.database.execute(insert, [number(row), text(&indexed)])
    }

    /// Finds the jobs of a page whose prompts contain `wanted`. Searches run one at a time, and
    /// callers take turns. Other requests can run before each step.
    pub(super) async fn search(&self, query: &JobQuery, wanted: &str) -> HostResult<Found> {
        let _turn = self.take_turn(&query.caller).await;
        let wanted = fold(wanted);
        let limit = usize::try_from(query.limit).unwrap_or(usize::MAX);
        let below = query.before.map(|before| before.row);
        let select = "SELECT (SELECT coalesce(min(row), 0) FROM job) AS first,
            (SELECT coalesce(max(row), 0) FROM job) AS last,
            (SELECT last FROM search_backlog) AS backlog";
        let range: Option<RowRange> = self.database.first(select, [])?;
        let range = range.ok_or_else(|| HostError::new("a query without a row"))?;
        let mut search = Search::new(&wanted, range, below, limit);
        while let Some(step) = search.next_step() {
            yield_now().await;
            search.on_examined(&self.examine(&step, &query.filter, &wanted)?);
        }
        Ok(search.finish())
    }

    async fn take_turn(&self, caller: &str) -> Turn<'_> {
        let may_run = self.search_turns.borrow_mut().begin();
        if !may_run {
            let (wake, woken) = oneshot::channel();
            self.search_turns.borrow_mut().wait(caller, wake);
            // The wait needs no timer: requests of a Durable Object may wait for each other, so the
            // runtime does not cancel them as hung.
            let _ = woken.await;
        }
        Turn(&self.search_turns)
    }

    /// Tests the jobs of one step against `filter` and the string `wanted`. Returns the jobs of the
    /// step, and whether each job matches.
    fn examine(&self, step: &Step, filter: &JobFilter, wanted: &str) -> HostResult<Vec<Candidate>> {
        let source = match step.expression {
            Some(_) => "job_search WHERE job_search MATCH ?7 AND",
            None => "job WHERE",
        };
        let query = format!(
            "SELECT found AS row, coalesce((
              SELECT listed = 1 AND (?1 IS NULL OR status = ?1) AND (?2 IS NULL OR subject = ?2)
                AND instr(
                  coalesce(prompt_lowercase, lower(substr(coalesce(prompt, prompt_summary), 1, ?3))), ?4
                ) > 0
              FROM job WHERE row = found), 0) AS is_match
            FROM (SELECT rowid AS found FROM {source} rowid < ?5 ORDER BY rowid DESC LIMIT ?6)"
        );
        let mut values = vec![
            optional_text(filter.state.as_deref()),
            optional_text(filter.author.as_deref()),
            number(SEARCHED_CHARACTERS as u64),
            text(wanted),
            number(step.below),
            number(MAX_CANDIDATES),
        ];
        values.extend(step.expression.as_deref().map(text));
        self.database.rows(&query, values)
    }

    /// Returns the highest row that is not in the index yet, or 0 if the index is complete.
    pub fn backlog(&self) -> HostResult<u64> {
        let last = self.database.value("SELECT last FROM search_backlog", [])?;
        Ok(last.unwrap_or(0))
    }

    /// Indexes the newest jobs that are not in the index yet, at most [`MAX_INDEXED`] per call.
    pub fn index_backlog(&self) -> HostResult<()> {
        let last = self.backlog()?;
        if last == 0 {
            return Ok(());
        }
        let query = "SELECT row, coalesce(prompt, prompt_summary, '') AS prompt
            FROM job WHERE row <= ? AND listed = 1 ORDER BY row DESC LIMIT ?";
        let rows: Vec<PromptRow> = self
            .database
            .rows(query, [number(last), number(MAX_INDEXED)])?;
        let is_done = (rows.len() as u64) < MAX_INDEXED;
        let next = rows
            .last()
            .filter(|_| !is_done)
            .map_or(0, |row| row.row - 1);
        self.database.transaction(|| {
            for PromptRow { row, prompt } in &rows {
                let folded = find_folded(prompt);
                if let Some(folded) = &folded {
                    let update = "UPDATE job SET prompt_lowercase = ? WHERE row = ?";
                    self.database
                        .execute(update, [text(folded), number(*row)])?;
                }
                self.index_prompt(*row, prompt, folded.as_deref())?;
            }
            let update = "UPDATE search_backlog SET last = ?";
            self.database.execute(update, [number(next)])
        })
    }
}

#[cfg(test)]
mod tests {
    #![expect(
        clippy::unwrap_used,
        reason = "a failed unwrap fails the test at its line"
    )]

    use std::cell::RefCell;
    use std::rc::Rc;

    use quillgate::Millis;
    use wasm_bindgen::JsValue;
    use wasm_bindgen_futures::JsFuture;
    use wasm_bindgen_test::wasm_bindgen_test;

    use super::*;
    use crate::runtime::into_promise;
    use crate::runtime::tests::fake_database;

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

    #[wasm_bindgen_test]
    async fn callers_take_turns_in_order_of_arrival() {
        let exec = "(query) => {
          const range = { first: 1, last: 1, backlog: 0 };
          return { toArray: () => (query.includes('backlog') ? [range] : []) };
        }";
        let store = Rc::new(JobStore::open(
            fake_database(&JsValue::NULL, exec),
            Millis(0),
        ));
        let order = Rc::new(RefCell::new(Vec::new()));
        let start = |number: u32| {
            let (store, order) = (Rc::clone(&store), Rc::clone(&order));
            let query = JobQuery {
                filter: JobFilter::default(),
                limit: 20,
                before: None,
                caller: number.to_string(),
            };
            into_promise(async move {
                store.search(&query, "ui").await?;
                order.borrow_mut().push(number);
                Ok(JsValue::UNDEFINED)
            })
        };
        let [first, second, third] = [1, 2, 3].map(&start);
        JsFuture::from(first).await.unwrap();
        let fourth = start(4);
        for search in [second, third, fourth] {
            JsFuture::from(search).await.unwrap();
        }
        assert_eq!(*order.borrow(), [1, 2, 3, 4]);
    }
}
