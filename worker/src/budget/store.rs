//! Budgets: a sliding log of reservations, one for each request upstream of the last window.
//! `SQLite` keeps it; this object, the only one that writes it, has it in memory as well. What may
//! be granted is decided by [`crate::budget`]; between its reading and the new row nothing else
//! runs.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use quillgate::Millis;
use serde::Deserialize;
use serde_json::Value;

use crate::budget;
use crate::budget::health::BudgetHealth;
use crate::budget::limits::Limits;
use crate::budget::outcome::{SlotCount, SlotOutcome};
use crate::budget::usage::Usage;
use crate::budget::{
    Ask, Ceiling, Claims, Closure, RateLimitFields, Refused, SharedUse, Used, Verdict,
};
use crate::json;
use crate::runtime::{Database, HostResult, now, number, text};
use quillgate::Policy;

/// The tables, the first step of both objects.
pub const BUDGET_TABLES: &str = "
  CREATE TABLE reservation (
    id INTEGER PRIMARY KEY,
    policy TEXT NOT NULL,
    caller TEXT NOT NULL,
    at INTEGER NOT NULL
  );
  CREATE INDEX reservation_at ON reservation (at);
  CREATE TABLE claim (
    id INTEGER PRIMARY KEY,
    policy TEXT NOT NULL,
    caller TEXT NOT NULL,
    until INTEGER NOT NULL
  );
  CREATE INDEX claim_caller ON claim (policy, caller);
  CREATE TABLE closed (policy TEXT PRIMARY KEY, until INTEGER NOT NULL);
";

/// A step of both objects: the names of the ceilings under which a reservation counts beside its
/// caller, a JSON list; empty when there are none.
pub const CEILING_COLUMN: &str =
    "ALTER TABLE reservation ADD COLUMN ceilings TEXT NOT NULL DEFAULT ''";
/// The next step of both: when the upstream is asked again although it has closed a policy.
pub const PROBE_TABLES: &str = "
  ALTER TABLE closed ADD COLUMN probe INTEGER NOT NULL DEFAULT 0;
";

/// How often rows that have left the window are dropped.
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

/// Who asks for a slot, and under which policy.
#[derive(Debug, Clone)]
pub struct Claimant {
    /// The policy.
    pub policy: Policy,
    /// Who asks.
    pub caller: String,
    /// The most that the caller's token may hold of the window.
    pub quota: Option<u32>,
    /// The ceilings that the caller shares with others.
    pub ceilings: Vec<Ceiling>,
}

/// A slot that was granted.
#[derive(Debug, Clone)]
pub struct Slot {
    /// The reservation.
    pub id: u64,
    /// What it was granted under.
    pub policy: Policy,
    /// What is said about the budget.
    pub fields: RateLimitFields,
    /// How many slots are left.
    pub left: u32,
}

/// The budgets of an object.
pub struct BudgetStore {
    database: Rc<Database>,
    limits: Limits,
    /// Maximum duration of a request in flight.
    request_timeout: Millis,
    usage: RefCell<Usage>,
    /// The same reservations by the ceilings that they count under.
    shared: RefCell<Usage>,
    /// What the upstream has closed, by policy.
    closed: RefCell<Vec<(Policy, Closure)>>,
    /// Policies under which nobody has an open claim, as far as is known.
    unclaimed: RefCell<Vec<Policy>>,
    next_sweep: Cell<Millis>,
    last_id: Cell<u64>,
}

impl BudgetStore {
    /// The budgets as they are stored.
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
                    // It was under way when an earlier instance ended.
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
            let closure = Closure::new(Millis(row.until), self.limits.window, now);
            if row.probe == 0 {
                // Of an earlier release, which did not probe.
                self.keep_closure(policy, closure)?;
            } else {
                let probe_at = Millis(row.probe).min(closure.probe_at);
                let kept = Closure {
                    probe_at,
                    ..closure
                };
                self.closed.borrow_mut().push((policy, kept));
            }
        }
        Ok(())
    }

    /// Takes a slot, before the upstream is asked.
    pub fn reserve(&self, claimant: &Claimant) -> HostResult<Result<Slot, Refused>> {
        let now = now();
        let policy = claimant.policy;
        let closure = self.closure(policy, now);
        let ask = self.ask(claimant, closure, now)?;
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
                if let Some(closure) = closure {
                    let probed = closure.with_probe(id, self.limits.window, now);
                    self.keep_closure(policy, probed)?;
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

    fn ask(&self, claimant: &Claimant, closure: Option<Closure>, now: Millis) -> HostResult<Ask> {
        let policy = claimant.policy;
        let claims = self.claims(policy, now)?;
        let used = self.usage.borrow_mut().summarize(policy, now);
        let shared = self.shared_use(claimant, &used, now);
        let refused_until = closure.and_then(|closure| closure.refuses_until(now));
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

    /// How much of the window a caller holds.
    pub fn used_by(&self, policy: Policy, caller: &str) -> Option<Used> {
        let used = self.usage.borrow_mut().summarize(policy, now());
        used.into_iter().find(|used| used.caller == caller)
    }

    /// How far the ceilings are reached. What one is named after may be a caller as well, whose own
    /// reservations count under it too.
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

    /// Records a reservation, and returns its id.
    fn begin(&self, claimant: &Claimant, now: Millis) -> HostResult<u64> {
        if now >= self.next_sweep.get() {
            self.sweep(now)?;
        }
        let id = self.last_id.get() + 1;
        // The latest instant of a response: until then, no reservation is freed too early.
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

    /// Counts a request that waited before it was sent as of the latest moment at which its answer can
    /// arrive, for its caller and for the ceilings.
    pub fn postpone(&self, id: u64) -> HostResult<()> {
        let at = now().plus(self.request_timeout);
        let update = "UPDATE reservation SET at = ? WHERE id = ?";
        self.database.execute(update, [number(at.0), number(id)])?;
        self.usage.borrow_mut().postpone(id, at);
        self.shared.borrow_mut().postpone(id, at);
        Ok(())
    }

    /// Stops counting a slot whose row was rolled back.
    pub fn forget(&self, id: u64) {
        self.usage.borrow_mut().release(id);
        self.shared.borrow_mut().release(id);
    }

    /// Counts a request from now on, when the upstream has had it.
    pub fn settle(&self, id: u64) -> HostResult<()> {
        let now = now();
        let update = "UPDATE reservation SET at = ? WHERE id = ?";
        self.database.execute(update, [number(now.0), number(id)])?;
        self.usage.borrow_mut().settle(id, now);
        self.shared.borrow_mut().settle(id, now);
        Ok(())
    }

    /// Gives a slot back: the upstream did nothing.
    fn release(&self, id: u64) -> HostResult<()> {
        let delete = "DELETE FROM reservation WHERE id = ?";
        self.database.execute(delete, [number(id)])?;
        self.forget(id);
        Ok(())
    }

    /// Counts a request by how it ended, and blocks its policy when Mintlify refused with a 429.
    pub fn conclude(&self, slot: &Slot, outcome: SlotOutcome) -> HostResult<()> {
        let closure = self.closure(slot.policy, now());
        match outcome {
            SlotOutcome::Succeeded => {
                if closure.is_some_and(|closure| closure.probe == Some(slot.id)) {
                    self.reopen(slot.policy)?;
                }
                self.settle(slot.id)
            }
            SlotOutcome::Failed { count, closed_for } => {
                if let Some(time) = closed_for {
                    let closure = Closure::extend(closure, time, self.limits.window, now());
                    self.keep_closure(slot.policy, closure)?;
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

    fn keep_closure(&self, policy: Policy, closure: Closure) -> HostResult<()> {
        let insert = "INSERT OR REPLACE INTO closed (policy, until, probe) VALUES (?, ?, ?)";
        let row = [
            text(policy.as_str()),
            number(closure.until.0),
            number(closure.probe_at.0),
        ];
        self.database.execute(insert, row)?;
        let mut closed = self.closed.borrow_mut();
        closed.retain(|(own, _)| *own != policy);
        closed.push((policy, closure));
        Ok(())
    }

    /// Opens a policy that the upstream has closed.
    pub fn reopen(&self, policy: Policy) -> HostResult<()> {
        let delete = "DELETE FROM closed WHERE policy = ?";
        self.database.execute(delete, [text(policy.as_str())])?;
        self.closed.borrow_mut().retain(|(own, _)| *own != policy);
        Ok(())
    }

    /// What the upstream has closed, and until after now.
    fn closure(&self, policy: Policy, now: Millis) -> Option<Closure> {
        let closed = self.closed.borrow();
        let found = closed
            .iter()
            .find(|(own, closure)| *own == policy && now < closure.until);
        found.map(|(_, closure)| *closure)
    }

    /// How a budget stands.
    pub fn health(&self, policy: Policy) -> BudgetHealth {
        let now = now();
        let limit = self.limits.limit(policy);
        let used = self.usage.borrow_mut().summarize(policy, now);
        let total = used.iter().map(|used| used.count).sum();
        let closed_until = self.closure(policy, now).map(|closure| closure.until);
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

    /// Remembers who was refused; more claims than slots would mean nothing.
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

/// The names of ceilings as they are stored: of most reservations there are none.
fn write_names(ceilings: &[Ceiling]) -> String {
    if ceilings.is_empty() {
        return String::new();
    }
    let names = ceilings.iter().map(|ceiling| Value::from(&*ceiling.name));
    json::to_text(&Value::Array(names.collect()))
}

fn read_names(stored: &str) -> Vec<String> {
    let names = json::parse(stored.as_bytes()).and_then(json::into_strings);
    // Most are empty, which is no JSON.
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

    /// A store whose database has one request under way: Alice's, which counts under a ceiling.
    fn store_with_a_request_under_way() -> BudgetStore {
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
        let store = store_with_a_request_under_way();
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
