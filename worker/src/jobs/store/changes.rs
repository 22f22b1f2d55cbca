//! Changes of the list and of single jobs, for event streams.

use quillgate::Millis;
use serde::Deserialize;
use wasm_bindgen::JsValue;

use super::JobStore;
use super::schema::{list_event, listed_job};
use crate::jobs::events::{JobEvent, ListEvent, ListHistory, MAX_REPLAYED};
use crate::runtime::{HostResult, now, number, text};

/// How long deletions are stored, so that streams of the list can resume.
const DELETION_LIFE: Millis = Millis::from_seconds(86_400);
/// Maximum number of stored deletions.
const MAX_DELETIONS: u64 = 1_000;
/// Number of jobs that a new list stream starts with. Fewer jobs change between a list and its stream.
const INITIAL_JOBS: u64 = 25;

#[derive(Deserialize)]
struct EventRow {
    seq: u64,
    data: String,
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

/// Changes.
impl JobStore {
    /// Numbers a change of a listed job. Returns the change of the list.
    pub fn revise(&self, id: &str) -> HostResult<Option<ListEvent>> {
        let update = concat!(
            "UPDATE job SET revision = (SELECT revision + 1 FROM project)
              WHERE id = ? AND listed = 1 RETURNING ",
            list_event!()
        );
        self.number_change(update, [text(id)])
    }

    /// Runs a statement that assigns the next revision to a change of the list. If it returns a row,
    /// the revision of the project increases.
    pub(super) fn number_change(
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
    /// position. A new client receives the latest states. So does a client whose missed changes are
    /// no longer all stored; `reset` follows for it.
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
        let (jobs, deletions) = after.map_or((INITIAL_JOBS, 0), |_| (MAX_REPLAYED, MAX_REPLAYED));
        let values = [after.unwrap_or(0), jobs, deletions].map(number);
        let mut events: Vec<ListEvent> = self.database.rows(query, values)?;
        events.extend(reset);
        Ok(events)
    }

    /// Returns the numbers of changes after a position. They stop where no more can be replayed.
    fn history(&self, after: u64) -> HostResult<Option<ListHistory>> {
        let query = include_str!("sql/count_missed_changes.sql");
        let values = [number(after), number(MAX_REPLAYED + 1)];
        let row: Option<HistoryRow> = self.database.first(query, values)?;
        Ok(row.map(|row| ListHistory {
            revision: row.revision,
            forgotten: row.forgotten,
            changes: row.changes,
            deletions: row.deletions,
        }))
    }

    /// Returns the changes of a job after a number. Without a number, or if the job never had that
    /// change, returns only the last one.
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
}

/// Deletions.
impl JobStore {
    /// Returns the time when the oldest deletion expires.
    pub fn next_deletion_expiry(&self) -> HostResult<Option<Millis>> {
        let query = "SELECT at AS due FROM deleted ORDER BY revision LIMIT 1";
        let first = self.database.first_due(query, [])?;
        Ok(first.map(|at| at.plus(DELETION_LIFE)))
    }

    /// Removes the deletions older than [`DELETION_LIFE`].
    pub(super) fn forget_expired_deletions(&self) -> HostResult<()> {
        let query = "SELECT coalesce(max(revision), 0) AS revision FROM deleted WHERE at <= ?";
        self.forget_deletions(query, now().since(DELETION_LIFE).0)
    }

    /// Removes the oldest deletions over [`MAX_DELETIONS`].
    pub(super) fn forget_excess_deletions(&self) -> HostResult<()> {
        let query = "SELECT revision FROM deleted ORDER BY revision DESC LIMIT 1 OFFSET ?";
        self.forget_deletions(query, MAX_DELETIONS)
    }

    /// Removes the deletions up to the revision that a query returns.
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
}
