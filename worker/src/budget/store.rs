//! The budgets of a Durable Object, one row per reservation. No other code runs between a decision
//! of [`crate::budget`] and the insertion of the row.

use std::rc::Rc;

use quillgate::{Millis, RateLimitPolicy};
use serde::Deserialize;

use crate::budget::health::BudgetHealth;
use crate::budget::limits::Limits;
use crate::budget::reservation::{BudgetRequest, Reservation, ReservationOutcome};
use crate::budget::upstream_block::{UpstreamBlock, next_probe};
use crate::budget::{BudgetSnapshot, LimitUsage, counts_refusals, decide};
use crate::http::problem::Problem;
use crate::json;
use crate::runtime::{Database, HostError, HostResult, now};

pub const BUDGET_TABLES: &str = include_str!("migrations/0001_budget.sql");

/// Rows of earlier releases have an empty string.
pub const CEILING_COLUMN: &str = include_str!("migrations/0005_ceiling_column.sql");
pub const PROBE_TABLES: &str = include_str!("migrations/0006_probe_tables.sql");
/// The table that only earlier releases used.
pub const DROP_CLAIMS: &str = include_str!("migrations/0013_drop_claims.sql");
pub const POLICY_INDEX: &str = include_str!("migrations/0016_policy_index.sql");
/// The index that only earlier releases used.
pub const DROP_TIME_INDEX: &str = include_str!("migrations/0021_drop_time_index.sql");

/// Counts the reservations whose caller, or one of whose ceilings, is a name of a JSON array, or
/// all of them for `null`. Adds the policy's block.
const USAGE: &str =
    "SELECT count(own.id) AS count, min(own.at) AS oldest, closed.until, closed.probe
    FROM json_each(?1) AS name
    LEFT JOIN closed ON closed.policy = ?2 AND closed.until > ?3
    LEFT JOIN reservation AS own ON own.policy = ?2 AND own.at > ?4 AND (name.value IS NULL
      OR own.caller = name.value
      OR EXISTS (SELECT 1 FROM json_each(nullif(own.ceilings, '')) WHERE value = name.value))
    GROUP BY name.key ORDER BY name.key";

#[derive(Deserialize)]
struct UsageRow {
    count: u32,
    oldest: Option<u64>,
    until: Option<Millis>,
    probe: Option<Millis>,
}

/// The number of reservations between two deletions of rows that have left the window.
const SWEEP_INTERVAL: u64 = 64;

pub struct BudgetStore {
    database: Rc<Database>,
    limits: Limits,
    request_timeout: Millis,
}

impl BudgetStore {
    /// Deletes old reservations, and brings forward probes that are later than the configured
    /// window allows.
    pub fn open(
        database: Rc<Database>,
        limits: Limits,
        request_timeout: Millis,
    ) -> HostResult<Self> {
        let store = Self {
            database,
            limits,
            request_timeout,
        };
        let now = now();
        store.sweep(now)?;
        // The configured window can be shorter than when the block was stored. Earlier releases did
        // not send probes and stored 0 as the time of the next probe.
        let update = "UPDATE closed SET probe = iif(probe = 0, ?1, min(probe, ?1))";
        let latest = next_probe(store.limits.window, now);
        store.database.execute(update, &[&latest])?;
        Ok(store)
    }

    /// `hold` is the longest time in which Mintlify can count the request.
    pub fn reserve(
        &self,
        request: &BudgetRequest,
        hold: Millis,
    ) -> HostResult<Result<Reservation, Problem>> {
        let now = now();
        let policy = request.policy;
        let (block, snapshot) = self.snapshot(request, now)?;
        let granted = match decide(&snapshot) {
            Ok(granted) => granted,
            Err(refused) => return Ok(Err(refused)),
        };
        let window = self.limits.window(policy);
        let probed = block.map(|block| UpstreamBlock::new(block.until, window, now));
        if let Some(block) = probed {
            self.store_block(policy, block)?;
        }
        // Mintlify may count the request at any time until the request's timeout. The row
        // therefore stores the time of the timeout, so that the slot never becomes free too early.
        let at = now.plus(hold);
        let ceilings: Vec<_> = request.ceilings.iter().map(|own| &own.name).collect();
        let insert = "INSERT INTO reservation (policy, caller, at, ceilings) VALUES (?, ?, ?, ?)
            RETURNING id";
        let ceilings = json::to_text(&ceilings);
        let id: Option<u64> = self
            .database
            .value(insert, &[&policy, &request.caller, &at, &ceilings])?;
        let id = id.ok_or_else(|| HostError::new("an inserted row has no id"))?;
        // A new id is one more than the highest id in the table, so about one in `SWEEP_INTERVAL`
        // reservations deletes old rows.
        if id % SWEEP_INTERVAL == 0 {
            self.sweep(now)?;
        }
        Ok(Ok(Reservation {
            id,
            policy,
            probed,
            fields: granted.fields,
            left: granted.left,
        }))
    }

    /// Also returns the policy's block, unless it has ended.
    ///
    /// If the rules of an issuer identify callers by different claims, the key of one caller can be
    /// a ceiling for another. A name is therefore compared with callers and with ceilings.
    pub fn snapshot(
        &self,
        request: &BudgetRequest,
        now: Millis,
    ) -> HostResult<(Option<UpstreamBlock>, BudgetSnapshot)> {
        let policy = request.policy;
        let window = self.limits.window(policy);
        let mut names = vec![None];
        names.extend(request.quota.map(|_| Some(&request.caller)));
        names.extend(request.ceilings.iter().map(|own| Some(&own.name)));
        let names = json::to_text(&names);
        let rows: Vec<UsageRow> = self
            .database
            .rows(USAGE, &[&names, &policy, &now, &now.since(window)])?;
        let block = rows.first().and_then(|row| {
            Some(UpstreamBlock {
                until: row.until?,
                probe_at: row.probe?,
            })
        });
        let blocked_until = block.and_then(|block| block.refuses_until(now));
        let is_short = counts_refusals(policy);
        let mut rows = rows.into_iter();
        let mut next_usage = |max| {
            let (count, oldest) = rows.next().map_or((0, None), |row| (row.count, row.oldest));
            // A running request ends long before its row's time, so a caller should not wait for it.
            let oldest = oldest.map(|at| if is_short { at.min(now.0) } else { at });
            LimitUsage { max, count, oldest }
        };
        let snapshot = BudgetSnapshot {
            policy,
            window: window.0,
            now: now.0,
            blocked_until: blocked_until.map(|until| until.0),
            limit: next_usage(self.limits.limit(policy)),
            quota: request.quota.map(&mut next_usage),
            ceilings: (request.ceilings.iter())
                .map(|own| next_usage(own.max))
                .collect(),
        };
        Ok((block, snapshot))
    }

    /// Renews the reservation of a request that waited for a connection, because the request's
    /// timeout starts only now.
    pub fn postpone(&self, id: u64) -> HostResult<()> {
        let at = now().plus(self.request_timeout);
        let update = "UPDATE reservation SET at = ? WHERE id = ?";
        self.database.execute(update, &[&at, &id])
    }

    /// The reservation of a finished request counts for one window from now.
    pub fn settle(&self, id: u64) -> HostResult<()> {
        let update = "UPDATE reservation SET at = ? WHERE id = ?";
        self.database.execute(update, &[&now(), &id])
    }

    /// Settles or releases the reservation of a finished request. A successful probe removes the
    /// block, unless the block has changed since.
    pub fn conclude(
        &self,
        reservation: &Reservation,
        outcome: ReservationOutcome,
    ) -> HostResult<()> {
        let Reservation { id, policy, .. } = *reservation;
        match outcome {
            ReservationOutcome::Succeeded => {
                if let Some(probed) = reservation.probed {
                    let delete = "DELETE FROM closed WHERE policy = ? AND until = ? AND probe = ?";
                    self.database
                        .execute(delete, &[&policy, &probed.until, &probed.probe_at])?;
                }
                return self.settle(id);
            }
            ReservationOutcome::Counted => return self.settle(id),
            ReservationOutcome::Released => {}
            ReservationOutcome::Blocked(time) => {
                let now = now();
                let (earlier, _) = self.snapshot(&BudgetRequest::of_all(policy), now)?;
                let window = self.limits.window(policy);
                let block = UpstreamBlock::extend(earlier, time.min(window), window, now);
                self.store_block(policy, block)?;
                if counts_refusals(policy) {
                    return self.settle(id);
                }
            }
        }
        let delete = "DELETE FROM reservation WHERE id = ?";
        self.database.execute(delete, &[&id])
    }

    fn sweep(&self, now: Millis) -> HostResult<()> {
        // Policies of reads have no rows.
        for policy in RateLimitPolicy::ALL
            .into_iter()
            .filter(|own| !own.is_read())
        {
            let before = now.since(self.limits.window(policy));
            let delete = "DELETE FROM reservation WHERE policy = ? AND at <= ?";
            self.database.execute(delete, &[&policy, &before])?;
        }
        Ok(())
    }

    fn store_block(&self, policy: RateLimitPolicy, block: UpstreamBlock) -> HostResult<()> {
        let insert = "INSERT OR REPLACE INTO closed (policy, until, probe) VALUES (?, ?, ?)";
        self.database
            .execute(insert, &[&policy, &block.until, &block.probe_at])
    }

    pub fn lift_block(&self, policy: RateLimitPolicy) -> HostResult<()> {
        let delete = "DELETE FROM closed WHERE policy = ?";
        self.database.execute(delete, &[&policy])
    }

    pub fn health(&self, policy: RateLimitPolicy) -> HostResult<BudgetHealth> {
        let (block, snapshot) = self.snapshot(&BudgetRequest::of_all(policy), now())?;
        Ok(BudgetHealth {
            limit: snapshot.limit.max,
            left: block.map_or(snapshot.limit.left(), |_| 0),
            blocked_until: block.map(|block| block.until.0),
        })
    }
}

#[cfg(test)]
mod tests;
