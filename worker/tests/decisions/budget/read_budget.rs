use quillgate::{Millis, RateLimitPolicy};
use quillgate_worker::budget::read_budget::{MAX_CALLERS, ReadBudget};
use quillgate_worker::budget::reservation::BudgetRequest;
use quillgate_worker::budget::{Ceiling, Granted};
use quillgate_worker::http::problem::Problem;

use crate::fixtures::{NOW, at, summarize};

const WINDOW: Millis = Millis(3_600_000);

fn reader(name: &str, quota: Option<u32>) -> BudgetRequest {
    BudgetRequest {
        policy: RateLimitPolicy::ReadJobs,
        caller: name.to_owned(),
        quota,
        ceilings: Vec::new(),
    }
}

/// Reserves a read, and returns the grant. The limit is 5 reads per caller and hour.
fn reserve(
    reads: &mut ReadBudget,
    reader: &BudgetRequest,
    now: Millis,
) -> Result<Granted, Problem> {
    reads.reserve(reader, 5, WINDOW, now)
}

/// Reserves a read, and returns the `RateLimit` value of the grant.
#[track_caller]
fn expect_granted(reads: &mut ReadBudget, reader: &BudgetRequest, now: Millis) -> String {
    let fields = reserve(reads, reader, now).unwrap().fields;
    fields.get("ratelimit").unwrap().to_owned()
}

/// Attempts a read, which must be refused. Returns `Retry-After` and the first violated policy.
#[track_caller]
fn expect_refused(reads: &mut ReadBudget, reader: &BudgetRequest, now: Millis) -> (String, String) {
    let problem = reserve(reads, reader, now).expect_err("a refusal");
    assert_eq!(summarize(&problem), "429 quota-exceeded");
    let names: Vec<_> = problem.headers.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, ["retry-after", "ratelimit-policy", "ratelimit"]);
    let violated = problem.members["violated-policies"][0].as_str().unwrap();
    (problem.headers[0].1.clone(), violated.to_owned())
}

#[test]
fn caller_can_read_up_to_the_limit_and_then_waits() {
    let mut reads = ReadBudget::default();
    let alice = reader("acme alice", None);
    for left in (0..5).rev() {
        let said = expect_granted(&mut reads, &alice, NOW);
        let begins = format!("\"read-jobs\";r={left};t=");
        assert!(said.starts_with(&begins), "{said}");
    }
    let (wait, violated) = expect_refused(&mut reads, &alice, NOW);
    assert_eq!(violated, "read-jobs");
    let wait: u64 = wait.parse().unwrap();
    assert!((3600..=3660).contains(&wait), "{wait}");
    expect_refused(&mut reads, &alice, at(wait - 1));
    expect_granted(&mut reads, &alice, at(wait));
}

#[test]
fn each_caller_has_its_own_read_budget() {
    let mut reads = ReadBudget::default();
    for name in ["acme alice", "acme bob", "other alice"] {
        for _ in 0..5 {
            expect_granted(&mut reads, &reader(name, None), NOW);
        }
        expect_refused(&mut reads, &reader(name, None), NOW);
    }
}

#[test]
fn token_quota_is_a_ceiling_and_zero_rejects_all_reads() {
    let mut reads = ReadBudget::default();
    let few = reader("few", Some(2));
    for _ in 0..2 {
        expect_granted(&mut reads, &few, NOW);
    }
    let (_, violated) = expect_refused(&mut reads, &few, NOW);
    assert_eq!(violated, "read-jobs-caller");
    for _ in 0..300 {
        expect_refused(&mut reads, &reader("none", Some(0)), NOW);
    }
}

fn ceiling(name: &str, max: u32) -> Ceiling {
    let name = name.to_owned();
    Ceiling { name, max }
}

/// Returns the budget request of a caller with a shared ceiling of 3 reads.
fn sharing(name: &str, quota: Option<u32>) -> BudgetRequest {
    BudgetRequest {
        ceilings: vec![ceiling("rule", 3)],
        ..reader(name, quota)
    }
}

#[test]
fn refused_reads_do_not_count_towards_a_shared_ceiling() {
    let mut reads = ReadBudget::default();
    let greedy = sharing("greedy", Some(1));
    expect_granted(&mut reads, &greedy, NOW);
    for _ in 0..100 {
        let (_, violated) = expect_refused(&mut reads, &greedy, NOW);
        assert_eq!(violated, "read-jobs-caller");
    }
    let fields = expect_granted(&mut reads, &sharing("other", None), NOW);
    assert!(fields.contains("\"read-jobs-rule\";r=1;t="), "{fields}");
}

#[test]
fn reads_refused_by_a_shared_ceiling_do_not_count_towards_any_limit() {
    let mut reads = ReadBudget::default();
    for _ in 0..3 {
        expect_granted(&mut reads, &sharing("alice", None), NOW);
    }
    for _ in 0..100 {
        let (_, violated) = expect_refused(&mut reads, &sharing("bob", None), NOW);
        assert_eq!(violated, "read-jobs-rule");
    }
    let fields = expect_granted(&mut reads, &reader("bob", None), NOW);
    assert!(fields.starts_with("\"read-jobs\";r=4;"), "{fields}");
}

#[test]
fn shared_ceiling_may_exceed_the_limit_of_one_caller() {
    let mut reads = ReadBudget::default();
    let sharing = |name| BudgetRequest {
        ceilings: vec![ceiling("rule", 7)],
        ..reader(name, None)
    };
    for name in ["alice", "alice", "alice", "alice", "alice", "bob", "bob"] {
        expect_granted(&mut reads, &sharing(name), NOW);
    }
    let (_, violated) = expect_refused(&mut reads, &sharing("bob"), NOW);
    assert_eq!(violated, "read-jobs-rule");
}

#[test]
fn read_counts_towards_every_ceiling_or_none() {
    let mut reads = ReadBudget::default();
    let with_second = |max| {
        let mut reader = sharing("alice", None);
        reader.ceilings.push(ceiling("second", max));
        reader
    };
    expect_granted(&mut reads, &with_second(1), NOW);
    expect_refused(&mut reads, &with_second(1), NOW);
    expect_granted(&mut reads, &with_second(9), NOW);
    expect_granted(&mut reads, &with_second(9), NOW);
    expect_refused(&mut reads, &with_second(9), NOW);
}

#[test]
fn number_of_counted_callers_is_bounded() {
    let mut reads = ReadBudget::default();
    let alice = reader("alice", None);
    for other in 0..5 * MAX_CALLERS / 2 {
        if other % (MAX_CALLERS / 2) == 0 {
            expect_granted(&mut reads, &alice, NOW);
        }
        expect_granted(&mut reads, &reader(&other.to_string(), None), NOW);
    }
    expect_refused(&mut reads, &alice, NOW);
    // Enough new callers evict an idle caller, which then starts with a full budget.
    for other in 0..MAX_CALLERS {
        expect_granted(&mut reads, &reader(&format!("new {other}"), None), NOW);
    }
    expect_granted(&mut reads, &alice, NOW);
}
