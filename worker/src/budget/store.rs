//! The budgets of a Durable Object, stored in `SQLite`: a sliding log with one reservation per
//! upstream request.
//!
//! This object alone writes the log and also caches it in memory. [`crate::budget`] decides which
//! reservations to grant. No other code runs between that decision and the insertion of a row.

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
use crate::budget::usage::Usage;
use crate::budget::{BudgetSnapshot, Ceiling, CeilingUsage, Decision, Refused, Used};
use crate::json;
use crate::runtime::{Database, HostResult, now, number, text};

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

#[derive(Deserialize)]
struct ReservationRow {
    id: u64,
    policy: String,
    caller: String,
    at: u64,
    ceilings: String,
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
    usage: RefCell<Usage>,
    /// The same reservations, with the names of ceilings in place of callers.
    ceiling_usage: RefCell<Usage>,
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
            usage: RefCell::new(Usage::new(limits.window)),
            ceiling_usage: RefCell::new(Usage::new(limits.window)),
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
        let query = "SELECT id, policy, caller, at, ceilings FROM reservation ORDER BY at";
        let mut usage = self.usage.borrow_mut();
        let mut ceiling_usage = self.ceiling_usage.borrow_mut();
        for row in self.database.rows::<ReservationRow>(query, [])? {
            self.last_id.set(self.last_id.get().max(row.id));
            let Some(policy) = RateLimitPolicy::from_name(&row.policy) else {
                continue;
            };
            let (id, at) = (row.id, Millis(row.at));
            let count = |usage: &mut Usage, name: &str| {
                if at <= now {
                    usage.restore(policy, name, at);
                } else {
                    // The request was in flight when an earlier instance of the object ended.
                    usage.begin(id, policy, name, at);
                }
            };
            count(&mut usage, &row.caller);
            for name in read_names(&row.ceilings) {
                count(&mut ceiling_usage, &name);
            }
        }
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
    pub fn reserve(&self, request: &BudgetRequest) -> HostResult<Result<Reservation, Refused>> {
        let now = now();
        let policy = request.policy;
        let block = self.find_block(policy, now);
        let granted = match budget::decide(&self.snapshot(request, block, now)) {
            Decision::Refused(refused) => return Ok(Err(refused)),
            Decision::Granted(granted) => granted,
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
    ) -> BudgetSnapshot {
        let policy = request.policy;
        let used = self.usage.borrow_mut().summarize(policy, now);
        let ceiling_usage = self.ceiling_usage.borrow_mut().summarize(policy, now);
        // A caller's own key can be another caller's ceiling, if the rules of an issuer identify
        // callers by different claims. Both uses count under one name.
        let usage = |name: &str, max: u32| {
            let all = used.iter().chain(&ceiling_usage);
            let named = all.filter(|used| used.caller == name);
            let add = |sum: u32, used: &Used| sum.saturating_add(used.count);
            CeilingUsage {
                max,
                count: named.clone().fold(0, add),
                oldest: named.map(|used| used.oldest).min(),
            }
        };
        let quota = request.quota.map(|max| usage(&request.caller, max));
        let ceilings = request.ceilings.iter();
        let ceilings = ceilings.map(|ceiling| usage(&ceiling.name, ceiling.max));
        let ceilings = ceilings.collect();
        let blocked_until = block.and_then(|block| block.refuses_until(now));
        BudgetSnapshot {
            policy,
            limit: self.limits.limit(policy),
            window: self.limits.window.0,
            now: now.0,
            quota,
            ceilings,
            blocked_until: blocked_until.map(|until| until.0),
            used,
        }
    }

    /// Returns a caller's reservations in the window.
    pub fn used_by(&self, policy: RateLimitPolicy, caller: &str) -> Option<Used> {
        let used = self.usage.borrow_mut().summarize(policy, now());
        used.into_iter().find(|used| used.caller == caller)
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
        let policy = request.policy;
        let row = [
            number(id),
            text(policy.as_str()),
            text(&request.caller),
            number(at.0),
            text(&write_names(&request.ceilings)),
        ];
        self.database.execute(insert, row)?;
        self.last_id.set(id);
        self.usage
            .borrow_mut()
            .begin(id, policy, &request.caller, at);
        let mut ceiling_usage = self.ceiling_usage.borrow_mut();
        for ceiling in &request.ceilings {
            ceiling_usage.begin(id, policy, &ceiling.name, at);
        }
        Ok(id)
    }

    /// Moves the reservation of a request that waited for a connection. The timeout of the request
    /// starts only now, so its response can arrive later.
    pub fn postpone(&self, id: u64) -> HostResult<()> {
        let at = now().plus(self.request_timeout);
        let update = "UPDATE reservation SET at = ? WHERE id = ?";
        self.database.execute(update, [number(at.0), number(id)])?;
        self.usage.borrow_mut().postpone(id, at);
        self.ceiling_usage.borrow_mut().postpone(id, at);
        Ok(())
    }

    /// Stops counting a reservation after a rollback of its row.
    pub fn forget(&self, id: u64) {
        self.usage.borrow_mut().release(id);
        self.ceiling_usage.borrow_mut().release(id);
    }

    /// Moves the reservation of a finished request to the present. It counts for one window from
    /// now.
    pub fn settle(&self, id: u64) -> HostResult<()> {
        let now = now();
        let update = "UPDATE reservation SET at = ? WHERE id = ?";
        self.database.execute(update, [number(now.0), number(id)])?;
        self.usage.borrow_mut().settle(id, now);
        self.ceiling_usage.borrow_mut().settle(id, now);
        Ok(())
    }

    /// Deletes a reservation that the upstream did not count.
    fn release(&self, id: u64) -> HostResult<()> {
        let delete = "DELETE FROM reservation WHERE id = ?";
        self.database.execute(delete, [number(id)])?;
        self.forget(id);
        Ok(())
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
    pub fn health(&self, policy: RateLimitPolicy) -> BudgetHealth {
        let now = now();
        let limit = self.limits.limit(policy);
        let used = self.usage.borrow_mut().summarize(policy, now);
        let total = used.iter().map(|used| used.count).sum();
        let closed_until = self.find_block(policy, now).map(|block| block.until);
        BudgetHealth {
            limit,
            left: match closed_until {
                Some(_) => 0,
                None => limit.saturating_sub(total),
            },
            closed_until: closed_until.map(|until| until.0),
        }
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

fn read_names(stored: &str) -> Vec<String> {
    let names = json::parse(stored.as_bytes()).and_then(json::into_strings);
    // Most rows have an empty string instead of JSON, and so no names.
    names.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    #![expect(
        clippy::unwrap_used,
        reason = "a test that unwraps a missing value fails right there"
    )]

    use js_sys::Function;
    use wasm_bindgen::{JsCast, JsValue};
    use wasm_bindgen_test::wasm_bindgen_test;
    use worker::State;
    use worker::worker_sys::DurableObjectState;

    use super::*;

    /// Opens a store with Alice's request in flight, which counts under a ceiling.
    fn open_store_with_request_in_flight() -> BudgetStore {
        let script = "const row = { id: 1, policy: 'analytics', caller: 'alice',
            at: Date.now() + 1000, ceilings: '[\"team\"]' };
          const exec = (query) => {
            const rows = query.includes('FROM reservation ORDER') ? [row] : [];
            return { toArray: () => rows, rowsWritten: 0 };
          };
          return { storage: { sql: { exec } } };";
        let state = Function::new_no_args(script).call0(&JsValue::UNDEFINED);
        let state = State::from(state.unwrap().unchecked_into::<DurableObjectState>());
        let database = Rc::new(Database::new(state.storage()));
        let limits = Limits::read(&|_| None).unwrap();
        let timeout = Millis::from_seconds(30);
        BudgetStore::open(database, limits, timeout).unwrap()
    }

    #[wasm_bindgen_test]
    fn postponing_a_request_counts_for_its_caller_and_its_ceilings() {
        let store = open_store_with_request_in_flight();
        let earliest = now().plus(store.request_timeout);
        store.postpone(1).unwrap();
        for (usage, name) in [(&store.usage, "alice"), (&store.ceiling_usage, "team")] {
            let used = usage
                .borrow_mut()
                .summarize(RateLimitPolicy::Analytics, now());
            assert_eq!(used.len(), 1);
            assert_eq!((&*used[0].caller, used[0].count), (name, 1));
            assert!(used[0].oldest >= earliest.0, "{name}");
        }
    }
}
