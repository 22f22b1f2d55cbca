//! The numbered changes of the job list and of single jobs, after which an event stream resumes.

use quillgate::Millis;

use super::JobStore;
use crate::jobs::events::{ListHistory, MAX_REPLAYED, StreamEvent};
use crate::runtime::{HostResult, Values, now};

/// A list stream can resume only if the store still has all deletions that its client missed.
pub const DELETION_LIFE: Millis = Millis::from_seconds(86_400);
const MAX_DELETIONS: u64 = 1_000;
/// Usually, fewer jobs change between loading the list and opening the stream.
const INITIAL_JOBS: u64 = 25;

impl JobStore {
    /// If the statement returns a row, increments the project's revision.
    pub(super) fn number_change(
        &self,
        statement: &str,
        values: Values<'_>,
    ) -> HostResult<Option<StreamEvent>> {
        let event = self.database.first(statement, values)?;
        if event.is_some() {
            let update = "UPDATE project SET revision = revision + 1";
            self.database.execute(update, &[])?;
        }
        Ok(event)
    }

    /// A new client receives the latest states of at most [`INITIAL_JOBS`] jobs. If the store
    /// cannot replay all changes after the position, the client receives these states and then
    /// `reset`.
    pub fn list_events(&self, after: Option<u64>) -> HostResult<Vec<StreamEvent>> {
        let query = include_str!("sql/count_missed_changes.sql");
        let history: Option<ListHistory> = match after {
            Some(after) => self.database.first(query, &[&after, &(MAX_REPLAYED + 1)])?,
            None => None,
        };
        let after =
            after.filter(|after| history.is_some_and(|history| history.can_replay_after(*after)));
        let reset = history
            .filter(|_| after.is_none())
            .map(|history| StreamEvent {
                id: history.revision,
                name: "reset".to_owned(),
                data: "{}".to_owned(),
            });
        let list_event = self.list_event();
        let query = format!(
            "SELECT * FROM (
              SELECT {list_event} FROM job INDEXED BY job_revision
                WHERE listed = 1 AND revision > ?1
                ORDER BY revision DESC LIMIT ?2)
            UNION ALL SELECT * FROM (
              SELECT revision, 'deleted', json_object('id', id) FROM deleted WHERE revision > ?1
                ORDER BY revision DESC LIMIT ?3)
            ORDER BY id"
        );
        let (jobs, deletions) = after.map_or((INITIAL_JOBS, 0), |_| (MAX_REPLAYED, MAX_REPLAYED));
        let mut events: Vec<StreamEvent> = self
            .database
            .rows(&query, &[&after.unwrap_or(0), &jobs, &deletions])?;
        events.extend(reset);
        Ok(events)
    }

    /// The states after the version `after`, oldest first. Only the current state if `after` is
    /// `None` or higher than the current version.
    pub fn events(&self, id: &str, after: Option<u64>) -> HostResult<Vec<StreamEvent>> {
        let query = "WITH own AS (SELECT version, data FROM job WHERE id = ?1)
            SELECT version AS id, ?3 AS name, data FROM (
              SELECT version, data FROM event WHERE job = ?1 UNION ALL SELECT version, data FROM own
            ) WHERE version > (SELECT iif(?2 <= version, ?2, version - 1) FROM own)
            ORDER BY version";
        self.database.rows(query, &[&id, &after, &self.resource()])
    }

    /// Records the number of the latest removed deletion.
    pub fn forget_deletions(&self) -> HostResult<()> {
        let delete = "DELETE FROM deleted WHERE at <= ? OR revision <=
              (SELECT revision FROM deleted ORDER BY revision DESC LIMIT 1 OFFSET ?)
            RETURNING revision";
        let forgotten: Vec<u64> = self
            .database
            .values(delete, &[&now().since(DELETION_LIFE), &MAX_DELETIONS])?;
        let Some(latest) = forgotten.into_iter().max() else {
            return Ok(());
        };
        let update = "UPDATE project SET forgotten = max(forgotten, ?)";
        self.database.execute(update, &[&latest])
    }
}
