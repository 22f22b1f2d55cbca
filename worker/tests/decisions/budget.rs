//! Budgets of upstream requests.

mod fair_share;
mod read_budget;
mod upstream_block;
mod usage;
mod verdict;
mod window;

use quillgate::Policy;
use quillgate_worker::budget::{Ask, Claims, Granted, Refused, Used, Verdict, reserve};

use crate::fixtures::NOW;

const HOUR: u64 = 3_600_000;
const MINUTE: u64 = 60_000;

/// A request of `alice` for one of 100 unused slots an hour.
fn ask() -> Ask {
    Ask {
        policy: Policy::CreateJob,
        limit: 100,
        window: HOUR,
        now: NOW.0,
        caller: "alice".to_owned(),
        quota: None,
        shared: Vec::new(),
        closed_until: None,
        used: Vec::new(),
        claims: Vec::new(),
    }
}

fn used(caller: &str, count: u32, age: u64) -> Used {
    Used {
        caller: caller.to_owned(),
        count,
        oldest: NOW.0 - age,
    }
}

fn claims(caller: &str, count: u32) -> Claims {
    Claims {
        caller: caller.to_owned(),
        count,
    }
}

#[track_caller]
fn expect_grant(ask: &Ask) -> Granted {
    match reserve(ask) {
        Verdict::Granted(granted) => granted,
        Verdict::Refused(refused) => panic!("refused: {}", refused.problem.detail),
    }
}

#[track_caller]
fn expect_refusal(ask: &Ask) -> Refused {
    match reserve(ask) {
        Verdict::Granted(granted) => panic!("granted: {granted:?}"),
        Verdict::Refused(refused) => refused,
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
