//! The job list and the records of single jobs. The store selects the jobs of a page, and returns
//! pages and records as JSON.

use serde::de::DeserializeOwned;
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
    /// The number of the list's latest change before the page was read.
    revision: u64,
}

impl JobStore {
    /// Returns a page of the jobs that match a filter, newest first. A search can return fewer than
    /// `query.limit` jobs even if further, older jobs match.
    pub async fn page(&self, query: &JobQuery) -> HostResult<JobPage> {
        // Later changes have higher numbers, also those that happen while this page is read.
        let revision: Option<u64> = self.database.value("SELECT revision FROM project", [])?;
        let revision = revision.unwrap_or_default();
        if let Some(wanted) = &query.filter.text {
            let found = self.search(query, wanted).await?;
            let select = select_jobs!(
                "WHERE row IN (SELECT value FROM json_each(?)) ORDER BY created_at DESC, row DESC"
            );
            let rows: Vec<_> = found.jobs.iter().map(|job| job.row).collect();
            return Ok(JobPage {
                rows: self.database.rows(select, [text(&json::to_text(&rows))])?,
                next: found.next,
                revision,
            });
        }
        let before = query.before.unwrap_or(Position::NEWEST);
        // One job more than `query.limit` shows whether a next page exists.
        let count = query.limit + 1;
        let mut rows: Vec<JobRow> =
            self.select_jobs(job_columns!(), vec![], &query.filter, before, count)?;
        let has_more = rows.len() as u64 > query.limit;
        rows.truncate(usize::try_from(query.limit).unwrap_or(usize::MAX));
        let last = rows.last().filter(|_| has_more);
        let next = last.map(|row| Position {
            created: row.created_at.0,
            row: row.row,
        });
        Ok(JobPage {
            rows,
            next,
            revision,
        })
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
        let revision = page.revision;
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

    /// Selects `columns` of at most `count` jobs after `before`, newest first. Ignores
    /// `filter.text`. `values` are the values of the columns' parameters.
    pub(super) fn select_jobs<T: DeserializeOwned>(
        &self,
        columns: &str,
        mut values: Vec<JsValue>,
        filter: &JobFilter,
        before: Position,
        count: u64,
    ) -> HostResult<Vec<T>> {
        let JobFilter { author, state, .. } = filter;
        // These indexes contain the jobs in the order of the page, so that `SQLite` does not need to
        // sort the jobs.
        let (index, condition) = match (author, state) {
            (None, None) => ("job_created", ""),
            (Some(_), None) => ("job_subject", "AND subject = ?"),
            (None, Some(_)) => ("job_status", "AND status = ?"),
            (Some(_), Some(_)) => ("job_subject_status", "AND subject = ? AND status = ?"),
        };
        let query = format!(
            "SELECT {columns} FROM job INDEXED BY {index}
            WHERE listed = 1 AND (created_at, row) < (?, ?) {condition}
            ORDER BY created_at DESC, row DESC LIMIT ?"
        );
        values.extend([number(before.created), number(before.row)]);
        values.extend(
            [author, state]
                .into_iter()
                .flatten()
                .map(|value| text(value)),
        );
        values.push(number(count));
        self.database.rows(&query, values)
    }
}
