use proptest::prelude::*;
use quillgate_worker::budget::{BudgetSnapshot, Granted, LimitUsage, decide};
use quillgate_worker::http::problem::Problem;

use super::{HOUR, retry_after, snapshot};
use crate::fixtures::NOW;

/// A simulated budget.
#[derive(Default)]
struct Log {
    limit: u32,
    window: u64,
    now: u64,
    rows: Vec<Row>,
    /// For each ended request, the time at which the upstream counted the request and the time at
    /// which the request ended.
    counted: Vec<(u64, u64)>,
}

struct Row {
    at: u64,
    /// The time at which the request was sent. `None` once the request has ended.
    since: Option<u64>,
}

const TIMEOUT: u64 = 30_000;

impl Log {
    fn new(limit: u32, window: u64) -> Self {
        Self {
            limit,
            window,
            now: NOW.0,
            ..Self::default()
        }
    }

    fn snapshot(&self) -> BudgetSnapshot {
        let held = self.rows.iter().map(|row| row.at);
        let held = held.filter(|at| at + self.window > self.now);
        BudgetSnapshot {
            window: self.window,
            now: self.now,
            limit: LimitUsage {
                max: self.limit,
                count: u32::try_from(held.clone().count()).unwrap(),
                oldest: held.min(),
            },
            ..snapshot()
        }
    }

    /// Sends a request if the budget allows it, and adds its row.
    fn request(&mut self) -> Result<Granted, Problem> {
        let decision = decide(&self.snapshot());
        if decision.is_ok() {
            self.rows.push(Row {
                at: self.now + TIMEOUT,
                since: Some(self.now),
            });
        }
        decision
    }

    /// Ends the request in row `row`.
    fn settle(&mut self, row: usize, part: u64) {
        if let Some(since) = self.rows[row].since.take() {
            let took = (self.now - since) * part / 1000;
            self.rows[row].at = self.now;
            self.counted.push((since + took, self.now));
        }
    }

    /// Sends a request that succeeds immediately, if the budget allows it.
    fn request_and_settle(&mut self) -> Result<Granted, Problem> {
        let decision = self.request();
        if decision.is_ok() {
            self.settle(self.rows.len() - 1, 0);
        }
        decision
    }

    fn is_granted(&mut self) -> bool {
        self.request_and_settle().is_ok()
    }

    /// Advances the clock by `later` milliseconds, and ends the requests whose timeout passes.
    fn pass(&mut self, later: u64, part: u64) {
        let end = self.now + later;
        let due = |(at, row): (usize, &Row)| Some((row.since? + TIMEOUT, at));
        let next = |rows: &[Row]| rows.iter().enumerate().filter_map(due).min();
        while let Some((at, row)) = next(&self.rows).filter(|(at, _)| *at <= end) {
            self.now = at;
            self.settle(row, part);
        }
        self.now = end;
    }
}

/// Returns the maximum number of `instants` in any window of `window` milliseconds.
fn max_in_a_window(mut instants: Vec<u64>, window: u64) -> usize {
    instants.sort_unstable();
    let held = |end: &u64| {
        let held = instants.iter().filter(|at| *at <= end);
        held.filter(|at| **at + window > *end).count()
    };
    instants.iter().map(held).max().unwrap_or_default()
}

#[test]
fn simultaneous_requests_are_granted_exactly_up_to_the_limit() {
    let mut log = Log::new(100, HOUR);
    let decisions: Vec<_> = (0..300).map(|_| log.request()).collect();
    let granted = decisions.iter().filter(|decision| decision.is_ok());
    assert_eq!(granted.count(), 100);
    for decision in decisions.iter().skip(100) {
        let refused = decision.as_ref().expect_err("a refusal");
        assert_eq!(retry_after(refused), 3630);
    }
}

#[test]
fn window_boundary_never_exceeds_the_limit() {
    let mut log = Log::new(100, HOUR);
    for _ in 0..50 {
        assert!(log.is_granted());
    }
    log.pass(HOUR - 1, 0);
    let at_the_end = (0..300).filter(|_| log.is_granted()).count();
    log.pass(1, 0);
    let at_the_start = (0..300).filter(|_| log.is_granted()).count();
    assert_eq!((at_the_end, at_the_start), (50, 50));
}

#[derive(Debug, Clone)]
enum Step {
    Request,
    Pass(u64),
    Settle(prop::sample::Index, u64),
    /// Ends a request that the upstream did not count, because it responded 401, 403 or 429.
    Release(prop::sample::Index),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => Just(Step::Request),
        2 => (0..20_000_u64).prop_map(Step::Pass),
        2 => (any::<prop::sample::Index>(), 0..=1000_u64).prop_map(|(row, part)| Step::Settle(row, part)),
        1 => any::<prop::sample::Index>().prop_map(Step::Release),
    ]
}

proptest! {
    #[test]
    fn no_window_ever_exceeds_the_limit(
        limit in 1..8_u32,
        window in 1_000..60_000_u64,
        steps in prop::collection::vec(step(), 0..200),
    ) {
        let mut log = Log::new(limit, window);
        for step in steps {
            match step {
                Step::Request => {
                    let decision = log.request();
                    let held = log.snapshot().limit.count;
                    prop_assert!(held <= limit);
                    if let Ok(granted) = decision {
                        prop_assert_eq!(granted.left, limit - held);
                    }
                }
                Step::Pass(later) => log.pass(later, 1000),
                Step::Settle(row, part) if !log.rows.is_empty() => {
                    let row = row.index(log.rows.len());
                    log.settle(row, part);
                }
                Step::Release(row) if !log.rows.is_empty() => {
                    let row = row.index(log.rows.len());
                    if log.rows[row].since.is_some() {
                        log.rows.remove(row);
                    }
                }
                _ => {}
            }
        }
        log.pass(TIMEOUT, 500);
        let by_the_upstream = log.counted.iter().map(|(counted, _)| *counted).collect();
        prop_assert!(max_in_a_window(by_the_upstream, window) <= limit as usize);
        let by_the_log = log.counted.iter().map(|(_, at)| *at).collect();
        prop_assert!(max_in_a_window(by_the_log, window) <= limit as usize);
    }
}
