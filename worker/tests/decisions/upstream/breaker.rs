use quillgate::{Millis, RateLimitPolicy};
use quillgate_worker::upstream::breaker::CallOutcome::{Answered, Failed};
use quillgate_worker::upstream::breaker::{
    Breakers, CallOutcome, Circuit, MAX_BREAKERS, MAX_FAILURES, State,
};

use crate::fixtures::{NOW, at, summarize};

/// The outcome of a failed creation, without `Retry-After`.
const FAILED: CallOutcome<'static> = failed(None);

const fn failed(target: Option<&str>) -> CallOutcome<'_> {
    Failed {
        target,
        retry_after: None,
    }
}

const fn retry_after(seconds: u64) -> CallOutcome<'static> {
    Failed {
        target: None,
        retry_after: Some(Millis::from_seconds(seconds)),
    }
}

fn circuit(policy: RateLimitPolicy, project: &str) -> Circuit {
    Circuit {
        policy: Some(policy),
        project: project.to_owned(),
    }
}

fn creations() -> Circuit {
    circuit(RateLimitPolicy::CreateJob, "acme")
}

fn state(breakers: &Breakers, now: Millis) -> State {
    breakers.state(&[RateLimitPolicy::CreateJob], Some("acme"), now)
}

/// Returns breakers after [`MAX_FAILURES`] failed creations at [`NOW`].
fn open_breakers() -> Breakers {
    let mut breakers = Breakers::default();
    for _ in 0..MAX_FAILURES {
        breakers.record(&creations(), FAILED, NOW);
    }
    assert_eq!(state(&breakers, NOW), State::Open);
    breakers
}

/// Requests a creation, which the breaker must refuse. Returns the seconds in `Retry-After`.
#[track_caller]
fn expect_refusal(breakers: &mut Breakers, now: Millis) -> u64 {
    let problem = breakers.allow(&creations(), now).unwrap_err();
    assert_eq!(summarize(&problem), "503 upstream-unavailable");
    let [(name, seconds)] = &problem.headers[..] else {
        panic!("{:?}", problem.headers);
    };
    assert_eq!(*name, "retry-after");
    seconds.parse().unwrap()
}

#[test]
fn breaker_opens_after_twenty_failures_without_a_success() {
    let mut breakers = Breakers::default();
    for _ in 0..2 {
        for _ in 1..MAX_FAILURES {
            assert_eq!(breakers.allow(&creations(), NOW), Ok(()));
            breakers.record(&creations(), FAILED, NOW);
            assert_eq!(state(&breakers, NOW), State::Closed);
        }
        breakers.record(&creations(), Answered, NOW);
    }
    for _ in 0..MAX_FAILURES {
        assert_eq!(breakers.allow(&creations(), NOW), Ok(()));
        breakers.record(&creations(), FAILED, NOW);
    }
    assert_eq!(expect_refusal(&mut breakers, NOW), 30);
}

#[test]
fn repeated_failures_of_one_target_count_once() {
    let mut breakers = Breakers::default();
    for count in 0..1000 {
        let target = if count % 2 == 0 { "/job/0" } else { "/job/1" };
        breakers.record(&creations(), failed(Some(target)), NOW);
        assert_eq!(state(&breakers, NOW), State::Closed);
    }
    for job in 2..MAX_FAILURES {
        assert_eq!(state(&breakers, NOW), State::Closed, "{job}");
        breakers.record(&creations(), failed(Some(&format!("/job/{job}"))), NOW);
    }
    assert_eq!(state(&breakers, NOW), State::Open);
}

#[test]
fn open_breaker_refuses_requests_for_thirty_seconds() {
    let mut breakers = open_breakers();
    assert_eq!(expect_refusal(&mut breakers, NOW), 30);
    assert_eq!(expect_refusal(&mut breakers, Millis(NOW.0 + 1)), 30);
    assert_eq!(expect_refusal(&mut breakers, at(10)), 20);
    let end = Millis(at(30).0 - 1);
    assert_eq!(expect_refusal(&mut breakers, end), 1);
    assert_eq!(state(&breakers, end), State::Open);
    assert_eq!(state(&breakers, at(30)), State::Closed);
    assert_eq!(breakers.allow(&creations(), at(30)), Ok(()));
}

#[test]
fn retry_after_extends_the_pause_up_to_five_minutes() {
    for (seconds, pause) in [
        (0, 30),
        (29, 30),
        (31, 31),
        (300, 300),
        (3600, 300),
        (u64::MAX / 1000, 300),
    ] {
        let mut breakers = Breakers::default();
        for _ in 1..MAX_FAILURES {
            breakers.record(&creations(), FAILED, NOW);
        }
        breakers.record(&creations(), retry_after(seconds), NOW);
        assert_eq!(expect_refusal(&mut breakers, NOW), pause, "{seconds}");
        // A later failure without Retry-After does not shorten the pause.
        breakers.record(&creations(), FAILED, NOW);
        assert_eq!(expect_refusal(&mut breakers, NOW), pause, "{seconds}");
    }
}

#[test]
fn one_request_per_pause_passes_as_a_probe() {
    let mut breakers = open_breakers();
    assert_eq!(breakers.allow(&creations(), at(40)), Ok(()));
    assert_eq!(expect_refusal(&mut breakers, at(40)), 30);
    assert_eq!(state(&breakers, at(45)), State::Open);
    // The outcome of the probe is never recorded.
    assert_eq!(expect_refusal(&mut breakers, at(69)), 1);
    assert_eq!(breakers.allow(&creations(), at(70)), Ok(()));
    breakers.record(&creations(), FAILED, at(75));
    assert_eq!(expect_refusal(&mut breakers, at(75)), 30);
}

#[test]
fn success_closes_the_breaker() {
    let mut breakers = open_breakers();
    assert_eq!(breakers.allow(&creations(), at(30)), Ok(()));
    breakers.record(&creations(), Answered, at(31));
    assert_eq!(state(&breakers, at(31)), State::Closed);
    for _ in 1..MAX_FAILURES {
        assert_eq!(breakers.allow(&creations(), at(31)), Ok(()));
        breakers.record(&creations(), FAILED, at(31));
    }
    assert_eq!(breakers.allow(&creations(), at(31)), Ok(()));
}

#[test]
fn failing_reads_and_reports_block_neither_writes_nor_other_projects() {
    for failing in [RateLimitPolicy::ReadJobs, RateLimitPolicy::Analytics] {
        let mut breakers = Breakers::default();
        let failing = circuit(failing, "acme");
        for _ in 0..MAX_FAILURES {
            breakers.record(&failing, FAILED, NOW);
        }
        assert!(breakers.allow(&failing, NOW).is_err());
        for policy in [RateLimitPolicy::CreateJob, RateLimitPolicy::SendMessage] {
            assert_eq!(breakers.allow(&circuit(policy, "acme"), NOW), Ok(()));
        }
        let other = circuit(failing.policy.unwrap(), "other");
        assert_eq!(breakers.allow(&other, NOW), Ok(()));

        let both = [RateLimitPolicy::CreateJob, failing.policy.unwrap()];
        assert_eq!(breakers.state(&both, Some("acme"), NOW), State::Open);
        assert_eq!(breakers.state(&both, None, NOW), State::Open);
        assert_eq!(breakers.state(&both, Some("other"), NOW), State::Closed);
        assert_eq!(state(&breakers, NOW), State::Closed);
    }
}

#[test]
fn new_breaker_replaces_the_one_with_the_oldest_failure() {
    let mut breakers = open_breakers();
    let fail_elsewhere = |breakers: &mut Breakers, from: usize, count: usize| {
        for project in from..from + count {
            let other = circuit(RateLimitPolicy::ReadJobs, &project.to_string());
            breakers.record(&other, FAILED, NOW);
        }
    };
    fail_elsewhere(&mut breakers, 0, MAX_BREAKERS - 1);
    breakers.record(&creations(), FAILED, NOW);
    fail_elsewhere(&mut breakers, MAX_BREAKERS, MAX_BREAKERS - 1);
    assert_eq!(state(&breakers, NOW), State::Open);
    fail_elsewhere(&mut breakers, 2 * MAX_BREAKERS, 1);
    assert_eq!(state(&breakers, NOW), State::Closed);
}
