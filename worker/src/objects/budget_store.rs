//! Budgets: a sliding log of reservations, one for each request upstream of the last window.
//! `SQLite` keeps it; this object, the only one that writes it, has it in memory as well. What may
//! be granted is decided by [`crate::budget`]; between its reading and the new row nothing else
//! runs.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use quillgate::Millis;

use crate::budget::{self, Ask, Claims, Closure, RateLimitFields, Refused, Verdict};
use crate::config::Config;
use crate::jobs::idempotency::Settlement;
use crate::log::BudgetHealth;
use crate::platform::{Database, HostResult, now, number, row, text};
use crate::policy::Policy;
use crate::upstream::UpstreamFailure;
use crate::usage::Usage;

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

/// The next step of both: when the upstream is asked again although it has closed a policy.
pub const PROBE_TABLES: &str = "
  ALTER TABLE closed ADD COLUMN probe INTEGER NOT NULL DEFAULT 0;
";

/// How often rows that have left the window are dropped.
const SWEEP_PERIOD: Millis = Millis::from_seconds(60);

row! {
    struct ReservationRow {
        id: u64,
        policy: String,
        caller: String,
        at: u64,
    }
}

row! {
    struct ClosedRow {
        policy: String,
        until: u64,
        probe: u64,
    }
}

row! {
    struct ClaimRow {
        caller: String,
        count: u64,
    }
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
    config: Rc<Config>,
    usage: RefCell<Usage>,
    /// What the upstream has closed, by policy.
    closed: RefCell<Vec<(Policy, Closure)>>,
    /// Policies under which nobody has an open claim, as far as is known.
    unclaimed: RefCell<Vec<Policy>>,
    next_sweep: Cell<Millis>,
    last_id: Cell<u64>,
}

impl BudgetStore {
    /// The budgets as they are stored.
    pub fn open(database: Rc<Database>, config: Rc<Config>) -> HostResult<Self> {
        let store = Self {
            usage: RefCell::new(Usage::new(config.limit_window)),
            database,
            config,
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
        let query = "SELECT id, policy, caller, at FROM reservation ORDER BY at";
        let mut usage = self.usage.borrow_mut();
        for row in self.database.rows::<ReservationRow>(query, &[])? {
            self.last_id.set(self.last_id.get().max(row.id));
            let Some(policy) = Policy::from_name(&row.policy) else {
                continue;
            };
            if row.at <= now.0 {
                usage.restore(policy, &row.caller, Millis(row.at));
            } else {
                // It was under way when an earlier instance ended.
                usage.begin(row.id, policy, &row.caller, Millis(row.at));
            }
        }
        let query = "SELECT policy, until, probe FROM closed";
        for row in self.database.rows::<ClosedRow>(query, &[])? {
            let Some(policy) = Policy::from_name(&row.policy) else {
                continue;
            };
            let closure = Closure::new(Millis(row.until), self.config.limit_window, now);
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
        let claims = self.claims(policy, now)?;
        let has_claims = !claims.is_empty();
        let closure = self.closure(policy, now);
        let refused_until = closure.and_then(|closure| closure.refuses_until(now));
        let ask = Ask {
            policy,
            limit: self.config.limit(policy),
            window: self.config.limit_window.0,
            now: now.0,
            caller: claimant.caller.clone(),
            quota: claimant.quota,
            closed_until: refused_until.map(|until| until.0),
            used: self.usage.borrow_mut().summarize(policy, now),
            claims,
        };
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
                    let probed = closure.with_probe(id, self.config.limit_window, now);
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

    fn begin(&self, claimant: &Claimant, now: Millis) -> HostResult<u64> {
        if now >= self.next_sweep.get() {
            self.sweep(now)?;
        }
        let id = self.last_id.get() + 1;
        // As late as the request may be answered: until then nothing is freed too early.
        let at = now.plus(self.config.upstream_timeout);
        let insert = "INSERT INTO reservation (id, policy, caller, at) VALUES (?, ?, ?, ?)";
        let policy = claimant.policy;
        let caller = &claimant.caller;
        let row = &[
            number(id),
            text(policy.as_str()),
            text(caller),
            number(at.0),
        ];
        self.database.execute(insert, row)?;
        self.last_id.set(id);
        self.usage.borrow_mut().begin(id, policy, caller, at);
        Ok(id)
    }

    /// Counts a request that had to wait before it was sent as of the latest moment at which it may
    /// be answered.
    pub fn postpone(&self, id: u64) -> HostResult<()> {
        let at = now().plus(self.config.upstream_timeout);
        let update = "UPDATE reservation SET at = ? WHERE id = ?";
        self.database.execute(update, &[number(at.0), number(id)])?;
        self.usage.borrow_mut().postpone(id, at);
        Ok(())
    }

    /// Stops counting a slot whose row was rolled back.
    pub fn forget(&self, id: u64) {
        self.usage.borrow_mut().release(id);
    }

    /// Counts a request from now on, when the upstream has had it.
    pub fn settle(&self, id: u64) -> HostResult<()> {
        let now = now();
        let update = "UPDATE reservation SET at = ? WHERE id = ?";
        self.database
            .execute(update, &[number(now.0), number(id)])?;
        self.usage.borrow_mut().settle(id, now);
        Ok(())
    }

    /// Gives a slot back: the upstream did nothing.
    fn release(&self, id: u64) -> HostResult<()> {
        let delete = "DELETE FROM reservation WHERE id = ?";
        self.database.execute(delete, &[number(id)])?;
        self.usage.borrow_mut().release(id);
        Ok(())
    }

    /// Counts a request that has ended, by how it ended, and closes its policy when the upstream
    /// wants that.
    pub fn conclude(&self, slot: &Slot, failure: Option<&UpstreamFailure>) -> HostResult<()> {
        let closure = self.closure(slot.policy, now());
        match failure {
            None if closure.is_some_and(|closure| closure.probe == Some(slot.id)) => {
                self.reopen(slot.policy)?;
            }
            None => {}
            Some(failure) => {
                if let Some(time) = failure.closed_for {
                    let window = self.config.limit_window;
                    let closure = Closure::extend(closure, time, window, now());
                    self.keep_closure(slot.policy, closure)?;
                }
            }
        }
        match failure.map(|failure| failure.settlement) {
            Some(Settlement::Forget) => self.release(slot.id),
            Some(Settlement::Store | Settlement::Unknown) | None => self.settle(slot.id),
        }
    }

    fn sweep(&self, now: Millis) -> HostResult<()> {
        self.next_sweep.set(now.plus(SWEEP_PERIOD));
        let before = now.since(self.config.limit_window);
        let delete = "DELETE FROM reservation WHERE at <= ?";
        self.database.execute(delete, &[number(before.0)])
    }

    fn keep_closure(&self, policy: Policy, closure: Closure) -> HostResult<()> {
        let insert = "INSERT OR REPLACE INTO closed (policy, until, probe) VALUES (?, ?, ?)";
        let row = &[
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
        self.database.execute(delete, &[text(policy.as_str())])?;
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
        let limit = self.config.limit(policy);
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
            .execute("DELETE FROM claim WHERE until <= ?", &[number(now.0)])?;
        let query = "SELECT caller, count(*) AS count FROM claim WHERE policy = ? GROUP BY caller";
        let rows = self
            .database
            .rows::<ClaimRow>(query, &[text(policy.as_str())])?;
        if rows.is_empty() {
            self.unclaimed.borrow_mut().push(policy);
        }
        let claims = |row: ClaimRow| Claims {
            caller: row.caller,
            count: u32::try_from(row.count).unwrap_or(u32::MAX),
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
        let row = &[text(ask.policy.as_str()), text(&ask.caller), number(until)];
        self.database.execute(insert, row)
    }

    fn redeem(&self, claimant: &Claimant) -> HostResult<()> {
        let delete = "DELETE FROM claim WHERE id =
            (SELECT min(id) FROM claim WHERE policy = ? AND caller = ?)";
        let row = &[text(claimant.policy.as_str()), text(&claimant.caller)];
        self.database.execute(delete, row)
    }
}
