//! The reservations that count in a budget's window, by caller.

use proptest::prelude::*;
use quillgate::Millis;
use quillgate::RateLimitPolicy;
use quillgate_worker::budget::Used;
use quillgate_worker::budget::usage::Usage;

use crate::fixtures::{NOW, at};

const HOUR: Millis = Millis::from_seconds(3600);

fn used(caller: &str, count: u32, oldest: Millis) -> Used {
    Used {
        caller: caller.to_owned(),
        count,
        oldest: oldest.0,
    }
}

#[test]
fn new_log_has_no_reservations() {
    let mut usage = Usage::new(HOUR);
    for policy in RateLimitPolicy::ALL {
        assert_eq!(usage.summarize(policy, NOW), []);
    }
}

#[test]
fn unsettled_reservation_counts_from_its_latest_instant() {
    let mut usage = Usage::new(HOUR);
    usage.begin(1, RateLimitPolicy::CreateJob, "alice", at(30));
    assert_eq!(
        usage.summarize(RateLimitPolicy::CreateJob, NOW),
        [used("alice", 1, at(30))]
    );
    usage.settle(1, at(2));
    assert_eq!(
        usage.summarize(RateLimitPolicy::CreateJob, at(2)),
        [used("alice", 1, at(2))]
    );
    // A reservation is settled once; later calls have no effect.
    usage.settle(1, at(5));
    usage.release(1);
    assert_eq!(
        usage.summarize(RateLimitPolicy::CreateJob, at(5)),
        [used("alice", 1, at(2))]
    );
}

#[test]
fn reservation_of_a_delayed_request_counts_from_a_later_instant() {
    let mut usage = Usage::new(HOUR);
    usage.begin(1, RateLimitPolicy::CreateJob, "alice", at(30));
    usage.begin(2, RateLimitPolicy::CreateJob, "bob", at(30));
    usage.postpone(1, at(50));
    let both = [used("alice", 1, at(50)), used("bob", 1, at(30))];
    assert_eq!(usage.summarize(RateLimitPolicy::CreateJob, NOW), both);
    usage.settle(1, at(40));
    usage.postpone(1, at(60));
    let both = [used("alice", 1, at(40)), used("bob", 1, at(30))];
    assert_eq!(usage.summarize(RateLimitPolicy::CreateJob, at(40)), both);
}

#[test]
fn released_reservation_no_longer_counts() {
    let mut usage = Usage::new(HOUR);
    usage.begin(1, RateLimitPolicy::CreateJob, "alice", at(30));
    usage.begin(2, RateLimitPolicy::CreateJob, "alice", at(31));
    usage.release(1);
    usage.release(9);
    assert_eq!(
        usage.summarize(RateLimitPolicy::CreateJob, NOW),
        [used("alice", 1, at(31))]
    );
    usage.release(2);
    assert_eq!(usage.summarize(RateLimitPolicy::CreateJob, NOW), []);
    usage.settle(2, at(1));
    assert_eq!(usage.summarize(RateLimitPolicy::CreateJob, at(1)), []);
}

#[test]
fn slot_is_free_one_window_after_its_reservation() {
    let mut usage = Usage::new(HOUR);
    usage.restore(RateLimitPolicy::CreateJob, "alice", NOW);
    usage.restore(RateLimitPolicy::CreateJob, "alice", at(1));
    usage.begin(1, RateLimitPolicy::CreateJob, "alice", at(2));
    for (now, expected) in [
        (Millis(at(3600).0 - 1), Some((3, NOW))),
        (at(3600), Some((2, at(1)))),
        (at(3601), Some((1, at(2)))),
        (at(3602), None),
        (at(9999), None),
    ] {
        let found = usage.summarize(RateLimitPolicy::CreateJob, now);
        let expected = expected.map(|(count, oldest)| used("alice", count, oldest));
        assert_eq!(found, Vec::from_iter(expected), "{now:?}");
    }
}

#[test]
fn oldest_reservation_can_be_settled_or_in_progress() {
    let mut usage = Usage::new(HOUR);
    usage.begin(1, RateLimitPolicy::CreateJob, "alice", at(40));
    usage.begin(2, RateLimitPolicy::CreateJob, "alice", at(30));
    assert_eq!(
        usage.summarize(RateLimitPolicy::CreateJob, NOW),
        [used("alice", 2, at(30))]
    );
    usage.settle(1, at(10));
    assert_eq!(
        usage.summarize(RateLimitPolicy::CreateJob, at(10)),
        [used("alice", 2, at(10))]
    );
    usage.settle(2, at(11));
    assert_eq!(
        usage.summarize(RateLimitPolicy::CreateJob, at(11)),
        [used("alice", 2, at(10))]
    );
}

#[test]
fn policies_and_callers_are_counted_separately() {
    let mut usage = Usage::new(HOUR);
    usage.begin(1, RateLimitPolicy::CreateJob, "alice", at(30));
    usage.begin(2, RateLimitPolicy::CreateJob, "bob", at(31));
    usage.begin(3, RateLimitPolicy::SendMessage, "alice", at(32));
    usage.restore(RateLimitPolicy::CreateJob, "bob", NOW);
    assert_eq!(
        usage.summarize(RateLimitPolicy::CreateJob, NOW),
        [used("alice", 1, at(30)), used("bob", 2, NOW)]
    );
    assert_eq!(
        usage.summarize(RateLimitPolicy::SendMessage, NOW),
        [used("alice", 1, at(32))]
    );
    assert_eq!(usage.summarize(RateLimitPolicy::Analytics, NOW), []);
}

/// A simple model of the log, with one row per reservation.
#[derive(Default)]
struct Model {
    rows: Vec<Row>,
}

#[derive(Clone)]
struct Row {
    id: u64,
    policy: RateLimitPolicy,
    caller: String,
    at: u64,
    is_settled: bool,
}

impl Model {
    fn summarize(&self, policy: RateLimitPolicy, window: u64, now: u64) -> Vec<Used> {
        let mut summary: Vec<Used> = Vec::new();
        let counts = |row: &&Row| row.policy == policy && row.at + window > now;
        for row in self.rows.iter().filter(counts) {
            match summary.iter_mut().find(|used| used.caller == row.caller) {
                Some(used) => {
                    used.count += 1;
                    used.oldest = used.oldest.min(row.at);
                }
                None => summary.push(used(&row.caller, 1, Millis(row.at))),
            }
        }
        summary.sort_by(|a, b| a.caller.cmp(&b.caller));
        summary
    }

    /// Returns the usage that is read from the rows, as after a restart.
    fn restore(&self, window: u64, now: u64) -> Usage {
        let mut rows = self.rows.clone();
        rows.sort_by_key(|row| row.at);
        let mut usage = Usage::new(Millis(window));
        for row in rows {
            if row.at <= now {
                usage.restore(row.policy, &row.caller, Millis(row.at));
            } else {
                usage.begin(row.id, row.policy, &row.caller, Millis(row.at));
            }
        }
        usage
    }
}

fn summarize(usage: &mut Usage, policy: RateLimitPolicy, now: u64) -> Vec<Used> {
    let mut summary = usage.summarize(policy, Millis(now));
    summary.sort_by(|a, b| a.caller.cmp(&b.caller));
    summary
}

#[derive(Debug, Clone)]
enum Step {
    Begin(usize, u8),
    Settle(prop::sample::Index),
    Release(prop::sample::Index),
    Pass(u64),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0..3_usize, 0..3_u8).prop_map(|(policy, caller)| Step::Begin(policy, caller)),
        3 => any::<prop::sample::Index>().prop_map(Step::Settle),
        1 => any::<prop::sample::Index>().prop_map(Step::Release),
        2 => (0..9_000_u64).prop_map(Step::Pass),
    ]
}

/// The maximum duration of a request.
const TIMEOUT: u64 = 5_000;

proptest! {
    #[test]
    fn usage_matches_its_model(
        window in 1..60_000_u64,
        steps in prop::collection::vec(step(), 0..200),
    ) {
        let (mut usage, mut model) = (Usage::new(Millis(window)), Model::default());
        let mut now = NOW.0;
        for (id, step) in (0..).zip(steps) {
            match step {
                Step::Begin(policy, caller) => {
                    let (policy, caller) = (RateLimitPolicy::ALL[policy], format!("c{caller}"));
                    usage.begin(id, policy, &caller, Millis(now + TIMEOUT));
                    let at = now + TIMEOUT;
                    model.rows.push(Row { id, policy, caller, at, is_settled: false });
                }
                Step::Settle(row) if !model.rows.is_empty() => {
                    let row = row.index(model.rows.len());
                    let row = &mut model.rows[row];
                    // No request finishes after its deadline, so such a step has no effect.
                    if !row.is_settled && now <= row.at {
                        (row.at, row.is_settled) = (now, true);
                        usage.settle(row.id, Millis(now));
                    }
                }
                Step::Release(row) if !model.rows.is_empty() => {
                    let row = row.index(model.rows.len());
                    usage.release(model.rows[row].id);
                    if !model.rows[row].is_settled {
                        model.rows.remove(row);
                    }
                }
                Step::Pass(later) => now += later,
                Step::Settle(_) | Step::Release(_) => {}
            }
            for policy in RateLimitPolicy::ALL {
                let expected = model.summarize(policy, window, now);
                prop_assert_eq!(&summarize(&mut usage, policy, now), &expected);
                let mut restored = model.restore(window, now);
                prop_assert_eq!(&summarize(&mut restored, policy, now), &expected);
            }
        }
    }
}
