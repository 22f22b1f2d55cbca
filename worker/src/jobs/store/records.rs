use std::collections::HashSet;

use quillgate::Millis;
use serde::Deserialize;
use serde_json::Value;

use super::JobStore;
use super::search::find_folded;
use crate::jobs::events::StreamEvent;
use crate::jobs::job_row::{JobRow, read_boolean};
use crate::jobs::machine::Record;
use crate::jobs::records::has_room_for_whole;
use crate::jobs::resource::Resource;
use crate::jobs::write::Write;
use crate::json;
use crate::runtime::{HostResult, SqlValue, Values, now};
use crate::upstream::snapshot::Snapshot;

const SELECT_JOBS: &str = "SELECT row, id, listed, webhook, created_at, status, data, version,
      checked_at, last_started_at, not_before, missing_since, since,
      given_up_start IS last_started_at AS given_up, webhook_poll
    FROM job";
/// An alarm polls and deletes at most this number of jobs.
const MAX_JOBS_PER_ALARM: u64 = 20;
/// For clients of the list stream.
const MAX_UNFINISHED: u64 = 50;
const MAX_MESSAGES: u64 = 100;
/// Of the follow-ups of a job, in bytes. A record is read into memory as a whole, and an isolate
/// has 128 MB.
const MAX_MESSAGE_BYTES: u64 = 4 * 1024 * 1024;
const MAX_PAST_STATES: u64 = 100;
/// Per change of a job. Earlier releases stored all past states.
const MAX_DELETED_STATES: u64 = 10;
/// The gateway cannot store the reserved fifth of the database in this time.
const ROOM_PERIOD: Millis = Millis::from_seconds(60);

#[derive(Default, Deserialize)]
pub struct NextTimes {
    /// Of the jobs that are not polled for a webhook.
    pub oldest: Option<Millis>,
    pub oldest_deletion: Option<Millis>,
    /// Except jobs whose poll is running.
    pub next_poll: Option<Millis>,
    #[serde(deserialize_with = "read_boolean")]
    pub is_polling: bool,
}

fn number_columns(record: &Record, due: Option<Millis>) -> [(&'static str, Option<u64>); 8] {
    let given_up = record.is_given_up.then_some(record.started_at);
    [
        ("version = ?", Some(record.version)),
        ("checked_at = ?", Some(record.checked_at.0)),
        ("last_started_at = ?", Some(record.started_at.0)),
        ("since = ?", record.changed_at.map(|at| at.0)),
        ("not_before = ?", Some(record.not_before.0)),
        ("missing_since = ?", record.missing_since.map(|at| at.0)),
        ("webhook_poll = ?", due.map(|at| at.0)),
        ("given_up_start = ?", given_up.map(|at| at.0)),
    ]
}

impl JobStore {
    /// The row already exists if the job has been watched. Returns the event for list streams.
    pub fn add(
        &self,
        id: &str,
        write: &Write,
        snapshot: &Snapshot,
        due: Option<Millis>,
    ) -> HostResult<Option<StreamEvent>> {
        let insert = include_str!("sql/insert_job.sql");
        let insert = format!("{insert} RETURNING {}", self.list_event());
        let whole = self.find_whole(write);
        let prompt = whole.unwrap_or(&write.prompt_summary);
        let folded = find_folded(prompt);
        self.number_change(
            &insert,
            &[
                &id,
                &write.subject,
                &write.prompt_summary,
                &whole,
                &folded,
                &write.webhook,
                &now(),
                &snapshot.status,
                &snapshot.pr_link,
                &snapshot.data,
                &due,
                &write.branch,
                &snapshot.preview_url,
            ],
        )
    }

    /// Returns `None` if the settings or the size of the database do not allow storing the whole
    /// prompt.
    fn find_whole<'a>(&self, write: &'a Write) -> Option<&'a str> {
        let whole = write.prompt.as_deref()?;
        let (mut has_room, measured_at) = self.room.get();
        if now().since(measured_at) >= ROOM_PERIOD {
            has_room = has_room_for_whole(self.database.size());
            self.room.set((has_room, now()));
        }
        has_room.then_some(whole)
    }

    /// Writes only the columns that change, because each index of a written column costs a further
    /// row. `row` is `None` for a job that is watched before Mintlify's response to its creation
    /// arrived, or that was created elsewhere. Returns the event for list streams if `is_revised`
    /// is set and the job is listed.
    pub fn save(
        &self,
        id: &str,
        row: Option<&JobRow>,
        record: &Record,
        snapshot: Option<&Snapshot>,
        due: Option<Millis>,
        is_revised: bool,
    ) -> HostResult<Option<StreamEvent>> {
        let is_changed = row.is_none_or(|row| row.version != record.version);
        match row {
            Some(row) if is_changed => self.store_past_state(row)?,
            Some(_) => {}
            None => {
                let insert = "INSERT INTO job (id, listed, created_at) VALUES (?, 0, ?)";
                self.database.execute(insert, &[&id, &record.created_at])?;
            }
        }
        let resource = self.resource();
        let numbers = number_columns(record, due);
        let stored = row.map(|row| number_columns(&row.record(resource), row.webhook_poll));
        let mut columns = Vec::new();
        let mut values: Vec<Value> = Vec::new();
        for (at, (column, value)) in numbers.into_iter().enumerate() {
            if stored.is_none_or(|stored| stored[at].1 != value) {
                columns.push(column);
                values.push(value.into());
            }
        }
        if let Some(snapshot) = snapshot.filter(|_| is_changed) {
            columns.extend(["data = ?", "pr_link = ?", "is_live = ?"]);
            values.extend([
                snapshot.data.as_str().into(),
                snapshot.pr_link.as_deref().into(),
                snapshot.is_live.map(u64::from).into(),
            ]);
            if row.is_none_or(|row| row.status != snapshot.status) {
                columns.push("status = ?");
                values.push(snapshot.status.as_deref().into());
            }
        }
        if !record.has_webhook && row.is_some_and(|row| row.webhook.is_some()) {
            columns.push("webhook = NULL");
        }
        values.push(id.into());
        let values: Vec<_> = values.iter().map(|value| value as &dyn SqlValue).collect();
        if is_revised && record.is_listed {
            columns.push("revision = (SELECT revision + 1 FROM project)");
            let columns = columns.join(", ");
            let returned = self.list_event();
            let update = format!("UPDATE job SET {columns} WHERE id = ? RETURNING {returned}");
            return self.number_change(&update, &values);
        }
        if !columns.is_empty() {
            let update = format!("UPDATE job SET {} WHERE id = ?", columns.join(", "));
            self.database.execute(&update, &values)?;
        }
        Ok(None)
    }

    /// Deletes the oldest past states above the limit.
    fn store_past_state(&self, row: &JobRow) -> HostResult<()> {
        let insert = "INSERT INTO event (job, version, data, since) VALUES (?, ?, ?, ?)";
        self.database
            .execute(insert, &[&row.id, &row.version, &row.data, &row.since])?;
        let Some(latest @ 1..) = row.version.checked_sub(MAX_PAST_STATES) else {
            return Ok(());
        };
        self.database.execute(
            include_str!("sql/trim_events.sql"),
            &[&row.id, &latest, &MAX_DELETED_STATES],
        )
    }

    pub fn add_message(&self, id: &str, write: &Write) -> HostResult<()> {
        let prompt = self.find_whole(write).unwrap_or(&write.prompt_summary);
        self.database.execute(
            include_str!("sql/insert_message.sql"),
            &[&id, &prompt, &write.subject, &now()],
        )?;
        self.database.execute(
            include_str!("sql/trim_messages.sql"),
            &[&id, &MAX_MESSAGES, &MAX_MESSAGE_BYTES],
        )
    }

    /// Deletes jobs that last started at `latest` or before and are not polled for a webhook.
    /// Returns their ids and the events for list streams.
    pub fn sweep(&self, latest: Millis) -> HostResult<Vec<(String, Option<StreamEvent>)>> {
        let query = "SELECT id FROM job WHERE webhook_poll IS NULL AND last_started_at <= ?
            ORDER BY last_started_at LIMIT ?";
        let jobs: Vec<String> = self
            .database
            .values(query, &[&latest, &MAX_JOBS_PER_ALARM])?;
        self.database.transaction(|| {
            let delete = |id: &String| Ok((id.clone(), self.delete(id)?));
            let deleted = jobs.iter().map(delete).collect::<HostResult<_>>()?;
            self.forget_deletions()?;
            Ok(deleted)
        })
    }

    /// Returns the event for list streams.
    pub fn delete(&self, id: &str) -> HostResult<Option<StreamEvent>> {
        let insert = include_str!("sql/insert_deletion.sql");
        let event = self.number_change(insert, &[&now(), &id])?;
        for delete in [
            "DELETE FROM event WHERE job = ?",
            "DELETE FROM message WHERE job = ?",
            "DELETE FROM job WHERE id = ?",
        ] {
            self.database.execute(delete, &[&id])?;
        }
        Ok(event)
    }

    /// Selects the rows that `clauses`, which follow the table, choose.
    pub(super) fn select(&self, clauses: &str, values: Values<'_>) -> HostResult<Vec<JobRow>> {
        self.database
            .rows(&format!("{SELECT_JOBS} {clauses}"), values)
    }

    pub fn find(&self, id: &str) -> HostResult<Option<JobRow>> {
        Ok(self.select("WHERE id = ?", &[&id])?.pop())
    }

    pub fn find_all(&self, ids: &HashSet<String>) -> HostResult<Vec<JobRow>> {
        let clauses = "WHERE id IN (SELECT value FROM json_each(?))";
        self.select(clauses, &[&json::to_text(&ids)])
    }

    /// The earliest due time comes first.
    pub fn due(&self, polled: &HashSet<String>, now: Millis) -> HostResult<Vec<JobRow>> {
        let clauses = "WHERE webhook_poll <= ? AND id NOT IN (SELECT value FROM json_each(?))
            ORDER BY webhook_poll LIMIT ?";
        let polled = json::to_text(polled);
        self.select(clauses, &[&now, &polled, &MAX_JOBS_PER_ALARM])
    }

    pub fn next_times(&self, polled: &HashSet<String>) -> HostResult<NextTimes> {
        let polled = json::to_text(polled);
        let times = self
            .database
            .first(include_str!("sql/next_times.sql"), &[&polled])?;
        Ok(times.unwrap_or_default())
    }

    /// The most recently started jobs come first.
    pub fn unfinished(&self, earliest: Millis) -> HostResult<Vec<JobRow>> {
        let unfinished = match self.resource() {
            Resource::Job => "",
            // The index does not know how deployments end.
            Resource::Deployment => "AND coalesce(status, '') NOT IN ('success', 'failure')",
        };
        // Without `INDEXED BY`, SQLite chooses another index and reads every job. It uses a partial
        // index only if the query repeats the index's condition.
        let clauses = format!(
            "INDEXED BY job_unfinished
            WHERE listed = 1 AND coalesce(status, '') NOT IN ('completed', 'failed', 'archived')
              {unfinished} AND last_started_at > ? AND given_up_start IS NOT last_started_at
            ORDER BY last_started_at DESC LIMIT ?"
        );
        self.select(&clauses, &[&earliest, &MAX_UNFINISHED])
    }
}
