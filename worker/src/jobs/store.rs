//! The store of a project's jobs. Separate stores contain the idempotency keys and the outbox.

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
use serde::Deserialize;

pub use changes::DELETION_LIFE;

use crate::jobs::resource::Resource;
use crate::runtime::{Database, HostError, HostResult};

pub struct JobStore {
    database: Rc<Database>,
    poll_window: Millis,
    /// Empty before the first write or watcher.
    project: OnceCell<Project>,
    /// Measured at this time.
    room: Cell<(bool, Millis)>,
}

impl JobStore {
    pub fn open(database: Rc<Database>, poll_window: Millis) -> HostResult<Self> {
        let stored: Option<Project> = database.first("SELECT id, resource FROM project", &[])?;
        Ok(Self {
            database,
            poll_window,
            project: stored.map(OnceCell::from).unwrap_or_default(),
            room: Cell::new((true, Millis(0))),
        })
    }

    /// The runtime calls alarms without the id. Returns an error if the id of another project is
    /// stored.
    pub fn remember_project(&self, id: &str, resource: Resource) -> HostResult<()> {
        if self.project.get().is_none() {
            let insert = "INSERT INTO project (id, resource) VALUES (?, ?)";
            self.database.execute(insert, &[&id, &resource])?;
        }
        let own = self.project.get_or_init(|| Project {
            id: id.to_owned(),
            resource,
        });
        if own.id == id && own.resource == resource {
            return Ok(());
        }
        Err(HostError::new("these are the records of another project"))
    }

    pub fn project(&self) -> Option<&str> {
        self.project.get().map(|project| project.id.as_str())
    }

    /// The resource of the stored jobs. Before the first write or watcher, there are none.
    pub fn resource(&self) -> Resource {
        self.project
            .get()
            .map_or(Resource::Job, |project| project.resource)
    }
}

#[derive(Deserialize)]
struct Project {
    id: String,
    resource: Resource,
}
