//! The ledger: every job created through the gateway, and every change seen of a job.

use std::rc::Rc;

use quillgate::{JobId, Millis};
use serde::Serialize;
use worker::SqlStorageValue;

use crate::events::JobEvent;
use crate::jobs::ledger::{Position, encode_cursor};
use crate::jobs::poll::{Known, is_finished, is_given_up};
use crate::plan::Write;
use crate::platform::{
    Database, HostError, HostResult, JobSnapshot, now, number, optional_text, row, text,
};

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

/// When jobs are polled and for how long they are kept, a further step of the project's object. Both
/// start from the upgrade for what an earlier release has stored.
///
/// `webhook_poll` is set while a webhook waits for the end of a job: what is unfinished is found
/// without reading the rest.
pub const JOB_UPKEEP: &str = "
  ALTER TABLE job ADD COLUMN began INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE job ADD COLUMN not_before INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE job ADD COLUMN webhook_poll INTEGER;
  UPDATE job SET began = unixepoch() * 1000, webhook_poll = CASE
    WHEN webhook IS NOT NULL
      AND coalesce(status, '') NOT IN ('completed', 'failed', 'archived') THEN 0 END;
  DROP INDEX job_webhook;
  CREATE INDEX job_webhook_poll ON job (webhook_poll) WHERE webhook_poll IS NOT NULL;
  CREATE INDEX job_began ON job (began) WHERE webhook_poll IS NULL;
";

/// The most past changes of a job that are kept.
const MOST_EVENTS: u64 = 100;
/// The most of them that are dropped with one change: an earlier release has kept all.
const DROPPED_AT_ONCE: u64 = 10;
/// The most jobs that are polled or dropped with one alarm.
const AT_ONCE: u64 = 20;
/// When the upstream first answered 404 about a job, since it last answered otherwise.
pub const MISSING_JOBS: &str = "ALTER TABLE job ADD COLUMN missing_since INTEGER";

/// The columns of [`JobRow`].
macro_rules! job_columns {
    () => {
        "row, id, subject, line, webhook, created, status, pr_link, data, seq, checked, began,
          not_before, missing_since"
    };
}

row! {
    struct IdRow {
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
    began: u64,
    not_before: u64,
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

    /// When it was set to work: created, or sent a follow-up after its end.
    pub const fn began(&self) -> Millis {
        Millis(self.began)
    }

    /// Until when the upstream asks not to be polled.
    pub const fn not_before(&self) -> Millis {
        Millis(self.not_before)
    }

    /// When the upstream first answered 404 about it, since it last answered otherwise.
    pub fn missing_since(&self) -> Option<Millis> {
        self.missing_since.map(Millis)
    }

    /// Whether it has come to its end.
    pub fn is_finished(&self) -> bool {
        is_finished(self.status.as_deref())
    }

    /// Whether nothing more is expected of it, when jobs are polled up to `limit`.
    pub fn is_settled(&self, limit: Millis, now: Millis) -> bool {
        self.is_finished() || is_given_up(self.began(), limit, now)
    }

    /// What is known of its state, when jobs are polled up to `limit`.
    pub fn state(&self, limit: Millis, now: Millis) -> Known {
        Known {
            is_seen: self.seq > 0,
            is_settled: self.is_settled(limit, now),
            checked: self.checked_at(),
            not_before: self.not_before(),
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
    ///
    /// # Errors
    /// Another project than before: what is recorded here belongs to one.
    pub fn remember_project(&self, project: &str) -> HostResult<()> {
        match self.project()? {
            Some(own) if own == project => return Ok(()),
            Some(_) => return Err(HostError::new("these are the records of another project")),
            None => {}
        }
        let insert = "INSERT INTO project (id) VALUES (?)";
        self.database.execute(insert, &[text(project)])
    }

    /// The project; `None` as long as no request has named it.
    pub fn project(&self) -> HostResult<Option<String>> {
        let row: Option<IdRow> = self.database.first("SELECT id FROM project", &[])?;
        Ok(row.map(|row| row.id))
    }

    /// Writes down a job that was just created, and how it is.
    pub fn add(&self, id: &str, write: &Write, job: &JobSnapshot) -> HostResult<()> {
        let now = now();
        // Somebody who learned its id elsewhere may be watching it already.
        let insert = "INSERT INTO job
              (id, listed, subject, line, webhook, created, status, pr_link, data, seq, checked, began)
            VALUES (?, 1, ?, ?, ?, ?, ?, ?, ?, 1, ?, ?)
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
            let (seq, began) = if let Some(row) = &row {
                if let Some(past) = &row.data {
                    self.keep_past(id, row.seq, past)?;
                }
                let is_again = row.is_finished() && !is_finished(job.status.as_deref());
                (row.seq + 1, if is_again { now } else { row.began() })
            } else {
                // A job that was created elsewhere: it can be watched, and is not listed.
                let insert = "INSERT INTO job (id, listed, created) VALUES (?, 0, ?)";
                self.database.execute(insert, &[text(id), number(now.0)])?;
                (1, now)
            };
            let update = "UPDATE job SET status = ?, pr_link = ?, data = ?, seq = ?, checked = ?,
                began = ?, not_before = 0, missing_since = NULL WHERE id = ?";
            let row = &[
                optional_text(job.status.as_deref()),
                optional_text(job.pr_link.as_deref()),
                text(&job.data),
                number(seq),
                number(now.0),
                number(began.0),
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
            .execute(insert, &[text(id), number(seq), text(data)])?;
        let delete = "DELETE FROM event WHERE job = ?1 AND seq IN
            (SELECT seq FROM event WHERE job = ?1 AND seq <= ?2 ORDER BY seq LIMIT ?3)";
        let oldest = number(seq.saturating_sub(MOST_EVENTS));
        self.database
            .execute(delete, &[text(id), oldest, number(DROPPED_AT_ONCE)])
    }

    /// Remembers that a job was asked for just now, and until when the upstream wants to be left
    /// alone.
    pub fn mark_checked(&self, id: &str, not_before: Millis) -> HostResult<()> {
        let update = "UPDATE job SET checked = ?, not_before = ? WHERE id = ?";
        let row = &[number(now().0), number(not_before.0), text(id)];
        self.database.execute(update, row)
    }

    /// Remembers that a job was set to work just now.
    pub fn mark_begun(&self, id: &str) -> HostResult<()> {
        let update = "UPDATE job SET began = ? WHERE id = ?";
        self.database.execute(update, &[number(now().0), text(id)])
    }

    /// Sets when a job is polled for its webhook; `None` when nothing waits for it.
    pub fn set_webhook_poll(&self, id: &str, at: Option<Millis>) -> HostResult<()> {
        let at = at.map_or(SqlStorageValue::Null, |at| number(at.0));
        let update = "UPDATE job SET webhook_poll = ? WHERE id = ?";
        self.database.execute(update, &[at, text(id)])
    }

    /// Remembers that the upstream knew a job just now.
    pub fn mark_found(&self, id: &str) -> HostResult<()> {
        let update = "UPDATE job SET checked = ?, not_before = 0, missing_since = NULL
            WHERE id = ?";
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
        let update = "UPDATE job SET webhook = NULL, webhook_poll = NULL WHERE id = ?";
        self.database.execute(update, &[text(id)])
    }

    /// Jobs that are to be polled for their webhook: not more than an alarm begins.
    pub fn due(&self, now: Millis) -> HostResult<Vec<JobRow>> {
        let query = concat!(
            "SELECT ",
            job_columns!(),
            " FROM job WHERE webhook_poll <= ? ORDER BY webhook_poll LIMIT ?"
        );
        self.database.rows(query, &[number(now.0), number(AT_ONCE)])
    }

    /// When the next job is polled for its webhook.
    pub fn next_due(&self) -> HostResult<Option<Millis>> {
        let query = "SELECT min(webhook_poll) AS due FROM job WHERE webhook_poll IS NOT NULL";
        self.database.first_due(query)
    }

    /// When the job was set to work that has been kept for longest, of those that no webhook waits
    /// for.
    pub fn oldest(&self) -> HostResult<Option<Millis>> {
        let query = "SELECT min(began) AS due FROM job WHERE webhook_poll IS NULL";
        self.database.first_due(query)
    }

    /// Deletes some of the jobs that were set to work at `latest` or before, and that no webhook
    /// waits for.
    pub fn sweep(&self, latest: Millis) -> HostResult<()> {
        let query = "SELECT id FROM job WHERE webhook_poll IS NULL AND began <= ?
            ORDER BY began LIMIT ?";
        let expired: Vec<IdRow> = self
            .database
            .rows(query, &[number(latest.0), number(AT_ONCE)])?;
        self.database.transaction(|| {
            for IdRow { id } in &expired {
                self.delete(id)?;
            }
            Ok(())
        })
    }

    /// Deletes a job with its changes.
    pub fn delete(&self, id: &str) -> HostResult<()> {
        let id = [text(id)];
        self.database
            .execute("DELETE FROM event WHERE job = ?", &id)?;
        self.database.execute("DELETE FROM job WHERE id = ?", &id)
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
