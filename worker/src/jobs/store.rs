//! The store of a project's jobs. Separate stores contain the idempotency keys and the outbox.

macro_rules! job_columns {
    () => {
        "row, id, listed, webhook, created_at, status, data, version, checked_at, last_started_at,
          not_before, missing_since, since, given_up_start IS last_started_at AS given_up,
          webhook_poll"
    };
}

/// The argument continues the query after the table.
macro_rules! select_jobs {
    ($($rest:tt)+) => {
        concat!("SELECT ", job_columns!(), " FROM job ", $($rest)+)
    };
}

/// An SQL expression that converts a row of `job` to a [`quillgate::ListedJob`] as JSON.
macro_rules! listed_job {
    () => {
        include_str!("sql/listed_job.sql")
    };
}

/// The columns of a `StreamEvent` for list streams.
macro_rules! list_event {
    () => {
        concat!("revision AS id, 'job' AS name, ", listed_job!(), " AS data")
    };
}

mod changes;
pub mod idempotency;
mod listing;
pub mod outbox;
mod polls;
mod records;
mod search;

use std::cell::{Cell, OnceCell};
use std::rc::Rc;

use quillgate::Millis;

pub use changes::DELETION_LIFE;

use crate::runtime::{Database, HostError, HostResult, text};

/// An alarm polls and deletes at most this number of jobs.
const MAX_JOBS_PER_ALARM: u64 = 20;

pub struct JobStore {
    database: Rc<Database>,
    poll_window: Millis,
    /// Cached after the first read.
    project: OnceCell<String>,
    /// Measured at this time.
    room: Cell<(bool, Millis)>,
}

impl JobStore {
    pub fn open(database: Rc<Database>, poll_window: Millis) -> Self {
        Self {
            database,
            poll_window,
            project: OnceCell::new(),
            room: Cell::new((true, Millis(0))),
        }
    }

    /// The runtime calls alarms without the id. Returns an error if the id of another project is
    /// stored.
    pub fn remember_project(&self, project: &str) -> HostResult<()> {
        match self.project()? {
            Some(own) if own == project => return Ok(()),
            Some(_) => return Err(HostError::new("these are the records of another project")),
            None => {}
        }
        let insert = "INSERT INTO project (id) VALUES (?)";
        self.database.execute(insert, [text(project)])
    }

    /// `None` before the first write or watcher.
    pub fn project(&self) -> HostResult<Option<&str>> {
        if self.project.get().is_none()
            && let Some(id) = self.database.value("SELECT id FROM project", [])?
        {
            // `set` fails only if the cell has a value. The cell was empty above, and no other code
            // has run since.
            let _ = self.project.set(id);
        }
        Ok(self.project.get().map(String::as_str))
    }
}
