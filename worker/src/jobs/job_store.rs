//! The ledger: every job created through the gateway, and every change seen of a job.

use std::cell::OnceCell;
use std::rc::Rc;

use quillgate::text::MAX_SAFE_INTEGER;
use quillgate::{JobId, Millis};
use serde::Deserialize;
use wasm_bindgen::JsValue;

use crate::jobs::events::{JobEvent, ListEvent, ListHistory, MAX_REPLAYED};
use crate::jobs::ledger::{JobFilter, Position, encode_cursor, has_room_for_whole};
use crate::jobs::poll::{Known, is_finished, is_given_up};
use crate::jobs::search_store::{JobSearch, fold, lower};
use crate::jobs::write::Write;
use crate::runtime::{
    Database, HostError, HostResult, now, number, optional_number, optional_text, text,
};
use crate::upstream::client::JobSnapshot;

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

/// Listed jobs that have not ended, as a condition: that of an index, which is named where it is used,
/// since otherwise the one by age would be taken and all be read.
macro_rules! unfinished {
    () => {
        "listed = 1 AND coalesce(status, '') NOT IN ('completed', 'failed', 'archived')"
    };
}

/// Prompts and follow-ups, since when a job is as it is, and the numbers of changes of the list, the
/// ninth step of the project's object. `folded` is what is kept of a prompt, in lower case, where that is
/// more than ASCII: `SQLite` lowers no other letters.
pub const JOB_RECORDS: &str = concat!(
    "
  ALTER TABLE project ADD COLUMN revision INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE job ADD COLUMN prompt TEXT;
  ALTER TABLE job ADD COLUMN folded TEXT;
  ALTER TABLE job ADD COLUMN since INTEGER;
  ALTER TABLE job ADD COLUMN revision INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE event ADD COLUMN since INTEGER;
  CREATE INDEX job_revision ON job (revision) WHERE listed = 1;
  CREATE INDEX job_unfinished ON job (began) WHERE ",
    unfinished!(),
    ";
  CREATE TABLE message (
    job TEXT NOT NULL,
    number INTEGER NOT NULL,
    prompt TEXT NOT NULL,
    author TEXT NOT NULL,
    sent INTEGER NOT NULL,
    PRIMARY KEY (job, number)
  ) WITHOUT ROWID;
  CREATE TABLE deleted (
    revision INTEGER PRIMARY KEY,
    id TEXT NOT NULL,
    at INTEGER NOT NULL
  );
"
);

/// An instant as ISO 8601 has it, as an expression over a column of milliseconds.
macro_rules! iso_8601 {
    ($column:literal) => {
        concat!(
            "strftime('%Y-%m-%dT%H:%M:%S', ",
            $column,
            " / 1000, 'unixepoch') || printf('.%03dZ', ",
            $column,
            " % 1000)"
        )
    };
}

/// A job as it is listed, [`quillgate::ListedJob`], as an expression over its row.
macro_rules! listed_job {
    () => {
        concat!(
            "json_object('id', id, 'status', status, 'prompt', line, 'createdBy', subject, 'createdAt', ",
            iso_8601!("created"),
            ", 'prLink', pr_link, 'checkedAt', ",
            iso_8601!("checked"),
            ")"
        )
    };
}

/// The columns of a [`ListEvent`] of a job, as expressions over its row.
macro_rules! list_event {
    () => {
        concat!("revision, 'job' AS name, ", listed_job!(), " AS data")
    };
}

/// What is recorded of a job, [`quillgate::JobRecord`], but for its lists: a value may have 2 MB, which
/// whole prompts of one job can exceed together.
const RECORD: &str = concat!(
    "SELECT json_object('job', ",
    listed_job!(),
    ", 'prompt', coalesce(prompt, line)) AS data FROM job WHERE id = ? AND listed = 1"
);

/// The follow-ups of a job.
const MESSAGES: &str = concat!(
    "SELECT json_object('prompt', prompt, 'author', author, 'sentAt', ",
    iso_8601!("sent"),
    ") AS data FROM message WHERE job = ? ORDER BY number"
);

/// The states of a job: of changes that show in neither status nor link only the first.
const CHANGES: &str = concat!(
    "SELECT json_object('at', ",
    iso_8601!("since"),
    ", 'status', status, 'prLink', pr_link) AS data FROM (
      SELECT *, row_number() OVER own AS place, lag(status) OVER own AS past_status,
        lag(pr_link) OVER own AS past_link
      FROM (
        SELECT seq, since, json_extract(data, '$.status') AS status,
          json_extract(data, '$.prLink') AS pr_link FROM event WHERE job = ?1
        UNION ALL SELECT seq, since, status, pr_link FROM job WHERE id = ?1 AND seq > 0
      ) WINDOW own AS (ORDER BY seq)
    ) WHERE place = 1 OR status IS NOT past_status OR pr_link IS NOT past_link ORDER BY seq"
);

/// How long a deletion is remembered: those who watched the list may come back.
const DELETION_LIFE: Millis = Millis::from_seconds(86_400);
/// Maximum number of stored deletions.
const MAX_DELETIONS: u64 = 1_000;
/// The jobs that whoever is new is told of: more than change between a list and its stream.
const LATEST: u64 = 25;
/// The most unfinished jobs that are polled for those who watch the list: the latest.
const MOST_UNFINISHED: u64 = 50;
/// The most follow-ups of a job that are kept.
const MOST_MESSAGES: u64 = 100;
/// The most bytes of their text: a record is read as a whole, in 128 MB of memory.
const LARGEST_MESSAGES: u64 = 4 * 1024 * 1024;
/// The most past changes of a job that are kept.
const MOST_EVENTS: u64 = 100;
/// The most of them that are dropped with one change: an earlier release has kept all.
const DROPPED_AT_ONCE: u64 = 10;
/// The most jobs that are polled or dropped with one alarm.
const AT_ONCE: u64 = 20;
/// When the upstream first answered 404 about a job, since it last answered otherwise.
pub const MISSING_JOBS: &str = "ALTER TABLE job ADD COLUMN missing_since INTEGER";

/// The latest deletion that is no longer stored, the eleventh step of the project's object. An earlier
/// release did not record it: every position before the oldest stored deletion counts as too old.
pub const FORGOTTEN_DELETIONS: &str = "
  ALTER TABLE project ADD COLUMN forgotten INTEGER NOT NULL DEFAULT 0;
  UPDATE project SET forgotten = coalesce((SELECT min(revision) - 1 FROM deleted), revision);
";

/// The columns of [`JobRow`].
macro_rules! job_columns {
    () => {
        "row, id, listed, webhook, created, status, data, seq, checked, began, not_before, missing_since, since"
    };
}

#[derive(Deserialize)]
struct IdRow {
    id: String,
}

/// A job as it is kept.
#[derive(Debug, Clone, Deserialize)]
pub struct JobRow {
    row: u64,
    /// Its id.
    pub id: String,
    listed: u64,
    /// The address that waits for its end.
    pub webhook: Option<String>,
    created: u64,
    /// Its status, once it is known.
    pub status: Option<String>,
    /// As the upstream last answered.
    pub data: Option<String>,
    seq: u64,
    checked: u64,
    began: u64,
    not_before: u64,
    missing_since: Option<u64>,
    since: Option<u64>,
}

impl JobRow {
    /// Its id, as far as that can be part of a path.
    pub fn job_id(&self) -> Option<JobId> {
        JobId::new(self.id.as_str()).ok()
    }

    /// Whether it was created through the gateway.
    pub const fn is_listed(&self) -> bool {
        self.listed != 0
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

/// The result of [`JobStore::sweep`].
pub struct Swept {
    /// The ids of the deleted jobs.
    pub jobs: Vec<String>,
    /// The changes of the list.
    pub events: Vec<ListEvent>,
}

#[derive(Deserialize)]
struct EventRow {
    seq: u64,
    data: String,
}

#[derive(Deserialize)]
struct LineRow {
    id: String,
    line: String,
}

#[derive(Deserialize)]
struct HistoryRow {
    revision: u64,
    forgotten: u64,
    changes: u64,
    deletions: u64,
}

#[derive(Deserialize)]
struct RevisionRow {
    revision: u64,
}

#[derive(Deserialize)]
struct JsonRow {
    data: String,
}

/// An instant as ISO 8601 has it, in UTC with milliseconds.
#[expect(clippy::cast_precision_loss, reason = "far below 2^53")]
pub fn iso_8601(instant: Millis) -> String {
    let date = js_sys::Date::new(&(instant.0 as f64).into());
    date.to_iso_string().into()
}

/// A page of the ledger.
pub struct JobPage {
    /// Its jobs, newest first.
    pub rows: Vec<JobRow>,
    /// The position where the next page starts. `None` after the last page.
    next: Option<Position>,
}

/// The jobs of a project.
pub struct JobStore {
    database: Rc<Database>,
    search: JobSearch,
    /// The project, once it was read: it never changes.
    project: OnceCell<String>,
}

impl JobStore {
    /// The jobs as they are stored.
    pub fn open(database: Rc<Database>) -> Self {
        Self {
            search: JobSearch::open(Rc::clone(&database)),
            database,
            project: OnceCell::new(),
        }
    }

    /// Folds the prompts that an earlier release has kept: see [`JOB_RECORDS`].
    pub fn fold_lines(&self) -> HostResult<()> {
        let query = "SELECT id, line FROM job WHERE line GLOB '*[^ -~]*'";
        let update = "UPDATE job SET folded = ? WHERE id = ?";
        for row in self.database.rows::<LineRow>(query, [])? {
            self.database
                .execute(update, [text(&lower(&row.line)), text(&row.id)])?;
        }
        Ok(())
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
        self.database.execute(insert, [text(project)])
    }

    /// The project; `None` as long as no request has named it.
    pub fn project(&self) -> HostResult<Option<&str>> {
        if self.project.get().is_none() {
            let row: Option<IdRow> = self.database.first("SELECT id FROM project", [])?;
            if let Some(row) = row {
                // Nobody else has set it meanwhile.
                let _ = self.project.set(row.id);
            }
        }
        Ok(self.project.get().map(String::as_str))
    }

    /// Writes down a job that was just created, and how it is; gives what happened to the list.
    pub fn add(&self, id: &str, write: &Write, job: &JobSnapshot) -> HostResult<Option<ListEvent>> {
        let now = now();
        // Somebody who learned its id elsewhere may be watching it already.
        let insert = concat!(
            "INSERT INTO job
              (id, listed, subject, line, prompt, folded, webhook, created, status, pr_link, data,
              seq, checked, began, since, revision)
            VALUES (?, 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1, ?, ?, ?, (SELECT revision + 1 FROM project))
            ON CONFLICT (id) DO UPDATE SET listed = 1, subject = excluded.subject,
              line = excluded.line, prompt = excluded.prompt, folded = excluded.folded,
              webhook = excluded.webhook, revision = excluded.revision
            RETURNING ",
            list_event!()
        );
        let whole = self.find_whole(write);
        let kept = whole.unwrap_or(&write.prompt_summary);
        let folded = fold(kept);
        let searched = folded.clone().unwrap_or_else(|| lower(kept));
        let row = [
            text(id),
            text(&write.subject),
            text(&write.prompt_summary),
            optional_text(whole),
            optional_text(folded.as_deref()),
            optional_text(write.webhook.as_deref()),
            number(now.0),
            optional_text(job.status.as_deref()),
            optional_text(job.pr_link.as_deref()),
            text(&job.data),
            number(now.0),
            number(now.0),
            number(now.0),
        ];
        let event = self.number_change(insert, row)?;
        self.search.add(id, &searched)?;
        Ok(event)
    }

    /// The whole prompt, where it is kept and there is room for it.
    fn find_whole<'a>(&self, write: &'a Write) -> Option<&'a str> {
        let whole = write.prompt.as_deref()?;
        has_room_for_whole(self.database.size()).then_some(whole)
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
                self.keep_past(row)?;
                let is_again = row.is_finished() && !is_finished(job.status.as_deref());
                (row.seq + 1, if is_again { now } else { row.began() })
            } else {
                // A job that was created elsewhere: it can be watched, and is not listed.
                let insert = "INSERT INTO job (id, listed, created) VALUES (?, 0, ?)";
                self.database.execute(insert, [text(id), number(now.0)])?;
                (1, now)
            };
            let update = "UPDATE job SET status = ?, pr_link = ?, data = ?, seq = ?, checked = ?,
                began = ?, since = ?, not_before = 0, missing_since = NULL WHERE id = ?";
            let row = [
                optional_text(job.status.as_deref()),
                optional_text(job.pr_link.as_deref()),
                text(&job.data),
                number(seq),
                number(now.0),
                number(began.0),
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
    fn keep_past(&self, row: &JobRow) -> HostResult<()> {
        let Some(data) = &row.data else {
            return Ok(());
        };
        let (id, since) = (text(&row.id), optional_number(row.since));
        let insert = "INSERT INTO event (job, seq, data, since) VALUES (?, ?, ?, ?)";
        let values = [id.clone(), number(row.seq), text(data), since];
        self.database.execute(insert, values)?;
        let delete = "DELETE FROM event WHERE job = ?1 AND seq IN
            (SELECT seq FROM event WHERE job = ?1 AND seq <= ?2 ORDER BY seq LIMIT ?3)";
        let oldest = number(row.seq.saturating_sub(MOST_EVENTS));
        self.database
            .execute(delete, [id, oldest, number(DROPPED_AT_ONCE)])
    }

    /// Keeps a follow-up to a job that is listed.
    pub fn add_message(&self, id: &str, write: &Write) -> HostResult<()> {
        let insert = "INSERT INTO message (job, number, prompt, author, sent)
            SELECT id, (SELECT coalesce(max(number), 0) + 1 FROM message WHERE job = ?1), ?2, ?3, ?4
            FROM job WHERE id = ?1 AND listed = 1";
        let kept = self.find_whole(write).unwrap_or(&write.prompt_summary);
        let row = [text(id), text(kept), text(&write.subject), number(now().0)];
        self.database.execute(insert, row)?;
        let delete = "DELETE FROM message WHERE job = ?1 AND number IN (
            SELECT number FROM (
              SELECT number, row_number() OVER latest AS place,
                sum(octet_length(prompt)) OVER latest AS bytes
              FROM message WHERE job = ?1 WINDOW latest AS (ORDER BY number DESC)
            ) WHERE place > ?2 OR bytes > ?3)";
        let values = [text(id), number(MOST_MESSAGES), number(LARGEST_MESSAGES)];
        self.database.execute(delete, values)
    }

    /// Remembers that a job was asked for just now, and until when the upstream wants to be left
    /// alone.
    pub fn mark_checked(&self, id: &str, not_before: Millis) -> HostResult<()> {
        let update = "UPDATE job SET checked = ?, not_before = ? WHERE id = ?";
        let row = [number(now().0), number(not_before.0), text(id)];
        self.database.execute(update, row)
    }

    /// Remembers that a job was set to work just now.
    pub fn mark_begun(&self, id: &str) -> HostResult<()> {
        let update = "UPDATE job SET began = ? WHERE id = ?";
        self.database.execute(update, [number(now().0), text(id)])
    }

    /// Sets when a job is polled for its webhook; `None` when nothing waits for it.
    pub fn set_webhook_poll(&self, id: &str, at: Option<Millis>) -> HostResult<()> {
        let update = "UPDATE job SET webhook_poll = ? WHERE id = ?";
        let at = optional_number(at.map(|at| at.0));
        self.database.execute(update, [at, text(id)])
    }

    /// Remembers that the upstream knew a job just now.
    pub fn mark_found(&self, id: &str) -> HostResult<()> {
        let update = "UPDATE job SET checked = ?, not_before = 0, missing_since = NULL
            WHERE id = ?";
        self.database.execute(update, [number(now().0), text(id)])
    }

    /// Remembers since when the upstream has not known a job.
    pub fn mark_missing(&self, id: &str, since: Millis) -> HostResult<()> {
        let update = "UPDATE job SET missing_since = ? WHERE id = ?";
        self.database.execute(update, [number(since.0), text(id)])
    }

    /// A job, if it is known.
    pub fn find(&self, id: &str) -> HostResult<Option<JobRow>> {
        let query = concat!("SELECT ", job_columns!(), " FROM job WHERE id = ?");
        self.database.first(query, [text(id)])
    }

    /// The jobs with these ids, in one statement. Unknown ids are ignored.
    pub fn find_all(&self, ids: &[String]) -> HostResult<Vec<JobRow>> {
        let query = concat!(
            "SELECT ",
            job_columns!(),
            " FROM job WHERE id IN (SELECT value FROM json_each(?))"
        );
        self.database
            .rows(query, [text(&crate::json::to_text(&ids))])
    }

    /// A job, if it was created through the gateway.
    pub fn find_listed(&self, id: &str) -> HostResult<Option<JobRow>> {
        let query = concat!(
            "SELECT ",
            job_columns!(),
            " FROM job WHERE id = ? AND listed = 1"
        );
        self.database.first(query, [text(id)])
    }

    /// Lets nobody wait for a job's end any more.
    pub fn forget_webhook(&self, id: &str) -> HostResult<()> {
        let update = "UPDATE job SET webhook = NULL, webhook_poll = NULL WHERE id = ?";
        self.database.execute(update, [text(id)])
    }

    /// Jobs that are to be polled for their webhook: not more than an alarm begins.
    pub fn due(&self, now: Millis) -> HostResult<Vec<JobRow>> {
        let query = concat!(
            "SELECT ",
            job_columns!(),
            " FROM job WHERE webhook_poll <= ? ORDER BY webhook_poll LIMIT ?"
        );
        self.database.rows(query, [number(now.0), number(AT_ONCE)])
    }

    /// When the next job is polled for its webhook.
    pub fn next_due(&self) -> HostResult<Option<Millis>> {
        let query = "SELECT min(webhook_poll) AS due FROM job WHERE webhook_poll IS NOT NULL";
        self.database.first_due(query, [])
    }

    /// When the job was set to work that has been kept for longest, of those that no webhook waits
    /// for.
    pub fn oldest(&self) -> HostResult<Option<Millis>> {
        let query = "SELECT min(began) AS due FROM job WHERE webhook_poll IS NULL";
        self.database.first_due(query, [])
    }

    /// Deletes some of the jobs that were set to work at `latest` or before and that no webhook
    /// waits for.
    pub fn sweep(&self, latest: Millis) -> HostResult<Swept> {
        let query = "SELECT id FROM job WHERE webhook_poll IS NULL AND began <= ?
            ORDER BY began LIMIT ?";
        let expired: Vec<IdRow> = self
            .database
            .rows(query, [number(latest.0), number(AT_ONCE)])?;
        let jobs: Vec<_> = expired.into_iter().map(|row| row.id).collect();
        let query = "SELECT coalesce(max(revision), 0) AS revision FROM deleted WHERE at <= ?";
        let past = now().since(DELETION_LIFE);
        let events = self.database.transaction(|| {
            self.forget_deletions(query, past.0)?;
            let mut events = Vec::new();
            for id in &jobs {
                events.extend(self.delete(id)?);
            }
            Ok(events)
        })?;
        Ok(Swept { jobs, events })
    }

    /// When the oldest deletion is forgotten.
    pub fn next_deletion_expiry(&self) -> HostResult<Option<Millis>> {
        let query = "SELECT at AS due FROM deleted ORDER BY revision LIMIT 1";
        let first = self.database.first_due(query, [])?;
        Ok(first.map(|at| at.plus(DELETION_LIFE)))
    }

    /// Deletes a job with its changes and messages; gives what happened to the list.
    pub fn delete(&self, id: &str) -> HostResult<Option<ListEvent>> {
        let own = [text(id)];
        for delete in [
            "DELETE FROM event WHERE job = ?",
            "DELETE FROM message WHERE job = ?",
        ] {
            self.database.execute(delete, &own)?;
        }
        let insert = "INSERT INTO deleted (revision, id, at)
            SELECT (SELECT revision + 1 FROM project), id, ? FROM job WHERE id = ? AND listed = 1
            RETURNING revision, 'deleted' AS name, json_object('id', id) AS data";
        let event = self.number_change(insert, [number(now().0), text(id)])?;
        self.search.remove(id)?;
        self.database
            .execute("DELETE FROM job WHERE id = ?", &own)?;
        let query = "SELECT revision FROM deleted ORDER BY revision DESC LIMIT 1 OFFSET ?";
        self.forget_deletions(query, MAX_DELETIONS)?;
        Ok(event)
    }

    /// Forgets the deletions up to the one that a query returns.
    fn forget_deletions(&self, query: &'static str, value: u64) -> HostResult<()> {
        let row: Option<RevisionRow> = self.database.first(query, [number(value)])?;
        let Some(RevisionRow { revision }) = row.filter(|row| row.revision > 0) else {
            return Ok(());
        };
        let update = "UPDATE project SET forgotten = max(forgotten, ?)";
        self.database.execute(update, [number(revision)])?;
        let delete = "DELETE FROM deleted WHERE revision <= ?";
        self.database.execute(delete, [number(revision)])
    }

    /// Numbers a change of a job that is listed; gives what happened to the list.
    pub fn revise(&self, id: &str) -> HostResult<Option<ListEvent>> {
        let update = concat!(
            "UPDATE job SET revision = (SELECT revision + 1 FROM project)
              WHERE id = ? AND listed = 1 RETURNING ",
            list_event!()
        );
        self.number_change(update, [text(id)])
    }

    /// Runs a statement that gives a change of the list the next number, unless it finds none.
    fn number_change(
        &self,
        statement: &'static str,
        values: impl Into<Vec<JsValue>>,
    ) -> HostResult<Option<ListEvent>> {
        let event = self.database.first(statement, values)?;
        if event.is_some() {
            let update = "UPDATE project SET revision = revision + 1";
            self.database.execute(update, [])?;
        }
        Ok(event)
    }

    /// Returns the events of a list stream that a client has missed, in order: the changes after its
    /// position. A new client receives the latest states. So does a client whose missed changes are no
    /// longer all stored; `reset` follows for it.
    pub fn list_events(&self, after: Option<u64>) -> HostResult<Vec<ListEvent>> {
        let history = after
            .map(|after| self.history(after))
            .transpose()?
            .flatten();
        let after =
            after.filter(|after| history.is_some_and(|history| history.is_complete_after(*after)));
        let reset = history
            .filter(|_| after.is_none())
            .map(|history| ListEvent {
                revision: history.revision,
                name: "reset".to_owned(),
                data: "{}".to_owned(),
            });
        let query = concat!(
            "SELECT * FROM (
              SELECT ",
            list_event!(),
            " FROM job INDEXED BY job_revision WHERE listed = 1 AND revision > ?1
                ORDER BY revision DESC LIMIT ?2)
            UNION ALL SELECT * FROM (
              SELECT revision, 'deleted', json_object('id', id) FROM deleted WHERE revision > ?1
                ORDER BY revision DESC LIMIT ?3)
            ORDER BY revision"
        );
        let (jobs, deletions) = after.map_or((LATEST, 0), |_| (MAX_REPLAYED, MAX_REPLAYED));
        let values = [after.unwrap_or(0), jobs, deletions].map(number);
        let mut events: Vec<ListEvent> = self.database.rows(query, values)?;
        events.extend(reset);
        Ok(events)
    }

    /// Returns the stored changes after a position, in numbers. The counts stop where no more can be replayed.
    fn history(&self, after: u64) -> HostResult<Option<ListHistory>> {
        let query = "SELECT revision, forgotten,
            (SELECT count(*) FROM (SELECT 1 FROM job INDEXED BY job_revision
              WHERE listed = 1 AND revision > ?1 LIMIT ?2)) AS changes,
            (SELECT count(*) FROM (SELECT 1 FROM deleted WHERE revision > ?1 LIMIT ?2)) AS deletions
            FROM project";
        let values = [number(after), number(MAX_REPLAYED + 1)];
        let row: Option<HistoryRow> = self.database.first(query, values)?;
        Ok(row.map(|row| ListHistory {
            revision: row.revision,
            forgotten: row.forgotten,
            changes: row.changes,
            deletions: row.deletions,
        }))
    }

    /// The latest jobs that are listed, were set to work after `earliest` and have not ended.
    pub fn unfinished(&self, earliest: Millis) -> HostResult<Vec<JobRow>> {
        let query = concat!(
            "SELECT ",
            job_columns!(),
            " FROM job INDEXED BY job_unfinished WHERE ",
            unfinished!(),
            " AND began > ? ORDER BY began DESC LIMIT ?"
        );
        let values = [number(earliest.0), number(MOST_UNFINISHED)];
        self.database.rows(query, values)
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
            .rows::<EventRow>(query, [text(id), number(after)])?;
        let mut events: Vec<_> = past
            .into_iter()
            .map(|EventRow { seq, data }| JobEvent { seq, data })
            .collect();
        if after < row.seq {
            events.push(JobEvent { seq: row.seq, data });
        }
        Ok(events)
    }

    /// Returns a page of the jobs that match a filter, newest first. A search can end a page early.
    pub async fn page(
        &self,
        filter: &JobFilter,
        limit: u64,
        before: Option<Position>,
    ) -> HostResult<JobPage> {
        if let Some(wanted) = &filter.text {
            let below = before.map(|before| before.row);
            let found = self.search.find(filter, wanted, limit, below).await?;
            return Ok(JobPage {
                rows: self.read_rows(&found.rows)?,
                // Searches continue by row alone.
                next: found.next.map(|row| Position {
                    created: MAX_SAFE_INTEGER,
                    row,
                }),
            });
        }
        let (query, values) = select_page(filter, limit + 1, before);
        let mut rows: Vec<JobRow> = self.database.rows(query, values)?;
        let has_more = rows.len() as u64 > limit;
        rows.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        let last = rows.last().filter(|_| has_more);
        let next = last.map(|row| Position {
            created: row.created,
            row: row.row,
        });
        Ok(JobPage { rows, next })
    }

    fn read_rows(&self, rows: &[u64]) -> HostResult<Vec<JobRow>> {
        let query = concat!(
            "SELECT ",
            job_columns!(),
            " FROM job WHERE row IN (SELECT value FROM json_each(?)) ORDER BY row DESC"
        );
        self.database.rows(query, [text(&to_json(rows))])
    }

    /// Returns a page as JSON. Its jobs are read again, because a poll may have changed or deleted some;
    /// those that no longer match the filter are left out.
    pub fn list(&self, filter: &JobFilter, page: &JobPage) -> HostResult<String> {
        let query = concat!(
            "SELECT ",
            listed_job!(),
            " AS data FROM job WHERE row IN (SELECT value FROM json_each(?1))
              AND listed = 1 AND (?2 IS NULL OR status = ?2) ORDER BY created DESC, row DESC"
        );
        let rows: Vec<u64> = page.rows.iter().map(|row| row.row).collect();
        let values = [
            text(&to_json(&rows)),
            optional_text(filter.state.as_deref()),
        ];
        let mut jobs = String::new();
        for JsonRow { data } in self.database.rows(query, values)? {
            push_item(&mut jobs, &data);
        }
        let cursor = page.next.as_ref().map_or("null".to_owned(), |next| {
            format!("\"{}\"", encode_cursor(next))
        });
        Ok(format!("{{\"jobs\":[{jobs}],\"nextCursor\":{cursor}}}"))
    }

    /// Adds some jobs of earlier releases to the search index.
    pub fn index_backlog(&self) -> HostResult<()> {
        self.search.index_backlog()
    }

    /// Whether the search index lacks jobs of earlier releases.
    pub fn has_backlog(&self) -> HostResult<bool> {
        self.search.has_backlog()
    }

    /// What is recorded of a job that is listed, as JSON; `None` when it is not.
    pub fn read_record(&self, id: &str) -> HostResult<Option<String>> {
        let Some(JsonRow { data }) = self.database.first(RECORD, [text(id)])? else {
            return Ok(None);
        };
        let members = data.strip_suffix('}').unwrap_or(&data);
        let messages = self.join_rows(MESSAGES, id)?;
        let changes = self.join_rows(CHANGES, id)?;
        let record = [
            members,
            ",\"messages\":[",
            &messages,
            "],\"changes\":[",
            &changes,
            "]}",
        ];
        Ok(Some(record.concat()))
    }

    /// What a query tells of a job, as the members of a list in JSON.
    fn join_rows(&self, query: &'static str, id: &str) -> HostResult<String> {
        let mut list = String::new();
        for JsonRow { data } in self.database.rows(query, [text(id)])? {
            push_item(&mut list, &data);
        }
        Ok(list)
    }
}

/// Appends a member of a list in JSON.
fn push_item(list: &mut String, item: &str) {
    if !list.is_empty() {
        list.push_str(",");
    }
    list.push_str(item);
}

/// Writes row numbers as a JSON array.
fn to_json(rows: &[u64]) -> String {
    let rows: Vec<_> = rows.iter().map(u64::to_string).collect();
    format!("[{}]", rows.join(","))
}

/// Declares the query of a page, with the index that returns its jobs in order.
macro_rules! page_query {
    ($index:literal, $condition:literal) => {
        concat!(
            "SELECT ",
            job_columns!(),
            " FROM job INDEXED BY ",
            $index,
            " WHERE listed = 1 AND (created, row) < (?, ?)",
            $condition,
            " ORDER BY created DESC, row DESC LIMIT ?"
        )
    };
}

/// Returns the query of a page without a search, and its values.
fn select_page(
    filter: &JobFilter,
    limit: u64,
    before: Option<Position>,
) -> (&'static str, Vec<JsValue>) {
    let before = before.unwrap_or(Position {
        created: MAX_SAFE_INTEGER,
        row: MAX_SAFE_INTEGER,
    });
    let query = match (&filter.author, &filter.state) {
        (None, None) => page_query!("job_created", ""),
        (Some(_), None) => page_query!("job_subject", " AND subject = ?"),
        (None, Some(_)) => page_query!("job_status", " AND status = ?"),
        (Some(_), Some(_)) => {
            page_query!("job_subject_status", " AND subject = ? AND status = ?")
        }
    };
    let mut values = vec![number(before.created), number(before.row)];
    values.extend(
        [&filter.author, &filter.state]
            .into_iter()
            .flatten()
            .map(|value| text(value)),
    );
    values.push(number(limit));
    (query, values)
}
