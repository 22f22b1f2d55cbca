//! The budgets of a Durable Object, stored in `SQLite`: a sliding log with one reservation per
//! upstream request.
//!
//! This object alone writes the log. [`crate::budget`] decides which reservations to grant. No other
//! code runs between that decision and the insertion of a row.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use quillgate::{Millis, RateLimitPolicy};
use serde::Deserialize;
use serde_json::Value;

use crate::budget;
use crate::budget::health::BudgetHealth;
use crate::budget::limits::Limits;
use crate::budget::reservation::{BudgetRequest, Reservation, ReservationOutcome};
use crate::budget::upstream_block::UpstreamBlock;
use crate::budget::{BudgetSnapshot, Ceiling, LimitUsage, Refused};
use crate::json;
use crate::runtime::{Database, HostResult, now, number, optional_text, text};

/// The budget tables: the first migration of the project's and the organization's objects.
pub const BUDGET_TABLES: &str = include_str!("migrations/0001_budget.sql");

/// A migration of both objects: a reservation's ceilings, as a JSON list of names or an empty
/// string.
pub const CEILING_COLUMN: &str = include_str!("migrations/0005_ceiling_column.sql");
/// A migration of both objects: the time of the next probe of a blocked policy.
pub const PROBE_TABLES: &str = include_str!("migrations/0006_probe_tables.sql");
/// A migration of both objects: drops a table that only earlier releases used.
pub const DROP_CLAIMS: &str = include_str!("migrations/0013_drop_claims.sql");

/// The interval at which rows outside the window are deleted.
const SWEEP_PERIOD: Millis = Millis::from_seconds(60);

/// Counts the reservations of a policy in a window: all of them, or those that a caller made or
/// that count under a ceiling.
const COUNT: &str = "SELECT count(*) AS count, min(at) AS oldest FROM reservation
    WHERE at > ?1 AND policy = ?2 AND (?3 IS NULL OR caller = ?3
    OR EXISTS (SELECT 1 FROM json_each(nullif(ceilings, '')) WHERE value = ?3))";

#[derive(Deserialize)]
struct LastRow {
    id: Option<u64>,
}

#[derive(Deserialize)]
struct CountRow {
    count: u32,
    oldest: Option<u64>,
}

#[derive(Deserialize)]
struct ClosedRow {
    policy: String,
    until: u64,
    probe: u64,
}

/// The budgets of an object.
pub struct BudgetStore {
    database: Rc<Database>,
    limits: Limits,
    /// The maximum duration of a request in flight.
    request_timeout: Millis,
    /// The upstream's blocks, by policy.
    blocks: RefCell<Vec<(RateLimitPolicy, UpstreamBlock)>>,
    next_sweep: Cell<Millis>,
    last_id: Cell<u64>,
}

impl BudgetStore {
    /// Loads the stored budgets.
    pub fn open(
        database: Rc<Database>,
        limits: Limits,
        request_timeout: Millis,
    ) -> HostResult<Self> {
        let store = Self {
            database,
            limits,
            request_timeout,
            blocks: RefCell::new(Vec::new()),
            next_sweep: Cell::new(Millis(0)),
            last_id: Cell::new(0),
        };
        store.restore(now())?;
        Ok(store)
    }

    fn restore(&self, now: Millis) -> HostResult<()> {
        self.sweep(now)?;
        let query = "SELECT max(id) AS id FROM reservation";
        let last: Option<LastRow> = self.database.first(query, [])?;
        self.last_id.set(last.and_then(|row| row.id).unwrap_or(0));
        let query = "SELECT policy, until, probe FROM closed";
        for row in self.database.rows::<ClosedRow>(query, [])? {
            let Some(policy) = RateLimitPolicy::from_name(&row.policy) else {
                continue;
            };
            let block = UpstreamBlock::new(Millis(row.until), self.limits.window, now);
            if row.probe == 0 {
                // An earlier release, which did not probe, stored this block.
                self.store_block(policy, block)?;
            } else {
                let probe_at = Millis(row.probe).min(block.probe_at);
                let kept = UpstreamBlock { probe_at, ..block };
                self.blocks.borrow_mut().push((policy, kept));
            }
        }
        Ok(())
    }

    /// Makes a reservation for an upstream request.
    pub fn reserve(
        &self,
        request: &BudgetRequest,
    ) -> HostResult<Result<Reservation, Box<Refused>>> {
        let now = now();
        let policy = request.policy;
        let block = self.find_block(policy, now);
        let granted = match budget::decide(&self.snapshot(request, block, now)?) {
            Ok(granted) => granted,
            Err(refused) => return Ok(Err(refused)),
        };
        let id = self.begin(request, now)?;
        if let Some(block) = block {
            let probed = block.with_probe(id, self.limits.window, now);
            self.store_block(policy, probed)?;
        }
        Ok(Ok(Reservation {
            id,
            policy,
            fields: granted.fields,
            left: granted.left,
        }))
    }

    fn snapshot(
        &self,
        request: &BudgetRequest,
        block: Option<UpstreamBlock>,
        now: Millis,
    ) -> HostResult<BudgetSnapshot> {
        let policy = request.policy;
        let count = |name: &str, max: u32| self.count(policy, Some(name), max, now);
        let quota = request.quota.map(|max| count(&request.caller, max));
        let ceilings = request.ceilings.iter();
        let ceilings = ceilings.map(|ceiling| count(&ceiling.name, ceiling.max));
        let blocked_until = block.and_then(|block| block.refuses_until(now));
        Ok(BudgetSnapshot {
            policy,
            window: self.limits.window.0,
            now: now.0,
            blocked_until: blocked_until.map(|until| until.0),
            limit: self.count(policy, None, self.limits.limit(policy), now)?,
            quota: quota.transpose()?,
            ceilings: ceilings.collect::<HostResult<_>>()?,
        })
    }

    /// Counts a policy's reservations in the window: all of them, or those under a name.
    ///
    /// If the rules of an issuer identify callers by different claims, the key of one caller can
    /// be a ceiling for another. A name therefore counts as a caller and as a ceiling.
    pub fn count(
        &self,
        policy: RateLimitPolicy,
        name: Option<&str>,
        max: u32,
        now: Millis,
    ) -> HostResult<LimitUsage> {
        let since = now.since(self.limits.window);
        let values = [number(since.0), text(policy.as_str()), optional_text(name)];
        let row: Option<CountRow> = self.database.first(COUNT, values)?;
        let (count, oldest) = row.map_or((0, None), |row| (row.count, row.oldest));
        Ok(LimitUsage { max, count, oldest })
    }

    /// Records a reservation and returns its id.
    fn begin(&self, request: &BudgetRequest, now: Millis) -> HostResult<u64> {
        if now >= self.next_sweep.get() {
            self.sweep(now)?;
        }
        let id = self.last_id.get() + 1;
        // The upstream may count the request until its timeout. The row has that time, so that its
        // slot never becomes free too early.
        let at = now.plus(self.request_timeout);
        let insert =
            "INSERT INTO reservation (id, policy, caller, at, ceilings) VALUES (?, ?, ?, ?, ?)";
        let row = [
            number(id),
            text(request.policy.as_str()),
            text(&request.caller),
            number(at.0),
            text(&write_names(&request.ceilings)),
        ];
        self.database.execute(insert, row)?;
        self.last_id.set(id);
        Ok(id)
    }

    /// Moves the reservation of a request that waited for a connection. The timeout of the request
    /// starts only now, so its response can arrive later.
    pub fn postpone(&self, id: u64) -> HostResult<()> {
        let at = now().plus(self.request_timeout);
        let update = "UPDATE reservation SET at = ? WHERE id = ?";
        self.database.execute(update, [number(at.0), number(id)])
    }

    /// Moves the reservation of a finished request to the present. It counts for one window from
    /// now.
    pub fn settle(&self, id: u64) -> HostResult<()> {
        let update = "UPDATE reservation SET at = ? WHERE id = ?";
        self.database.execute(update, [number(now().0), number(id)])
    }

    /// Deletes a reservation that the upstream did not count.
    fn release(&self, id: u64) -> HostResult<()> {
        let delete = "DELETE FROM reservation WHERE id = ?";
        self.database.execute(delete, [number(id)])
    }

    /// Settles or releases the reservation of a finished request, and blocks its policy after a 429
    /// from Mintlify.
    pub fn conclude(
        &self,
        reservation: &Reservation,
        outcome: ReservationOutcome,
    ) -> HostResult<()> {
        let Reservation { id, policy, .. } = *reservation;
        let block = self.find_block(policy, now());
        match outcome {
            ReservationOutcome::Succeeded => {
                if block.is_some_and(|block| block.probe == Some(id)) {
                    self.reopen(policy)?;
                }
                self.settle(id)
            }
            ReservationOutcome::Failed {
                is_counted,
                blocked_for,
            } => {
                if let Some(time) = blocked_for {
                    let block = UpstreamBlock::extend(block, time, self.limits.window, now());
                    self.store_block(policy, block)?;
                }
                if is_counted {
                    self.settle(id)
                } else {
                    self.release(id)
                }
            }
        }
    }

    fn sweep(&self, now: Millis) -> HostResult<()> {
        self.next_sweep.set(now.plus(SWEEP_PERIOD));
        let before = now.since(self.limits.window);
        let delete = "DELETE FROM reservation WHERE at <= ?";
        self.database.execute(delete, [number(before.0)])
    }

    fn store_block(&self, policy: RateLimitPolicy, block: UpstreamBlock) -> HostResult<()> {
        let insert = "INSERT OR REPLACE INTO closed (policy, until, probe) VALUES (?, ?, ?)";
        let row = [
            text(policy.as_str()),
            number(block.until.0),
            number(block.probe_at.0),
        ];
        self.database.execute(insert, row)?;
        let mut closed = self.blocks.borrow_mut();
        closed.retain(|(own, _)| *own != policy);
        closed.push((policy, block));
        Ok(())
    }

    /// Removes a policy's block.
    pub fn reopen(&self, policy: RateLimitPolicy) -> HostResult<()> {
        let delete = "DELETE FROM closed WHERE policy = ?";
        self.database.execute(delete, [text(policy.as_str())])?;
        self.blocks.borrow_mut().retain(|(own, _)| *own != policy);
        Ok(())
    }

    /// Returns the policy's block, unless it has ended.
    fn find_block(&self, policy: RateLimitPolicy, now: Millis) -> Option<UpstreamBlock> {
        let closed = self.blocks.borrow();
        let found = closed
            .iter()
            .find(|(own, block)| *own == policy && now < block.until);
        found.map(|(_, block)| *block)
    }

    /// Returns the state of a policy's budget.
    pub fn health(&self, policy: RateLimitPolicy) -> HostResult<BudgetHealth> {
        let now = now();
        let usage = self.count(policy, None, self.limits.limit(policy), now)?;
        let closed_until = self.find_block(policy, now).map(|block| block.until);
        Ok(BudgetHealth {
            limit: usage.max,
            left: match closed_until {
                Some(_) => 0,
                None => usage.left(),
            },
            closed_until: closed_until.map(|until| until.0),
        })
    }
}

/// Serializes the names of ceilings; an empty string for none.
fn write_names(ceilings: &[Ceiling]) -> String {
    if ceilings.is_empty() {
        return String::new();
    }
    let names = ceilings.iter().map(|ceiling| Value::from(&*ceiling.name));
    json::to_text(&Value::Array(names.collect()))
}

#[cfg(test)]
mod tests {
    #![expect(
        clippy::unwrap_used,
        reason = "a failed unwrap fails the test at its line"
    )]

    use js_sys::Object;
    use wasm_bindgen::JsValue;
    use wasm_bindgen_test::wasm_bindgen_test;

    use super::*;
    use crate::runtime::tests::{fake_database, property};

    const TIMEOUT: Millis = Millis::from_seconds(30);

    fn open_budget(rows: &JsValue, exec: &str) -> BudgetStore {
        let limits = Limits::read(&|_| None).unwrap();
        BudgetStore::open(fake_database(rows, exec), limits, TIMEOUT).unwrap()
    }

    #[wasm_bindgen_test]
    fn a_postponed_reservation_counts_from_the_timeout_after_now() {
        let times = Object::new();
        let exec = "(query, ...values) => {
          if (query.startsWith('UPDATE reservation')) argument[values[1]] = values[0];
          return { toArray: () => [] };
        }";
        let budget = open_budget(&times, exec);
        let earliest = now().plus(TIMEOUT);
        budget.postpone(7).unwrap();
        let at: Millis = serde_wasm_bindgen::from_value(property(&times, "7")).unwrap();
        assert!((earliest..=now().plus(TIMEOUT)).contains(&at));
    }
}
