//! The job list and the records of single jobs. The store selects the jobs of a page, and returns
//! pages and records as JSON.

use wasm_bindgen::JsValue;

use super::JobStore;
use crate::jobs::job_row::JobRow;
use crate::jobs::records::{JobFilter, JobQuery, Position, encode_cursor};
use crate::json;
use crate::runtime::{HostResult, number, optional_text, text};

/// Selects a [`quillgate::JobRecord`] without `messages` and `changes`. These lists are read row by
/// row, because the prompts of all follow-ups can together exceed 2 MB, the runtime's limit for a
/// value.
const RECORD: &str = concat!(
    "SELECT json_object('job', ",
    listed_job!(),
    ", 'prompt', coalesce(prompt, prompt_summary)) FROM job WHERE id = ? AND listed = 1"
);

const MESSAGES: &str = include_str!("sql/messages.sql");

/// Selects the first state of a job, and each state whose status or pull request differs from the
/// previous state.
const CHANGES: &str = include_str!("sql/changes.sql");

pub struct JobPage {
    pub rows: Vec<JobRow>,
    /// The position where the next page starts. `None` on the last page.
    next: Option<Position>,
}

impl JobStore {
    /// Returns a page of the jobs that match a filter, newest first. A search can return fewer than
    /// `query.limit` jobs even if further, older jobs match.
    pub async fn page(&self, query: &JobQuery) -> HostResult<JobPage> {
        if let Some(wanted) = &query.filter.text {
            let found = self.search(query, wanted).await?;
            let select =
                select_jobs!("WHERE row IN (SELECT value FROM json_each(?)) ORDER BY row DESC");
            let rows = text(&json::to_text(&found.rows));
            return Ok(JobPage {
                rows: self.database.rows(select, [rows])?,
                // A search resumes below a row and ignores the time of the position.
                next: found.next.map(|row| Position {
                    row,
                    ..Position::NEWEST
                }),
            });
        }
        let (select, values) = select_page(query);
        let mut rows: Vec<JobRow> = self.database.rows(select, values)?;
        let has_more = rows.len() as u64 > query.limit;
        rows.truncate(usize::try_from(query.limit).unwrap_or(usize::MAX));
        let last = rows.last().filter(|_| has_more);
        let next = last.map(|row| Position {
            created: row.created_at.0,
            row: row.row,
        });
        Ok(JobPage { rows, next })
    }

    /// Returns a page as JSON. Reads the jobs of the page again, because a poll may have changed or
    /// deleted some of them. Omits jobs whose status no longer matches the filter.
    pub fn list(&self, filter: &JobFilter, page: &JobPage) -> HostResult<String> {
        let query = concat!(
            "SELECT ",
            listed_job!(),
            " FROM job WHERE row IN (SELECT value FROM json_each(?1))
              AND listed = 1 AND (?2 IS NULL OR status = ?2) ORDER BY created_at DESC, row DESC"
        );
        let rows: Vec<u64> = page.rows.iter().map(|row| row.row).collect();
        let values = [
            text(&json::to_text(&rows)),
            optional_text(filter.state.as_deref()),
        ];
        let jobs = self.join_rows(query, values)?;
        let cursor = page.next.as_ref().map_or("null".to_owned(), |next| {
            format!("\"{}\"", encode_cursor(next))
        });
        let revision: Option<u64> = self.database.value("SELECT revision FROM project", [])?;
        let revision = revision.unwrap_or_default();
        Ok(format!(
            "{{\"jobs\":[{jobs}],\"nextCursor\":{cursor},\"revision\":{revision}}}"
        ))
    }

    /// Returns the record of a listed job as JSON. Returns `None` if the job is not listed.
    pub fn read_record(&self, id: &str) -> HostResult<Option<String>> {
        let Some(record) = self.database.value::<String>(RECORD, [text(id)])? else {
            return Ok(None);
        };
        let properties = record.strip_suffix('}').unwrap_or(&record);
        let messages = self.join_rows(MESSAGES, [text(id)])?;
        let changes = self.join_rows(CHANGES, [text(id)])?;
        Ok(Some(format!(
            "{properties},\"messages\":[{messages}],\"changes\":[{changes}]}}"
        )))
    }

    fn join_rows(
        &self,
        query: &'static str,
        values: impl Into<Vec<JsValue>>,
    ) -> HostResult<String> {
        let rows: Vec<String> = self.database.values(query, values)?;
        Ok(rows.join(","))
    }
}

/// Expands to the query of a page. The index `$index` contains the jobs in the order of the page,
/// so that `SQLite` does not need to sort the jobs.
macro_rules! page_query {
    ($index:literal, $condition:literal) => {
        select_jobs!(
            "INDEXED BY ",
            $index,
            " WHERE listed = 1 AND (created_at, row) < (?, ?)",
            $condition,
            " ORDER BY created_at DESC, row DESC LIMIT ?"
        )
    };
}

/// Returns the statement that selects a page, and the values to bind. The statement selects one job
/// more than `query.limit`, which shows whether a next page exists.
fn select_page(query: &JobQuery) -> (&'static str, Vec<JsValue>) {
    let before = query.before.unwrap_or(Position::NEWEST);
    let JobFilter { author, state, .. } = &query.filter;
    let select = match (author, state) {
        (None, None) => page_query!("job_created", ""),
        (Some(_), None) => page_query!("job_subject", " AND subject = ?"),
        (None, Some(_)) => page_query!("job_status", " AND status = ?"),
        (Some(_), Some(_)) => {
            page_query!("job_subject_status", " AND subject = ? AND status = ?")
        }
    };
    let mut values = vec![number(before.created), number(before.row)];
    values.extend(
        [author, state]
            .into_iter()
            .flatten()
            .map(|value| text(value)),
    );
    values.push(number(query.limit + 1));
    (select, values)
}
