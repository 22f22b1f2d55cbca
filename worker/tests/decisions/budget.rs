//! Tests of the budgets for upstream requests.

mod decision;
mod read_budget;
mod upstream_block;
mod usage;
mod window;

use quillgate::RateLimitPolicy;
use quillgate_worker::budget::{
    BudgetSnapshot, CeilingUsage, Decision, Granted, Refused, Used, decide,
};

use crate::fixtures::NOW;

const HOUR: u64 = 3_600_000;
const MINUTE: u64 = 60_000;

/// A request of `alice` under an unused limit of 100 an hour.
fn snapshot() -> BudgetSnapshot {
    BudgetSnapshot {
        policy: RateLimitPolicy::CreateJob,
        limit: 100,
        window: HOUR,
        now: NOW.0,
        quota: None,
        ceilings: Vec::new(),
        blocked_until: None,
        used: Vec::new(),
    }
}

fn used(caller: &str, count: u32, age: u64) -> Used {
    Used {
        caller: caller.to_owned(),
        count,
        oldest: NOW.0 - age,
    }
}

/// The use of a quota or a ceiling.
fn usage(max: u32, count: u32, age: u64) -> CeilingUsage {
    CeilingUsage {
        max,
        count,
        oldest: (count > 0).then_some(NOW.0 - age),
    }
}

#[track_caller]
fn expect_grant(snapshot: &BudgetSnapshot) -> Granted {
    match decide(snapshot) {
        Decision::Granted(granted) => granted,
        Decision::Refused(refused) => panic!("refused: {}", refused.problem.detail),
    }
}

#[track_caller]
fn expect_refusal(snapshot: &BudgetSnapshot) -> Refused {
    match decide(snapshot) {
        Decision::Granted(granted) => panic!("granted: {granted:?}"),
        Decision::Refused(refused) => refused,
    }
}

fn header<'a>(refused: &'a Refused, name: &str) -> &'a str {
    let found = refused
        .problem
        .headers
        .iter()
        .find(|(other, _)| *other == name);
    found.map(|(_, value)| value.as_str()).unwrap()
}

fn retry_after(refused: &Refused) -> u64 {
    header(refused, "retry-after").parse().unwrap()
}
