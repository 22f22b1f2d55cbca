//! The stored jobs of a project: records, past states, follow-ups and changes of the list.

mod changes;
pub mod idempotency;
mod listing;
pub mod outbox;
pub mod polls;
mod records;
mod schema;
pub mod search;

use std::cell::OnceCell;
use std::rc::Rc;

use serde::Deserialize;

use crate::runtime::{Database, HostError, HostResult, text};
use search::{JobSearch, lower};

pub use records::JobRow;
pub use schema::{FORGOTTEN_DELETIONS, JOB_RECORDS, JOB_TABLES, JOB_UPKEEP, MISSING_JOBS};

/// Maximum number of jobs that one alarm polls or deletes.
const MAX_JOBS_PER_ALARM: u64 = 20;

#[derive(Deserialize)]
struct IdRow {
    id: String,
}

#[derive(Deserialize)]
struct JsonRow {
    data: String,
}

#[derive(Deserialize)]
struct SummaryRow {
    id: String,
    line: String,
}

/// Stores the jobs of a project.
pub struct JobStore {
    database: Rc<Database>,
    search: JobSearch,
    /// The project's id, once it has been read. It never changes.
    project: OnceCell<String>,
}

impl JobStore {
    /// Opens the store.
    pub fn open(database: Rc<Database>) -> Self {
        Self {
            search: JobSearch::open(Rc::clone(&database)),
            database,
            project: OnceCell::new(),
        }
    }

    /// Stores the prompts of earlier releases in lower case, too: see [`JOB_RECORDS`].
    pub fn fold_lines(&self) -> HostResult<()> {
        let query = "SELECT id, line FROM job WHERE line GLOB '*[^ -~]*'";
        let update = "UPDATE job SET folded = ? WHERE id = ?";
        for row in self.database.rows::<SummaryRow>(query, [])? {
            self.database
                .execute(update, [text(&lower(&row.line)), text(&row.id)])?;
        }
        Ok(())
    }

    /// Stores the project's id, because an alarm does not carry it.
    ///
    /// # Errors
    /// Fails if the id of another project is stored.
    pub fn remember_project(&self, project: &str) -> HostResult<()> {
        match self.project()? {
            Some(own) if own == project => return Ok(()),
            Some(_) => return Err(HostError::new("these are the records of another project")),
            None => {}
        }
        let insert = "INSERT INTO project (id) VALUES (?)";
        self.database.execute(insert, [text(project)])
    }

    /// Returns the project's id. Before the first request, returns `None`.
    pub fn project(&self) -> HostResult<Option<&str>> {
        if self.project.get().is_none() {
            let row: Option<IdRow> = self.database.first("SELECT id FROM project", [])?;
            if let Some(row) = row {
                // The cell is empty: no code runs between the check and this line.
                let _ = self.project.set(row.id);
            }
        }
        Ok(self.project.get().map(String::as_str))
    }

    /// Adds some jobs of earlier releases to the search index.
    pub fn index_backlog(&self) -> HostResult<()> {
        self.search.index_backlog()
    }

    /// Whether the search index lacks jobs of earlier releases.
    pub fn has_backlog(&self) -> HostResult<bool> {
        self.search.has_backlog()
    }
}
