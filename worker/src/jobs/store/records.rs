//! The stored jobs. These methods read, write and delete jobs with their past states and
//! follow-ups.

use std::collections::HashSet;

use quillgate::Millis;

use super::search::find_folded;
use super::{JobStore, MAX_JOBS_PER_ALARM};
use crate::jobs::events::StreamEvent;
use crate::jobs::job_row::JobRow;
use crate::jobs::machine::Record;
use crate::jobs::records::has_room_for_whole;
use crate::jobs::webhook::JobEnd;
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

    /// Stores a job after an event, within the current transaction. `row` is the job's current row,
    /// or `None` if the job is not stored yet: it was created elsewhere, or Mintlify's response to
    /// its creation has not arrived yet. Callers can watch this job, but the list does not
    /// contain it. `snapshot` is the response with a new state, and `due` is when the job is due
    /// for its webhook.
    pub fn save(
        &self,
        id: &str,
        row: Option<&JobRow>,
        record: &Record<JobEnd>,
        snapshot: Option<&JobSnapshot>,
        due: Option<Millis>,
    ) -> HostResult<()> {
        let is_checked_only = row.is_some_and(|row| {
            row.record()
                == Record {
                    checked_at: row.checked_at,
                    not_before: row.not_before,
                    missing_since: row.missing_since,
                    ..record.clone()
                }
        });
        if is_checked_only {
            return self.save_check(id, row, record, due);
        }
        if let Some(row) = row {
            if row.version != record.version {
                self.store_past_state(row)?;
            }
        } else {
            let insert = "INSERT INTO job (id, listed, created_at) VALUES (?, 0, ?)";
            let values = [text(id), number(record.created_at.0)];
            self.database.execute(insert, values)?;
        }
        let is_changed = row.is_none_or(|row| row.version != record.version);
        let snapshot = snapshot.filter(|_| is_changed);
        let values = [
            text(id),
            optional_text(snapshot.map(|snapshot| snapshot.data.as_str())),
            optional_text(snapshot.and_then(|snapshot| snapshot.status.as_deref())),
            optional_text(snapshot.and_then(|snapshot| snapshot.pr_link.as_deref())),
            number(record.version),
            number(record.checked_at.0),
            number(record.started_at.0),
            optional_number(record.changed_at.map(|at| at.0)),
            number(record.not_before.0),
            optional_number(record.missing_since.map(|at| at.0)),
            number(record.has_webhook.into()),
            optional_number(due.map(|at| at.0)),
            number(record.is_given_up.into()),
        ];
        self.database
            .execute(include_str!("sql/update_job.sql"), values)
    }

    /// Stores the times of the latest poll, and when the job is due. Writes nothing if they are
    /// unchanged.
    fn save_check(
        &self,
        id: &str,
        row: Option<&JobRow>,
        record: &Record<JobEnd>,
        due: Option<Millis>,
    ) -> HostResult<()> {
        if row.is_some_and(|row| row.record() != *record) {
            let update = "UPDATE job SET checked_at = ?, not_before = ?, missing_since = ?
                WHERE id = ?";
            let missing = optional_number(record.missing_since.map(|at| at.0));
            let times = [number(record.checked_at.0), number(record.not_before.0)];
            let [checked, not_before] = times;
            self.database
                .execute(update, [checked, not_before, missing, text(id)])?;
        }
        if row.is_some_and(|row| row.webhook_poll != due) {
            let update = "UPDATE job SET webhook_poll = ? WHERE id = ?";
            let due = optional_number(due.map(|at| at.0));
            self.database.execute(update, [due, text(id)])?;
        }
        Ok(())
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
