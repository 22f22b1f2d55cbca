//! The search index of a project's jobs. The store maintains and queries the index, and
//! [`crate::jobs::search`] decides the steps of a search.
//!
//! A row of `job_search` contains [`block_mark`] and the searched part of a prompt in lower case.
//! Alarms index the jobs that were stored before the index existed: rows up to
//! `search_backlog.last`.

use futures_channel::oneshot;
use js_sys::JsString;
use serde::Deserialize;

use super::JobStore;
use crate::jobs::records::{JobFilter, JobQuery};
use crate::jobs::search::{
    Candidate, Found, MAX_CANDIDATES, RowRange, SEARCHED_CHARACTERS, Search, Step, block_mark,
    searched_part,
};
use crate::runtime::{HostError, HostResult, number, optional_text, text, yield_now};

const MAX_INDEXED: u64 = 100;

/// Prepares a string for a search: converts it to lower case and replaces each NUL with a space.
/// Many functions of `SQLite` ignore everything after a NUL. Uses JavaScript's `toLowerCase`,
/// because Rust's `to_lowercase` would add Unicode tables to the wasm module.
fn lower(text: &str) -> String {
    String::from(JsString::from(text).to_lower_case()).replace('\0', " ")
}

/// Returns the searched part of a prompt in lower case, or `None` if `SQLite`'s `lower` function
/// returns the same string. The `SQLite` function converts only ASCII letters and ignores
/// everything after a NUL.
pub fn find_lowercase(prompt: &str) -> Option<String> {
    let searched = searched_part(prompt);
    let is_plain = searched.is_ascii() && !searched.contains('\0');
    (!is_plain).then(|| lower(searched))
}

#[derive(Deserialize)]
struct PromptRow {
    row: u64,
    prompt: String,
}

impl JobStore {
    /// Adds a job to the index. `lowercase` is the result of [`find_lowercase`].
    pub(super) fn index_prompt(
        &self,
        row: u64,
        prompt: &str,
        lowercase: Option<&str>,
    ) -> HostResult<()> {
        let indexed = match lowercase {
            Some(lowercase) => block_mark(row) + lowercase,
            None => block_mark(row) + &lower(searched_part(prompt)),
        };
        let insert = "INSERT OR REPLACE INTO job_search (rowid, prompt) VALUES (?, ?)";
        self.database.execute(insert, [number(row), text(&indexed)])
    }

    /// Finds the jobs of a page whose prompts contain `wanted`. Searches run one at a time, in
    /// order of arrival. Other requests can run before each step.
    pub(super) async fn search(&self, query: &JobQuery, wanted: &str) -> HostResult<Found> {
        let (_end, ended) = oneshot::channel();
        let earlier = self.latest_search.replace(Some(ended));
        if let Some(earlier) = earlier {
            // The earlier search drops its sender when it ends, which ends this wait. The wait
            // needs no timer: requests of a Durable Object may wait for each other, so the runtime
            // does not cancel them as hung.
            let _ = earlier.await;
        }
        let wanted = lower(wanted);
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
                AND instr(lower(substr(coalesce(prompt_lowercase, prompt, prompt_summary), 1, ?3)), ?4) > 0
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
        let query = "SELECT row, coalesce(prompt_lowercase, prompt, prompt_summary, '') AS prompt
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
                let lowercase = find_lowercase(prompt);
                if let Some(lowercase) = &lowercase {
                    let update = "UPDATE job SET prompt_lowercase = ? WHERE row = ?";
                    self.database
                        .execute(update, [text(lowercase), number(*row)])?;
                }
                self.index_prompt(*row, prompt, lowercase.as_deref())?;
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
    fn a_lower_case_copy_is_stored_only_if_sqlite_would_not_create_the_same() {
        assert_eq!(find_lowercase("Fix the API"), None);
        assert_eq!(find_lowercase("ÜBERSICHT").as_deref(), Some("übersicht"));
        assert_eq!(
            find_lowercase("Before\0After").as_deref(),
            Some("before after")
        );
    }

    #[wasm_bindgen_test]
    async fn searches_run_in_order_of_arrival() {
        let exec = "(query) => {
          const range = { first: 1, last: 1, backlog: 0 };
          return { toArray: () => (query.includes('backlog') ? [range] : []) };
        }";
        let store = Rc::new(JobStore::open(
            fake_database(&JsValue::NULL, exec),
            Millis(0),
        ));
        let order = Rc::new(RefCell::new(Vec::new()));
        let start = |number| {
            let (store, order) = (Rc::clone(&store), Rc::clone(&order));
            let query = JobQuery {
                filter: JobFilter::default(),
                limit: 20,
                before: None,
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
