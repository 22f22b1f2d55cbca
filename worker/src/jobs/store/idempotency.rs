use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::rc::Rc;

use quillgate::Millis;

use crate::http::response::GatewayResponse;
use crate::jobs::idempotency::{KeyDecision, KeyRecord, KeyState, LIFE, decide};
use crate::jobs::write::Write;
use crate::runtime::{Database, HostError, HostResult, now};
use crate::upstream::failure::KeyOutcome;

/// Each deletion of expired keys reads all keys.
const SWEEP_PERIOD: Millis = Millis::from_seconds(3_600);

type Keys = Rc<RefCell<HashSet<(String, String)>>>;

/// Requests without a key have an empty reservation.
#[derive(Default)]
pub struct KeyReservation<'a> {
    key: Option<(&'a str, &'a str)>,
    /// The record that a forced retry replaces.
    earlier: Option<KeyRecord>,
    running: Keys,
}

impl Drop for KeyReservation<'_> {
    fn drop(&mut self) {
        if let Some((caller, key)) = self.key {
            let owner = (caller.to_owned(), key.to_owned());
            self.running.borrow_mut().remove(&owner);
        }
    }
}

pub struct IdempotencyStore {
    database: Rc<Database>,
    /// The callers and keys of the requests that this instance is sending.
    running: Keys,
    swept_at: Cell<Millis>,
}

impl IdempotencyStore {
    pub fn open(database: Rc<Database>) -> Self {
        Self {
            database,
            running: Rc::default(),
            swept_at: Cell::new(Millis(0)),
        }
    }

    /// If the stored record prevents the write, the inner `Err` is the response.
    pub fn reserve<'a>(
        &self,
        request_id: &str,
        write: &'a Write,
    ) -> HostResult<Result<KeyReservation<'a>, GatewayResponse>> {
        let Some(key) = &write.key else {
            return Ok(Ok(KeyReservation::default()));
        };
        let now = now();
        let expired = now.since(LIFE);
        if now.since(self.swept_at.get()) >= SWEEP_PERIOD {
            let delete = "DELETE FROM idempotency WHERE at <= ?";
            self.database.execute(delete, &[&expired])?;
            self.swept_at.set(now);
        }
        let query = "SELECT fingerprint, state, at, status, headers, body
            FROM idempotency WHERE caller = ? AND key = ? AND at > ?";
        let caller = &write.budget.caller;
        let mut record: Option<KeyRecord> =
            self.database.first(query, &[&caller, &key, &expired])?;
        let owner = (caller.clone(), key.clone());
        if let Some(record) = &mut record
            && record.state == KeyState::Running
            && !self.running.borrow().contains(&owner)
        {
            // An earlier instance ended while this request was running.
            record.state = KeyState::Unknown;
        }
        match decide(record.as_ref(), &write.fingerprint, write.retry, now) {
            KeyDecision::Send => {}
            KeyDecision::Refuse(problem) => {
                return Ok(Err(GatewayResponse::problem(&problem, request_id)));
            }
            KeyDecision::Replay => {
                let response = record.and_then(|record| record.response());
                let unreadable = || HostError::new("the stored response to a key is unreadable");
                return Ok(Err(response.ok_or_else(unreadable)?));
            }
        }
        // A forced retry keeps the earlier response until its own outcome is known, because
        // `conclude` restores the earlier record for `KeyOutcome::Release`. An expired response is
        // not kept.
        let store = if record.is_some() {
            "UPDATE idempotency SET state = 'running', fingerprint = ?3, at = ?4
            WHERE caller = ?1 AND key = ?2"
        } else {
            "INSERT OR REPLACE INTO idempotency (caller, key, fingerprint, state, at)
            VALUES (?1, ?2, ?3, 'running', ?4)"
        };
        self.database
            .execute(store, &[&caller, &key, &write.fingerprint, &now])?;
        self.running.borrow_mut().insert(owner);
        Ok(Ok(KeyReservation {
            key: Some((caller, key)),
            earlier: record,
            running: Rc::clone(&self.running),
        }))
    }

    pub fn conclude(
        &self,
        reservation: &KeyReservation<'_>,
        outcome: KeyOutcome,
        response: &GatewayResponse,
    ) -> HostResult<()> {
        let Some((caller, key)) = reservation.key else {
            return Ok(());
        };
        let database = &self.database;
        let GatewayResponse { status, body, .. } = response;
        match (outcome, &reservation.earlier) {
            (KeyOutcome::Store, _) => {
                let update = "UPDATE idempotency
                    SET state = 'done', status = ?, headers = ?, body = ?
                    WHERE caller = ? AND key = ?";
                let headers = response.headers.to_json();
                database.execute(update, &[status, &headers, body, &caller, &key])
            }
            (KeyOutcome::Unknown, _) => {
                let update =
                    "UPDATE idempotency SET state = 'unknown' WHERE caller = ? AND key = ?";
                database.execute(update, &[&caller, &key])
            }
            (KeyOutcome::Release, Some(KeyRecord { state, at, .. })) => {
                let update =
                    "UPDATE idempotency SET state = ?, at = ? WHERE caller = ? AND key = ?";
                database.execute(update, &[state, at, &caller, &key])
            }
            (KeyOutcome::Release, None) => {
                let delete = "DELETE FROM idempotency WHERE caller = ? AND key = ?";
                database.execute(delete, &[&caller, &key])
            }
        }
    }

    /// The keys remain stored, so that a retry does not create a second job.
    pub fn forget_job(&self, id: &str) -> HostResult<()> {
        let update = "UPDATE idempotency
            SET state = 'deleted', status = NULL, headers = NULL, body = NULL
            WHERE CASE WHEN json_valid(body) THEN ? IN (json_extract(body, '$.id'), json_extract(body, '$.statusId')) END";
        self.database.execute(update, &[&id])
    }
}
