//! The idempotency keys of a project, with the outcome of each request.

use std::cell::Cell;
use std::rc::Rc;

use quillgate::Millis;
use serde::Deserialize;

use crate::http::response::{GatewayResponse, HeaderFields};
use crate::jobs::idempotency::{LIFE, Record, Retry, State};
use crate::jobs::write::Write;
use crate::runtime::{Database, HostResult, now, number, optional_number, optional_text, text};
use crate::upstream::settlement::Settlement;

/// The idempotency keys.
pub const IDEMPOTENCY_TABLES: &str = include_str!("migrations/0002_idempotency.sql");

/// Time between two deletions of expired keys.
const SWEEP_PERIOD: Millis = Millis::from_seconds(60);

/// A stored key.
#[derive(Debug, Clone, Deserialize)]
pub struct KeyRow {
    caller: String,
    key: String,
    fingerprint: String,
    state: String,
    at: u64,
    status: Option<u16>,
    headers: Option<String>,
    body: Option<String>,
}

impl KeyRow {
    /// Returns the input of [`crate::jobs::idempotency::decide`].
    pub fn record(&self) -> Record {
        Record {
            fingerprint: self.fingerprint.clone(),
            state: State::from_name(&self.state),
            at: self.at,
            status: self.status,
        }
    }

    /// Returns the stored response. Returns `None` if the row has no response.
    pub fn response(&self) -> Option<GatewayResponse> {
        let headers = HeaderFields::from_json(self.headers.as_deref()?)?;
        Some(GatewayResponse {
            headers: headers.with("idempotent-replayed", "true"),
            body: self.body.clone(),
            ..GatewayResponse::empty(self.status?)
        })
    }
}

/// A running request, with the earlier row of its key.
#[derive(Debug, Clone)]
pub struct Begun {
    /// Caller and key. `None` for a request without a key.
    key: Option<(String, String)>,
    earlier: Option<KeyRow>,
}

/// Stores the keys of a project.
pub struct IdempotencyStore {
    database: Rc<Database>,
    next_sweep: Cell<Millis>,
}

impl IdempotencyStore {
    /// Opens the store.
    pub fn open(database: Rc<Database>) -> HostResult<Self> {
        // The outcome of requests that an earlier instance was running is lost.
        let update = "UPDATE idempotency SET state = 'unknown' WHERE state = 'running'";
        database.execute(update, [])?;
        Ok(Self {
            database,
            next_sweep: Cell::new(Millis(0)),
        })
    }

    /// Finds a key.
    pub fn find(&self, caller: &str, key: &str) -> HostResult<Option<KeyRow>> {
        self.sweep(now())?;
        let query = "SELECT caller, key, fingerprint, state, at, status, headers, body
            FROM idempotency WHERE caller = ? AND key = ?";
        self.database.first(query, [text(caller), text(key)])
    }

    /// Deletes expired keys, at most once per [`SWEEP_PERIOD`].
    fn sweep(&self, now: Millis) -> HostResult<()> {
        if now < self.next_sweep.get() {
            return Ok(());
        }
        self.next_sweep.set(now.plus(SWEEP_PERIOD));
        let delete = "DELETE FROM idempotency WHERE at <= ?";
        self.database.execute(delete, [number(now.since(LIFE).0)])
    }

    /// Stores that a request is running. Returns `None` if its key is already stored.
    pub fn begin_first(&self, write: &Write) -> HostResult<Option<Begun>> {
        let insert = "INSERT INTO idempotency (caller, key, fingerprint, state, at)
            VALUES (?, ?, ?, 'running', ?) ON CONFLICT DO NOTHING";
        self.insert_running(insert, write, None)
    }

    /// Stores that a request is running, and replaces the row of its key.
    pub fn begin_again(&self, write: &Write) -> HostResult<Option<Begun>> {
        // Only a forced request can have an earlier row.
        let earlier = match (&write.key, write.retry) {
            (Some(key), Retry::Force) => self.find(&write.caller, key)?,
            _ => None,
        };
        let insert = "INSERT OR REPLACE INTO idempotency (caller, key, fingerprint, state, at)
            VALUES (?, ?, ?, 'running', ?)";
        self.insert_running(insert, write, earlier)
    }

    /// Inserts the row of a running request. Returns `None` if the statement inserts no row.
    fn insert_running(
        &self,
        insert: &'static str,
        write: &Write,
        earlier: Option<KeyRow>,
    ) -> HostResult<Option<Begun>> {
        let begun = Begun {
            key: write.key.clone().map(|key| (write.caller.clone(), key)),
            earlier,
        };
        let Some((caller, key)) = &begun.key else {
            return Ok(Some(begun));
        };
        let now = now();
        self.sweep(now)?;
        let row = [
            text(caller),
            text(key),
            text(&write.fingerprint),
            number(now.0),
        ];
        Ok(self.database.insert(insert, row)?.then_some(begun))
    }

    /// Stores the outcome of a request under its key.
    pub fn end(
        &self,
        begun: &Begun,
        settlement: Settlement,
        response: &GatewayResponse,
    ) -> HostResult<()> {
        let Some((caller, key)) = &begun.key else {
            return Ok(());
        };
        let at_key = [text(caller), text(key)];
        match settlement {
            Settlement::Forget => self.forget(begun),
            Settlement::Unknown => {
                let update =
                    "UPDATE idempotency SET state = 'unknown' WHERE caller = ? AND key = ?";
                self.database.execute(update, at_key)
            }
            Settlement::Store => {
                let update = "UPDATE idempotency
                    SET state = 'done', status = ?, headers = ?, body = ?
                    WHERE caller = ? AND key = ?";
                let [caller, key] = at_key;
                let row = [
                    number(response.status.into()),
                    text(&response.headers.to_json()),
                    optional_text(response.body.as_deref()),
                    caller,
                    key,
                ];
                self.database.execute(update, row)
            }
        }
    }

    /// Removes a request without effect. An earlier row of its key is restored.
    pub fn forget(&self, begun: &Begun) -> HostResult<()> {
        match (&begun.key, &begun.earlier) {
            (_, Some(earlier)) => self.restore(earlier),
            (Some((caller, key)), None) => {
                let delete = "DELETE FROM idempotency WHERE caller = ? AND key = ?";
                self.database.execute(delete, [text(caller), text(key)])
            }
            (None, None) => Ok(()),
        }
    }

    /// Removes the stored responses that contain a job. Their keys stay in use, so a repeated request
    /// creates no second job.
    pub fn forget_job(&self, id: &str) -> HostResult<()> {
        let update = "UPDATE idempotency
            SET state = 'deleted', status = NULL, headers = NULL, body = NULL
            WHERE CASE WHEN json_valid(body) THEN json_extract(body, '$.id') END = ?";
        self.database.execute(update, [text(id)])
    }

    fn restore(&self, row: &KeyRow) -> HostResult<()> {
        let insert = "INSERT OR REPLACE INTO idempotency
            (caller, key, fingerprint, state, at, status, headers, body)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)";
        let row = [
            text(&row.caller),
            text(&row.key),
            text(&row.fingerprint),
            text(&row.state),
            number(row.at),
            optional_number(row.status.map(u64::from)),
            optional_text(row.headers.as_deref()),
            optional_text(row.body.as_deref()),
        ];
        self.database.execute(insert, row)
    }
}
