//! The ledger: every job created through the gateway, and every change seen of a job.

use std::rc::Rc;

use quillgate::{JobId, Millis};
use serde::Serialize;

use crate::events::JobEvent;
use crate::jobs::ledger::{Position, encode_cursor};
use crate::jobs::poll::{Known, is_finished};
use crate::plan::Write;
use crate::platform::{Database, HostResult, JobSnapshot, now, number, optional_text, row, text};

/// The tables, the third step of the project's object.
pub const JOB_TABLES: &str = "
  CREATE TABLE project (id TEXT NOT NULL);
  CREATE TABLE job (
    row INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    listed INTEGER NOT NULL,
    subject TEXT,
    line TEXT,
    webhook TEXT,
    created INTEGER NOT NULL,
    status TEXT,
    pr_link TEXT,
    data TEXT,
    seq INTEGER NOT NULL DEFAULT 0,
    checked INTEGER NOT NULL DEFAULT 0
  );
  CREATE INDEX job_created ON job (listed, created, row);
  CREATE INDEX job_webhook ON job (webhook) WHERE webhook IS NOT NULL;
  CREATE TABLE event (
    job TEXT NOT NULL,
    seq INTEGER NOT NULL,
    data TEXT NOT NULL,
    PRIMARY KEY (job, seq)
  ) WITHOUT ROWID;
";

/// When the upstream first answered 404 about a job, since it last answered otherwise.
pub const MISSING_JOBS: &str = "ALTER TABLE job ADD COLUMN missing_since INTEGER";

/// The columns of [`JobRow`].
macro_rules! job_columns {
    () => {
        "row, id, subject, line, webhook, created, status, pr_link, data, seq, checked, missing_since"
    };
}

row! {
    struct ProjectRow {
        id: String,
    }
}

row! {
/// A job as it is kept.
#[derive(Debug, Clone)]
pub struct JobRow {
    row: u64,
    /// Its id.
    pub id: String,
    subject: Option<String>,
    line: Option<String>,
    /// The address that waits for its end.
    pub webhook: Option<String>,
    created: u64,
    /// Its status, once it is known.
    pub status: Option<String>,
    pr_link: Option<String>,
    /// As the upstream last answered.
    pub data: Option<String>,
    seq: u64,
    checked: u64,
    missing_since: Option<u64>,
}
}

impl JobRow {
    /// Its id, as far as that can be part of a path.
    pub fn job_id(&self) -> Option<JobId> {
        JobId::new(self.id.as_str()).ok()
    }

    /// When it was created, or first seen.
    pub const fn created(&self) -> Millis {
        Millis(self.created)
    }

    /// When it was last asked for.
    pub const fn checked_at(&self) -> Millis {
        Millis(self.checked)
    }

    /// When the upstream first answered 404 about it, since it last answered otherwise.
    pub fn missing_since(&self) -> Option<Millis> {
        self.missing_since.map(Millis)
    }

    /// Whether it has come to its end.
    pub fn is_finished(&self) -> bool {
        is_finished(self.status.as_deref())
    }

    /// What is known of its state.
    pub fn state(&self) -> Known {
        Known {
            is_seen: self.seq > 0,
            is_finished: self.is_finished(),
            checked: self.checked_at(),
        }
    }
}

row! {
    struct EventRow {
        seq: u64,
        data: String,
    }
}

/// A page of the ledger as it is answered.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct JobListing {
    jobs: Vec<ListedJob>,
    next_cursor: Option<String>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ListedJob {
    id: String,
    status: Option<String>,
    prompt: Option<String>,
    created_by: Option<String>,
    created_at: String,
    pr_link: Option<String>,
    checked_at: String,
}

impl From<JobRow> for ListedJob {
    fn from(row: JobRow) -> Self {
        Self {
            created_at: iso_8601(row.created()),
            checked_at: iso_8601(row.checked_at()),
            id: row.id,
            status: row.status,
            prompt: row.line,
            created_by: row.subject,
            pr_link: row.pr_link,
        }
    }
}

/// An instant as ISO 8601 has it, in UTC with milliseconds.
#[expect(clippy::cast_precision_loss, reason = "far below 2^53")]
pub fn iso_8601(instant: Millis) -> String {
    let date = js_sys::Date::new(&(instant.0 as f64).into());
    date.to_iso_string().into()
}

/// The jobs of a project.
pub struct JobStore {
    database: Rc<Database>,
}

impl JobStore {
    /// The jobs as they are stored.
    pub const fn open(database: Rc<Database>) -> Self {
        Self { database }
    }

    /// Remembers the project: an alarm, unlike a request, does not name it.
    pub fn remember_project(&self, project: &str) -> HostResult<()> {
        if self.project()?.is_some() {
            return Ok(());
        }
        let insert = "INSERT INTO project (id) VALUES (?)";
        self.database.execute(insert, &[text(project)])
    }

    /// The project; `None` as long as no request has named it.
    pub fn project(&self) -> HostResult<Option<String>> {
        let row: Option<ProjectRow> = self.database.first("SELECT id FROM project", &[])?;
        Ok(row.map(|row| row.id))
    }

    /// Writes down a job that was just created, and how it is.
    pub fn add(&self, id: &str, write: &Write, job: &JobSnapshot) -> HostResult<()> {
        let now = now();
        // Somebody who learned its id elsewhere may be watching it already.
        let insert = "INSERT INTO job
              (id, listed, subject, line, webhook, created, status, pr_link, data, seq, checked)
            VALUES (?, 1, ?, ?, ?, ?, ?, ?, ?, 1, ?)
            ON CONFLICT (id) DO UPDATE SET listed = 1, subject = excluded.subject,
              line = excluded.line, webhook = excluded.webhook";
        let row = &[
            text(id),
            text(&write.subject),
            text(&write.prompt_summary),
            optional_text(write.webhook.as_deref()),
            number(now.0),
            optional_text(job.status.as_deref()),
            optional_text(job.pr_link.as_deref()),
            text(&job.data),
            number(now.0),
        ];
        self.database.execute(insert, row)
    }

    /// Writes down how a job is; gives the event when that is a change.
    pub fn record(&self, id: &str, job: &JobSnapshot) -> HostResult<Option<JobEvent>> {
        let now = now();
        let row = self.find(id)?;
        if row.as_ref().and_then(|row| row.data.as_ref()) == Some(&job.data) {
            self.mark_found(id)?;
            return Ok(None);
        }
        self.database.transaction(|| {
            let seq = if let Some(row) = &row {
                if let Some(past) = &row.data {
                    self.keep_past(id, row.seq, past)?;
                }
                row.seq + 1
            } else {
                // A job that was created elsewhere: it can be watched, and is not listed.
                let insert = "INSERT INTO job (id, listed, created) VALUES (?, 0, ?)";
                self.database.execute(insert, &[text(id), number(now.0)])?;
                1
            };
            let update = "UPDATE job
                SET status = ?, pr_link = ?, data = ?, seq = ?, checked = ?, missing_since = NULL
                WHERE id = ?";
            let row = &[
                optional_text(job.status.as_deref()),
                optional_text(job.pr_link.as_deref()),
                text(&job.data),
                number(seq),
                number(now.0),
                text(id),
            ];
            self.database.execute(update, row)?;
            Ok(Some(JobEvent {
                seq,
                data: job.data.clone(),
            }))
        })
    }

    /// Keeps how a job was before: its present state is in its own row.
    fn keep_past(&self, id: &str, seq: u64, data: &str) -> HostResult<()> {
        let insert = "INSERT INTO event (job, seq, data) VALUES (?, ?, ?)";
        self.database
            .execute(insert, &[text(id), number(seq), text(data)])
    }

    /// Remembers that a job was asked for just now.
    pub fn mark_checked(&self, id: &str) -> HostResult<()> {
        let update = "UPDATE job SET checked = ? WHERE id = ?";
        self.database.execute(update, &[number(now().0), text(id)])
    }

    /// Remembers that the upstream knew a job just now.
    pub fn mark_found(&self, id: &str) -> HostResult<()> {
        let update = "UPDATE job SET checked = ?, missing_since = NULL WHERE id = ?";
        self.database.execute(update, &[number(now().0), text(id)])
    }

    /// Remembers since when the upstream has not known a job.
    pub fn mark_missing(&self, id: &str, since: Millis) -> HostResult<()> {
        let update = "UPDATE job SET missing_since = ? WHERE id = ?";
        self.database.execute(update, &[number(since.0), text(id)])
    }

    /// A job, if it is known.
    pub fn find(&self, id: &str) -> HostResult<Option<JobRow>> {
        let query = concat!("SELECT ", job_columns!(), " FROM job WHERE id = ?");
        self.database.first(query, &[text(id)])
    }

    /// Lets nobody wait for a job's end any more.
    pub fn forget_webhook(&self, id: &str) -> HostResult<()> {
        let update = "UPDATE job SET webhook = NULL WHERE id = ?";
        self.database.execute(update, &[text(id)])
    }

    /// The unfinished jobs whose end a webhook waits for.
    pub fn awaited(&self) -> HostResult<Vec<JobRow>> {
        let query = concat!(
            "SELECT ",
            job_columns!(),
            " FROM job WHERE webhook IS NOT NULL"
        );
        let mut rows: Vec<JobRow> = self.database.rows(query, &[])?;
        rows.retain(|row| !row.is_finished());
        Ok(rows)
    }

    /// The changes after the one with this number, or the last one alone when none is named or
    /// there never was such a change.
    pub fn events(&self, id: &str, after: Option<u64>) -> HostResult<Vec<JobEvent>> {
        let Some(row) = self.find(id)? else {
            return Ok(Vec::new());
        };
        let Some(data) = row.data else {
            return Ok(Vec::new());
        };
        let after = after
            .filter(|after| *after <= row.seq)
            .unwrap_or(row.seq.saturating_sub(1));
        let query = "SELECT seq, data FROM event WHERE job = ? AND seq > ? ORDER BY seq";
        let past = self
            .database
            .rows::<EventRow>(query, &[text(id), number(after)])?;
        let mut events: Vec<_> = past
            .into_iter()
            .map(|EventRow { seq, data }| JobEvent { seq, data })
            .collect();
        if after < row.seq {
            events.push(JobEvent { seq: row.seq, data });
        }
        Ok(events)
    }

    /// Jobs created through the gateway, newest first.
    pub fn page(&self, limit: u64, before: Option<Position>) -> HostResult<Vec<JobRow>> {
        let newest = concat!(
            "SELECT ",
            job_columns!(),
            " FROM job WHERE listed = 1 ORDER BY created DESC, row DESC LIMIT ?"
        );
        let older = concat!(
            "SELECT ",
            job_columns!(),
            " FROM job WHERE listed = 1 AND (created, row) < (?, ?)
              ORDER BY created DESC, row DESC LIMIT ?"
        );
        match before {
            None => self.database.rows(newest, &[number(limit)]),
            Some(Position { created, row }) => self
                .database
                .rows(older, &[number(created), number(row), number(limit)]),
        }
    }

    /// A page as it is answered.
    pub fn list(&self, limit: u64, before: Option<Position>) -> HostResult<JobListing> {
        let mut rows = self.page(limit + 1, before)?;
        let has_more = rows.len() as u64 > limit;
        if has_more {
            rows.pop();
        }
        let position = |row: &JobRow| Position {
            created: row.created,
            row: row.row,
        };
        let last = rows.last().filter(|_| has_more).map(position);
        Ok(JobListing {
            jobs: rows.into_iter().map(ListedJob::from).collect(),
            next_cursor: last.as_ref().map(encode_cursor),
        })
    }
}

impl JobListing {
    /// The page as JSON.
    pub fn to_json(&self) -> HostResult<String> {
        serde_json::to_string(self)
            .map_err(|error| crate::platform::HostError::new(error.to_string()))
    }
}
