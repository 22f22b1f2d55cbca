//! Reads and writes of single jobs.

use quillgate::{JobId, Millis};
use serde::Deserialize;

use super::schema::{list_event, listed_job, select_jobs};
use super::search::{fold, lower};
use super::{IdRow, JobStore, MAX_JOBS_PER_ALARM};
use crate::jobs::events::{JobEvent, ListEvent};
use crate::jobs::ledger::has_room_for_whole;
use crate::jobs::poll::{Known, is_finished, is_given_up};
use crate::jobs::write::Write;
use crate::runtime::{HostResult, now, number, optional_number, optional_text, text};
use crate::upstream::client::JobSnapshot;

/// Maximum number of unfinished jobs that are polled for watchers of the list.
const MAX_UNFINISHED: u64 = 50;
/// Maximum number of stored follow-ups of a job.
const MAX_MESSAGES: u64 = 100;
/// Maximum number of bytes of a job's follow-ups. A record is read as a whole, in 128 MB of memory.
const MAX_MESSAGE_BYTES: u64 = 4 * 1024 * 1024;
/// Maximum number of stored past states of a job.
const MAX_PAST_STATES: u64 = 100;
/// Maximum number of past states that one change deletes. Earlier releases stored all of them.
const MAX_DELETED_STATES: u64 = 10;

/// A stored job.
#[derive(Debug, Clone, Deserialize)]
pub struct JobRow {
    pub(super) row: u64,
    /// The id.
    pub id: String,
    listed: u64,
    /// The address that is notified when the job ends.
    pub webhook: Option<String>,
    pub(super) created: u64,
    /// The status, once it is known.
    pub status: Option<String>,
    /// The latest job of the upstream, as JSON.
    pub data: Option<String>,
    pub(super) seq: u64,
    checked: u64,
    began: u64,
    not_before: u64,
    missing_since: Option<u64>,
    since: Option<u64>,
}

impl JobRow {
    /// Returns the id, or `None` if it can't be part of a path.
    pub fn job_id(&self) -> Option<JobId> {
        JobId::new(self.id.as_str()).ok()
    }

    /// Whether the gateway created the job.
    pub const fn is_listed(&self) -> bool {
        self.listed != 0
    }

    /// Returns the time of the job's creation, or of its first poll if it was created elsewhere.
    pub const fn created(&self) -> Millis {
        Millis(self.created)
    }

    /// Returns the time of the latest poll.
    pub const fn checked_at(&self) -> Millis {
        Millis(self.checked)
    }

    /// Returns the time when work started: the creation, or a follow-up after the end.
    pub const fn began(&self) -> Millis {
        Millis(self.began)
    }

    /// Returns the earliest time that the upstream allows for the next poll.
    pub const fn not_before(&self) -> Millis {
        Millis(self.not_before)
    }

    /// Returns the time of the first of consecutive 404 responses.
    pub fn missing_since(&self) -> Option<Millis> {
        self.missing_since.map(Millis)
    }

    /// Whether the job has ended.
    pub fn is_finished(&self) -> bool {
        is_finished(self.status.as_deref())
    }

    /// Whether the job is no longer polled. `limit` is the longest time that jobs are polled.
    pub fn is_settled(&self, limit: Millis, now: Millis) -> bool {
        self.is_finished() || is_given_up(self.began(), limit, now)
    }

    /// Returns the known state. `limit` is the longest time that jobs are polled.
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

/// Writes.
impl JobStore {
    /// Stores a new job and its state. Returns the change of the list.
    pub fn add(&self, id: &str, write: &Write, job: &JobSnapshot) -> HostResult<Option<ListEvent>> {
        let now = now();
        // A caller who learned the id elsewhere may already watch the job, so its row can exist.
        let insert = concat!(
            include_str!("sql/insert_job.sql"),
            "RETURNING ",
            list_event!()
        );
        let whole = self.find_whole(write);
        let prompt = whole.unwrap_or(&write.prompt_summary);
        let folded = fold(prompt);
        let searched = folded.clone().unwrap_or_else(|| lower(prompt));
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

    /// Returns the whole prompt if the settings and the size of the database allow storing it.
    fn find_whole<'a>(&self, write: &'a Write) -> Option<&'a str> {
        let whole = write.prompt.as_deref()?;
        has_room_for_whole(self.database.size()).then_some(whole)
    }

    /// Stores the state of a job. Returns the event if the state changed.
    pub fn record(&self, id: &str, job: &JobSnapshot) -> HostResult<Option<JobEvent>> {
        let now = now();
        let row = self.find(id)?;
        if row.as_ref().and_then(|row| row.data.as_ref()) == Some(&job.data) {
            self.mark_found(id)?;
            return Ok(None);
        }
        self.database.transaction(|| {
            let (seq, began) = if let Some(row) = &row {
                self.store_past_state(row)?;
                let is_again = row.is_finished() && !is_finished(job.status.as_deref());
                (row.seq + 1, if is_again { now } else { row.began() })
            } else {
                // The job was created elsewhere. Callers can watch it, but it is not listed.
                let insert = "INSERT INTO job (id, listed, created) VALUES (?, 0, ?)";
                self.database.execute(insert, [text(id), number(now.0)])?;
                (1, now)
            };
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
            self.database
                .execute(include_str!("sql/update_state.sql"), row)?;
            Ok(Some(JobEvent {
                seq,
                data: job.data.clone(),
            }))
        })
    }

    /// Copies the state of a row to the past states, and deletes the oldest ones over the limit.
    fn store_past_state(&self, row: &JobRow) -> HostResult<()> {
        let Some(data) = &row.data else {
            return Ok(());
        };
        let (id, since) = (text(&row.id), optional_number(row.since));
        let insert = "INSERT INTO event (job, seq, data, since) VALUES (?, ?, ?, ?)";
        let values = [id.clone(), number(row.seq), text(data), since];
        self.database.execute(insert, values)?;
        let oldest = number(row.seq.saturating_sub(MAX_PAST_STATES));
        self.database.execute(
            include_str!("sql/trim_events.sql"),
            [id, oldest, number(MAX_DELETED_STATES)],
        )
    }

    /// Stores a follow-up of a listed job, and deletes the oldest ones over the limits.
    pub fn add_message(&self, id: &str, write: &Write) -> HostResult<()> {
        let prompt = self.find_whole(write).unwrap_or(&write.prompt_summary);
        let row = [
            text(id),
            text(prompt),
            text(&write.subject),
            number(now().0),
        ];
        self.database
            .execute(include_str!("sql/insert_message.sql"), row)?;
        let values = [text(id), number(MAX_MESSAGES), number(MAX_MESSAGE_BYTES)];
        self.database
            .execute(include_str!("sql/trim_messages.sql"), values)
    }

    /// Stores the time of a poll, which is now, and the earliest time of the next one.
    pub fn mark_checked(&self, id: &str, not_before: Millis) -> HostResult<()> {
        let update = "UPDATE job SET checked = ?, not_before = ? WHERE id = ?";
        let row = [number(now().0), number(not_before.0), text(id)];
        self.database.execute(update, row)
    }

    /// Stores that work on a job starts now.
    pub fn mark_begun(&self, id: &str) -> HostResult<()> {
        let update = "UPDATE job SET began = ? WHERE id = ?";
        self.database.execute(update, [number(now().0), text(id)])
    }

    /// Schedules the poll of a job for its webhook. `None` cancels it.
    pub fn set_webhook_poll(&self, id: &str, at: Option<Millis>) -> HostResult<()> {
        let update = "UPDATE job SET webhook_poll = ? WHERE id = ?";
        let at = optional_number(at.map(|at| at.0));
        self.database.execute(update, [at, text(id)])
    }

    /// Stores that the upstream returned a job now.
    pub fn mark_found(&self, id: &str) -> HostResult<()> {
        let update = "UPDATE job SET checked = ?, not_before = 0, missing_since = NULL
            WHERE id = ?";
        self.database.execute(update, [number(now().0), text(id)])
    }

    /// Stores the time of the first of consecutive 404 responses.
    pub fn mark_missing(&self, id: &str, since: Millis) -> HostResult<()> {
        let update = "UPDATE job SET missing_since = ? WHERE id = ?";
        self.database.execute(update, [number(since.0), text(id)])
    }

    /// Removes the webhook of a job.
    pub fn forget_webhook(&self, id: &str) -> HostResult<()> {
        let update = "UPDATE job SET webhook = NULL, webhook_poll = NULL WHERE id = ?";
        self.database.execute(update, [text(id)])
    }

    /// Deletes some of the jobs without a waiting webhook whose work started at `latest` or before.
    /// Also deletes the expired deletions.
    pub fn sweep(&self, latest: Millis) -> HostResult<Swept> {
        let query = "SELECT id FROM job WHERE webhook_poll IS NULL AND began <= ?
            ORDER BY began LIMIT ?";
        let expired: Vec<IdRow> = self
            .database
            .rows(query, [number(latest.0), number(MAX_JOBS_PER_ALARM)])?;
        let jobs: Vec<_> = expired.into_iter().map(|row| row.id).collect();
        let events = self.database.transaction(|| {
            self.forget_expired_deletions()?;
            let mut events = Vec::new();
            for id in &jobs {
                events.extend(self.delete(id)?);
            }
            Ok(events)
        })?;
        Ok(Swept { jobs, events })
    }

    /// Deletes a job with its past states and follow-ups. Returns the change of the list.
    pub fn delete(&self, id: &str) -> HostResult<Option<ListEvent>> {
        let job = [text(id)];
        for delete in [
            "DELETE FROM event WHERE job = ?",
            "DELETE FROM message WHERE job = ?",
        ] {
            self.database.execute(delete, &job)?;
        }
        let event = self.number_change(
            include_str!("sql/insert_deletion.sql"),
            [number(now().0), text(id)],
        )?;
        self.search.remove(id)?;
        self.database
            .execute("DELETE FROM job WHERE id = ?", &job)?;
        self.forget_excess_deletions()?;
        Ok(event)
    }
}

/// Reads.
impl JobStore {
    /// Finds a job.
    pub fn find(&self, id: &str) -> HostResult<Option<JobRow>> {
        let query = select_jobs!("WHERE id = ?");
        self.database.first(query, [text(id)])
    }

    /// Finds the jobs with these ids, in one statement. Ignores unknown ids.
    pub fn find_all(&self, ids: &[String]) -> HostResult<Vec<JobRow>> {
        let query = select_jobs!("WHERE id IN (SELECT value FROM json_each(?))");
        self.database
            .rows(query, [text(&crate::json::to_text(&ids))])
    }

    /// Finds a job that the gateway created.
    pub fn find_listed(&self, id: &str) -> HostResult<Option<JobRow>> {
        let query = select_jobs!("WHERE id = ? AND listed = 1");
        self.database.first(query, [text(id)])
    }

    /// Returns the jobs that the alarm polls for their webhooks.
    pub fn due(&self, now: Millis) -> HostResult<Vec<JobRow>> {
        let query = select_jobs!("WHERE webhook_poll <= ? ORDER BY webhook_poll LIMIT ?");
        let values = [number(now.0), number(MAX_JOBS_PER_ALARM)];
        self.database.rows(query, values)
    }

    /// Returns the time of the next poll for a webhook.
    pub fn next_due(&self) -> HostResult<Option<Millis>> {
        let query = "SELECT min(webhook_poll) AS due FROM job WHERE webhook_poll IS NOT NULL";
        self.database.first_due(query, [])
    }

    /// Returns the earliest start of work among the jobs without a waiting webhook.
    pub fn oldest(&self) -> HostResult<Option<Millis>> {
        let query = "SELECT min(began) AS due FROM job WHERE webhook_poll IS NULL";
        self.database.first_due(query, [])
    }

    /// Returns the latest listed jobs that have not ended and whose work started after `earliest`.
    pub fn unfinished(&self, earliest: Millis) -> HostResult<Vec<JobRow>> {
        // Without `INDEXED BY`, SQLite uses the index by age and reads every job. The condition
        // repeats that of the index.
        let query = select_jobs!(
            "INDEXED BY job_unfinished
            WHERE listed = 1 AND coalesce(status, '') NOT IN ('completed', 'failed', 'archived')
              AND began > ? ORDER BY began DESC LIMIT ?"
        );
        let values = [number(earliest.0), number(MAX_UNFINISHED)];
        self.database.rows(query, values)
    }
}
