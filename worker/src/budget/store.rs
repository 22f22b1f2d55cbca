//! The budgets of a Durable Object, stored in `SQLite`: a sliding log with one reservation per
//! upstream request.
//!
//! This object alone writes the log and also caches it in memory. [`crate::budget`] decides which
//! reservations to grant. No other code runs between that decision and the insertion of a row.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use quillgate::{Millis, Policy};
use serde::Deserialize;
use serde_json::Value;

use crate::budget;
use crate::budget::health::BudgetHealth;
use crate::budget::limits::Limits;
use crate::budget::outcome::{SlotCount, SlotOutcome};
use crate::budget::upstream_block::UpstreamBlock;
use crate::budget::usage::Usage;
use crate::budget::{Ask, Ceiling, Claims, RateLimitFields, Refused, SharedUse, Used, Verdict};
use crate::json;
use crate::runtime::{Database, HostResult, now, number, text};

/// The budget tables, the first migration of both objects.
pub const BUDGET_TABLES: &str = include_str!("migrations/0001_budget.sql");

/// A migration of both objects: a reservation's ceilings, as a JSON list of names or an empty
/// string.
pub const CEILING_COLUMN: &str = include_str!("migrations/0005_ceiling_column.sql");
/// The next migration of both objects: the time at which a blocked policy is probed.
pub const PROBE_TABLES: &str = include_str!("migrations/0006_probe_tables.sql");

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

#[derive(Deserialize)]
struct ClaimRow {
    caller: String,
    count: u32,
}

/// A caller's request for a slot.
#[derive(Debug, Clone)]
pub struct Claimant {
    /// The policy.
    pub policy: Policy,
    /// The caller.
    pub caller: String,
    /// The token's own quota: its maximum number of reservations in the window.
    pub quota: Option<u32>,
    /// The ceilings shared with other callers.
    pub ceilings: Vec<Ceiling>,
}

/// A granted slot.
#[derive(Debug, Clone)]
pub struct Slot {
    /// The reservation's id.
    pub id: u64,
    /// The policy of the reservation.
    pub policy: Policy,
    /// The budget's header fields.
    pub fields: RateLimitFields,
    /// The number of slots left.
    pub left: u32,
}

/// The budgets of an object.
pub struct BudgetStore {
    database: Rc<Database>,
    limits: Limits,
    /// The maximum duration of a request in flight.
    request_timeout: Millis,
    usage: RefCell<Usage>,
    /// The same reservations, by ceiling.
    shared: RefCell<Usage>,
    /// The upstream's blocks, by policy.
    closed: RefCell<Vec<(Policy, UpstreamBlock)>>,
    /// Policies known to have no open claims.
    unclaimed: RefCell<Vec<Policy>>,
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
            shared: RefCell::new(Usage::new(limits.window)),
            database,
            limits,
            request_timeout,
            closed: RefCell::new(Vec::new()),
            unclaimed: RefCell::new(Vec::new()),
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
        let mut shared = self.shared.borrow_mut();
        for row in self.database.rows::<ReservationRow>(query, [])? {
            self.last_id.set(self.last_id.get().max(row.id));
            let Some(policy) = Policy::from_name(&row.policy) else {
                continue;
            };
            let (id, at) = (row.id, Millis(row.at));
            let count = |usage: &mut Usage, name: &str| {
                if at <= now {
                    usage.restore(policy, name, at);
                } else {
                    // The request was in flight when an earlier instance ended.
                    usage.begin(id, policy, name, at);
                }
            };
            count(&mut usage, &row.caller);
            for name in read_names(&row.ceilings) {
                count(&mut shared, &name);
            }
        }
        let query = "SELECT policy, until, probe FROM closed";
        for row in self.database.rows::<ClosedRow>(query, [])? {
            let Some(policy) = Policy::from_name(&row.policy) else {
                continue;
            };
            let block = UpstreamBlock::new(Millis(row.until), self.limits.window, now);
            if row.probe == 0 {
                // Earlier releases did not probe.
                self.store_block(policy, block)?;
            } else {
                let probe_at = Millis(row.probe).min(block.probe_at);
                let kept = UpstreamBlock { probe_at, ..block };
                self.closed.borrow_mut().push((policy, kept));
            }
        }
        Ok(())
    }

    /// Reserves a slot for an upstream request.
    pub fn reserve(&self, claimant: &Claimant) -> HostResult<Result<Slot, Refused>> {
        let now = now();
        let policy = claimant.policy;
        let block = self.find_block(policy, now);
        let ask = self.ask(claimant, block, now)?;
        let has_claims = !ask.claims.is_empty();
        match budget::reserve(&ask) {
            Verdict::Refused(refused) => {
                if let Some(until) = refused.claim_until {
                    self.claim(&ask, until)?;
                }
                Ok(Err(refused))
            }
            Verdict::Granted(granted) => {
                if has_claims {
                    self.redeem(claimant)?;
                }
                let id = self.begin(claimant, now)?;
                if let Some(block) = block {
                    let probed = block.with_probe(id, self.limits.window, now);
                    self.store_block(policy, probed)?;
                }
                Ok(Ok(Slot {
                    id,
                    policy,
                    fields: granted.fields,
                    left: granted.left,
                }))
            }
        }
    }

    fn ask(
        &self,
        claimant: &Claimant,
        block: Option<UpstreamBlock>,
        now: Millis,
    ) -> HostResult<Ask> {
        let policy = claimant.policy;
        let claims = self.claims(policy, now)?;
        let used = self.usage.borrow_mut().summarize(policy, now);
        let shared = self.shared_use(claimant, &used, now);
        let refused_until = block.and_then(|block| block.refuses_until(now));
        Ok(Ask {
            policy,
            limit: self.limits.limit(policy),
            window: self.limits.window.0,
            now: now.0,
            caller: claimant.caller.clone(),
            quota: claimant.quota,
            closed_until: refused_until.map(|until| until.0),
            shared,
            used,
            claims,
        })
    }

    /// Returns a caller's reservations in the window.
    pub fn used_by(&self, policy: Policy, caller: &str) -> Option<Used> {
        let used = self.usage.borrow_mut().summarize(policy, now());
        used.into_iter().find(|used| used.caller == caller)
    }

    /// Returns the use of each ceiling. A ceiling can have the name of a caller; that caller's own
    /// reservations then count too.
    fn shared_use(&self, claimant: &Claimant, used: &[Used], now: Millis) -> Vec<SharedUse> {
        if claimant.ceilings.is_empty() {
            return Vec::new();
        }
        let shared = self.shared.borrow_mut().summarize(claimant.policy, now);
        let ceilings = claimant.ceilings.iter();
        ceilings
            .map(|ceiling| {
                let all = used.iter().chain(&shared);
                let own = all.filter(|used| used.caller == ceiling.name);
                let mut state = SharedUse {
                    most: ceiling.most,
                    count: 0,
                    oldest: None,
                };
                for used in own {
                    state.count = state.count.saturating_add(used.count);
                    let oldest = state.oldest.unwrap_or(used.oldest);
                    state.oldest = Some(oldest.min(used.oldest));
                }
                state
            })
            .collect()
    }

    /// Records a reservation and returns its id.
    fn begin(&self, claimant: &Claimant, now: Millis) -> HostResult<u64> {
        if now >= self.next_sweep.get() {
            self.sweep(now)?;
        }
        let id = self.last_id.get() + 1;
        // The latest possible time of the response, so that no reservation expires too early.
        let at = now.plus(self.request_timeout);
        let insert =
            "INSERT INTO reservation (id, policy, caller, at, ceilings) VALUES (?, ?, ?, ?, ?)";
        let policy = claimant.policy;
        let row = [
            number(id),
            text(policy.as_str()),
            text(&claimant.caller),
            number(at.0),
            text(&write_names(&claimant.ceilings)),
        ];
        self.database.execute(insert, row)?;
        self.last_id.set(id);
        self.usage
            .borrow_mut()
            .begin(id, policy, &claimant.caller, at);
        let mut shared = self.shared.borrow_mut();
        for ceiling in &claimant.ceilings {
            shared.begin(id, policy, &ceiling.name, at);
        }
        Ok(id)
    }

    /// Restarts the timeout of a request that waited before it was sent. It then counts from the
    /// latest possible time of its response.
    pub fn postpone(&self, id: u64) -> HostResult<()> {
        let at = now().plus(self.request_timeout);
        let update = "UPDATE reservation SET at = ? WHERE id = ?";
        self.database.execute(update, [number(at.0), number(id)])?;
        self.usage.borrow_mut().postpone(id, at);
        self.shared.borrow_mut().postpone(id, at);
        Ok(())
    }

    /// Stops counting a slot after a rollback of its row.
    pub fn forget(&self, id: u64) {
        self.usage.borrow_mut().release(id);
        self.shared.borrow_mut().release(id);
    }

    /// Counts a finished request from now on.
    pub fn settle(&self, id: u64) -> HostResult<()> {
        let now = now();
        let update = "UPDATE reservation SET at = ? WHERE id = ?";
        self.database.execute(update, [number(now.0), number(id)])?;
        self.usage.borrow_mut().settle(id, now);
        self.shared.borrow_mut().settle(id, now);
        Ok(())
    }

    /// Frees a slot that the upstream did not count.
    fn release(&self, id: u64) -> HostResult<()> {
        let delete = "DELETE FROM reservation WHERE id = ?";
        self.database.execute(delete, [number(id)])?;
        self.forget(id);
        Ok(())
    }

    /// Counts or frees a finished request, and blocks its policy after a 429 from Mintlify.
    pub fn conclude(&self, slot: &Slot, outcome: SlotOutcome) -> HostResult<()> {
        let block = self.find_block(slot.policy, now());
        match outcome {
            SlotOutcome::Succeeded => {
                if block.is_some_and(|block| block.probe == Some(slot.id)) {
                    self.reopen(slot.policy)?;
                }
                self.settle(slot.id)
            }
            SlotOutcome::Failed { count, closed_for } => {
                if let Some(time) = closed_for {
                    let block = UpstreamBlock::extend(block, time, self.limits.window, now());
                    self.store_block(slot.policy, block)?;
                }
                match count {
                    SlotCount::Keep => self.settle(slot.id),
                    SlotCount::Release => self.release(slot.id),
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

    fn store_block(&self, policy: Policy, block: UpstreamBlock) -> HostResult<()> {
        let insert = "INSERT OR REPLACE INTO closed (policy, until, probe) VALUES (?, ?, ?)";
        let row = [
            text(policy.as_str()),
            number(block.until.0),
            number(block.probe_at.0),
        ];
        self.database.execute(insert, row)?;
        let mut closed = self.closed.borrow_mut();
        closed.retain(|(own, _)| *own != policy);
        closed.push((policy, block));
        Ok(())
    }

    /// Removes a policy's block.
    pub fn reopen(&self, policy: Policy) -> HostResult<()> {
        let delete = "DELETE FROM closed WHERE policy = ?";
        self.database.execute(delete, [text(policy.as_str())])?;
        self.closed.borrow_mut().retain(|(own, _)| *own != policy);
        Ok(())
    }

    /// Returns the policy's block, unless it has ended.
    fn find_block(&self, policy: Policy, now: Millis) -> Option<UpstreamBlock> {
        let closed = self.closed.borrow();
        let found = closed
            .iter()
            .find(|(own, block)| *own == policy && now < block.until);
        found.map(|(_, block)| *block)
    }

    /// Returns the state of a policy's budget.
    pub fn health(&self, policy: Policy) -> BudgetHealth {
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

    fn claims(&self, policy: Policy, now: Millis) -> HostResult<Vec<Claims>> {
        if self.unclaimed.borrow().contains(&policy) {
            return Ok(Vec::new());
        }
        self.database
            .execute("DELETE FROM claim WHERE until <= ?", [number(now.0)])?;
        let query = "SELECT caller, count(*) AS count FROM claim WHERE policy = ? GROUP BY caller";
        let rows = self
            .database
            .rows::<ClaimRow>(query, [text(policy.as_str())])?;
        if rows.is_empty() {
            self.unclaimed.borrow_mut().push(policy);
        }
        let claims = |row: ClaimRow| Claims {
            caller: row.caller,
            count: row.count,
        };
        Ok(rows.into_iter().map(claims).collect())
    }

    /// Records a claim, unless the caller already has as many as there are slots.
    fn claim(&self, ask: &Ask, until: u64) -> HostResult<()> {
        let mut claims = ask.claims.iter();
        let own = claims.find(|claims| claims.caller == ask.caller);
        if own.is_some_and(|own| own.count >= ask.limit) {
            return Ok(());
        }
        self.unclaimed.borrow_mut().retain(|own| *own != ask.policy);
        let insert = "INSERT INTO claim (policy, caller, until) VALUES (?, ?, ?)";
        let row = [text(ask.policy.as_str()), text(&ask.caller), number(until)];
        self.database.execute(insert, row)
    }

    fn redeem(&self, claimant: &Claimant) -> HostResult<()> {
        let delete = "DELETE FROM claim WHERE id =
            (SELECT min(id) FROM claim WHERE policy = ? AND caller = ?)";
        let row = [text(claimant.policy.as_str()), text(&claimant.caller)];
        self.database.execute(delete, row)
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
    // Most are empty strings, which are not JSON.
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
        for (usage, name) in [(&store.usage, "alice"), (&store.shared, "team")] {
            let used = usage.borrow_mut().summarize(Policy::Analytics, now());
            assert_eq!(used.len(), 1);
            assert_eq!((&*used[0].caller, used[0].count), (name, 1));
            assert!(used[0].oldest >= earliest.0, "{name}");
        }
    }
}
