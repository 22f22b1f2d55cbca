//! The stored jobs. These methods read, write and delete jobs with their past states and
//! follow-ups.

use std::collections::HashSet;

use quillgate::Millis;

use super::search::find_folded;
use super::{JobStore, MAX_JOBS_PER_ALARM};
use crate::jobs::events::StreamEvent;
use crate::jobs::job_row::JobRow;
use crate::jobs::poll::is_finished;
use crate::jobs::records::has_room_for_whole;
use crate::jobs::write::Write;
use crate::json;
use crate::runtime::{HostResult, now, number, optional_number, optional_text, text};
use crate::upstream::job_snapshot::JobSnapshot;

/// Maximum number of unfinished jobs that the gateway polls for clients of the list stream.
const MAX_UNFINISHED: u64 = 50;
const MAX_MESSAGES: u64 = 100;
/// Maximum total size of the follow-up prompts stored for a job, in bytes. A job's record is read
/// into memory as a whole, and an isolate has 128 MB of memory.
const MAX_MESSAGE_BYTES: u64 = 4 * 1024 * 1024;
const MAX_PAST_STATES: u64 = 100;
/// Maximum number of past states deleted per change of a job. A job from an earlier release can
/// have many more than [`MAX_PAST_STATES`], because earlier releases stored all past states.
const MAX_DELETED_STATES: u64 = 10;

impl JobStore {
    /// Stores a new job and its state. Returns the event for list streams.
    pub fn add(
        &self,
        id: &str,
        write: &Write,
        job: &JobSnapshot,
    ) -> HostResult<Option<StreamEvent>> {
        // The row can already exist: a caller may have watched the job before Mintlify's response
        // to its creation arrived.
        let insert = concat!(
            include_str!("sql/insert_job.sql"),
            "RETURNING ",
            list_event!()
        );
        let whole = self.find_whole(write);
        let prompt = whole.unwrap_or(&write.prompt_summary);
        let folded = find_folded(prompt);
        let row = [
            text(id),
            text(&write.subject),
            text(&write.prompt_summary),
            optional_text(whole),
            optional_text(folded.as_deref()),
            optional_text(write.webhook.as_deref()),
            number(now().0),
            optional_text(job.status.as_deref()),
            optional_text(job.pr_link.as_deref()),
            text(&job.data),
        ];
        self.number_change(insert, row)
    }

    /// Returns the whole prompt if the settings and the size of the database allow storing it,
    /// otherwise `None`.
    fn find_whole<'a>(&self, write: &'a Write) -> Option<&'a str> {
        let whole = write.prompt.as_deref()?;
        has_room_for_whole(self.database.size()).then_some(whole)
    }

    /// Stores the state of a job, within the current transaction. `row` is the job's current row,
    /// or `None` if the job is not stored yet. Returns the new row, or `None` if the state is
    /// unchanged.
    pub fn record(
        &self,
        id: &str,
        row: Option<&JobRow>,
        job: &JobSnapshot,
    ) -> HostResult<Option<JobRow>> {
        let now = now();
        if row.is_some_and(|row| row.data == job.data) {
            self.mark_found(id)?;
            return Ok(None);
        }
        let (version, started) = if let Some(row) = row {
            self.store_past_state(row)?;
            let is_again = row.is_finished() && !is_finished(job.status.as_deref());
            let started = if is_again { now } else { row.last_started_at };
            (row.version + 1, started)
        } else {
            // The job was created elsewhere, or Mintlify's response to its creation has not arrived
            // yet. Callers can watch the job, but the list does not contain it.
            let insert = "INSERT INTO job (id, listed, created_at) VALUES (?, 0, ?)";
            self.database.execute(insert, [text(id), number(now.0)])?;
            (1, now)
        };
        let row = [
            text(id),
            optional_text(job.status.as_deref()),
            optional_text(job.pr_link.as_deref()),
            text(&job.data),
            number(version),
            number(now.0),
            number(started.0),
        ];
        let update = concat!(
            include_str!("sql/update_state.sql"),
            "RETURNING ",
            job_columns!()
        );
        self.database.first(update, row)
    }

    /// Copies the state of a row to the past states, and deletes the oldest past states above the
    /// limit.
    fn store_past_state(&self, row: &JobRow) -> HostResult<()> {
        let (id, since) = (
            text(&row.id),
            optional_number(row.since.map(|since| since.0)),
        );
        let insert = "INSERT INTO event (job, version, data, since) VALUES (?, ?, ?, ?)";
        let values = [id.clone(), number(row.version), text(&row.data), since];
        self.database.execute(insert, values)?;
        let oldest = number(row.version.saturating_sub(MAX_PAST_STATES));
        self.database.execute(
            include_str!("sql/trim_events.sql"),
            [id, oldest, number(MAX_DELETED_STATES)],
        )
    }

    /// Stores a follow-up of a listed job, and deletes the oldest follow-ups beyond
    /// [`MAX_MESSAGES`] or [`MAX_MESSAGE_BYTES`].
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

    /// Records that a job has just been polled, and the earliest time of the next poll.
    pub fn mark_checked(&self, id: &str, not_before: Millis) -> HostResult<()> {
        let update = "UPDATE job SET checked_at = ?, not_before = ? WHERE id = ?";
        let row = [number(now().0), number(not_before.0), text(id)];
        self.database.execute(update, row)
    }

    pub fn mark_started(&self, id: &str) -> HostResult<()> {
        let update = "UPDATE job SET last_started_at = ? WHERE id = ?";
        self.database.execute(update, [number(now().0), text(id)])
    }

    /// Schedules the next poll of a job that has a webhook. If `at` is `None`, cancels the poll.
    pub fn set_webhook_poll(&self, id: &str, at: Option<Millis>) -> HostResult<()> {
        let update = "UPDATE job SET webhook_poll = ? WHERE id = ?";
        let at = optional_number(at.map(|at| at.0));
        self.database.execute(update, [at, text(id)])
    }

    /// Records that polling of a job has ended. Only a restart of the job resumes polling.
    pub fn mark_given_up(&self, id: &str) -> HostResult<()> {
        let update = "UPDATE job SET given_up_start = last_started_at, webhook_poll = NULL
            WHERE id = ?";
        self.database.execute(update, [text(id)])
    }

    /// Records that the upstream has just returned a job.
    pub fn mark_found(&self, id: &str) -> HostResult<()> {
        let update = "UPDATE job SET checked_at = ?, not_before = 0, missing_since = NULL
            WHERE id = ?";
        self.database.execute(update, [number(now().0), text(id)])
    }

    pub fn mark_missing(&self, id: &str, since: Millis) -> HostResult<()> {
        let update = "UPDATE job SET missing_since = ? WHERE id = ?";
        self.database.execute(update, [number(since.0), text(id)])
    }

    pub fn forget_webhook(&self, id: &str) -> HostResult<()> {
        let update = "UPDATE job SET webhook = NULL, webhook_poll = NULL WHERE id = ?";
        self.database.execute(update, [text(id)])
    }

    /// Deletes jobs that last started at `latest` or before and are not polled for a webhook, at
    /// most [`MAX_JOBS_PER_ALARM`] per call. Then calls [`Self::forget_deletions`]. Returns the ids
    /// of the deleted jobs and the events for list streams.
    pub fn sweep(&self, latest: Millis) -> HostResult<(Vec<String>, Vec<StreamEvent>)> {
        let query = "SELECT id FROM job WHERE webhook_poll IS NULL AND last_started_at <= ?
            ORDER BY last_started_at LIMIT ?";
        let values = [number(latest.0), number(MAX_JOBS_PER_ALARM)];
        let jobs: Vec<String> = self.database.values(query, values)?;
        let events = self.database.transaction(|| {
            let mut events = Vec::new();
            for id in &jobs {
                events.extend(self.delete(id)?);
            }
            self.forget_deletions()?;
            Ok(events)
        })?;
        Ok((jobs, events))
    }

    /// Deletes a job with its past states and follow-ups. Returns the event for list streams, or
    /// `None` if the job was not listed.
    pub fn delete(&self, id: &str) -> HostResult<Option<StreamEvent>> {
        let insert = include_str!("sql/insert_deletion.sql");
        let event = self.number_change(insert, [number(now().0), text(id)])?;
        for delete in [
            "DELETE FROM event WHERE job = ?",
            "DELETE FROM message WHERE job = ?",
            "DELETE FROM job WHERE id = ?",
        ] {
            self.database.execute(delete, [text(id)])?;
        }
        Ok(event)
    }

    pub fn find(&self, id: &str) -> HostResult<Option<JobRow>> {
        let query = select_jobs!("WHERE id = ?");
        self.database.first(query, [text(id)])
    }

    /// Returns the jobs with the given ids. Ignores unknown ids.
    pub fn find_all(&self, ids: &HashSet<String>) -> HostResult<Vec<JobRow>> {
        let query = select_jobs!("WHERE id IN (SELECT value FROM json_each(?))");
        self.database.rows(query, [text(&json::to_text(&ids))])
    }

    /// Returns the jobs whose poll for a webhook is due at `now`, at most [`MAX_JOBS_PER_ALARM`].
    /// The job with the earliest due time comes first.
    pub fn due(&self, now: Millis) -> HostResult<Vec<JobRow>> {
        let query = select_jobs!("WHERE webhook_poll <= ? ORDER BY webhook_poll LIMIT ?");
        let values = [number(now.0), number(MAX_JOBS_PER_ALARM)];
        self.database.rows(query, values)
    }

    pub fn next_due(&self) -> HostResult<Option<Millis>> {
        let query = "SELECT min(webhook_poll) FROM job WHERE webhook_poll IS NOT NULL";
        self.database.first_due(query, [])
    }

    /// Returns the earliest `last_started_at` of the jobs that are not polled for a webhook, if
    /// any.
    pub fn oldest(&self) -> HostResult<Option<Millis>> {
        let query = "SELECT min(last_started_at) FROM job WHERE webhook_poll IS NULL";
        self.database.first_due(query, [])
    }

    /// Returns the listed jobs that are still running, have not been given up and last started
    /// after `earliest`. The most recently started jobs come first, at most [`MAX_UNFINISHED`].
    pub fn unfinished(&self, earliest: Millis) -> HostResult<Vec<JobRow>> {
        // Without `INDEXED BY`, SQLite chooses another index and reads every job. SQLite uses a
        // partial index only if the query repeats the index's condition.
        let query = select_jobs!(
            "INDEXED BY job_unfinished
            WHERE listed = 1 AND coalesce(status, '') NOT IN ('completed', 'failed', 'archived')
              AND last_started_at > ? AND given_up_start IS NOT last_started_at
            ORDER BY last_started_at DESC LIMIT ?"
        );
        let values = [number(earliest.0), number(MAX_UNFINISHED)];
        self.database.rows(query, values)
    }
}
