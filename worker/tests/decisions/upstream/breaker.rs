//! The circuit breaker: opening, trials and recovery.

use proptest::prelude::*;
use quillgate::Millis;
use quillgate::Operation;
use quillgate_worker::upstream::breaker::CallOutcome;
use quillgate_worker::upstream::breaker::CallOutcome::{Answered, Failed};
use quillgate_worker::upstream::breaker::{
    Breaker, Breakers, MAX_BREAKERS, MAX_SUBJECTS, Scope, State,
};

use crate::fixtures::{NOW, at, status_and_kind};

/// A failure without a subject.
const FAILED: CallOutcome<'static> = Failed(None);

const fn outcome(success: bool) -> CallOutcome<'static> {
    if success { Answered } else { FAILED }
}

/// A breaker that opened at [`NOW`].
fn open_breaker() -> Breaker {
    let mut breaker = Breaker::default();
    for _ in 0..20 {
        breaker.record_outcome(FAILED, NOW);
    }
    assert_eq!(breaker.state(NOW), State::Open);
    breaker
}

/// The `Retry-After` seconds of a rejected call.
#[track_caller]
fn expect_refusal(breaker: &mut Breaker, now: Millis) -> String {
    let problem = breaker.allow(now).unwrap_err();
    assert_eq!(status_and_kind(&problem), (503, "upstream-unavailable"));
    let [(name, seconds)] = &problem.headers[..] else {
        panic!("{:?}", problem.headers);
    };
    assert_eq!(*name, "retry-after");
    seconds.clone()
}

#[test]
fn breaker_opens_when_half_of_at_least_twenty_calls_failed() {
    for (successes, failures, state) in [
        (0, 19, State::Closed),
        (0, 20, State::Open),
        (10, 10, State::Open),
        (11, 10, State::Closed),
        (11, 9, State::Closed),
        (100, 99, State::Closed),
        (100, 100, State::Open),
        (1000, 0, State::Closed),
    ] {
        let mut breaker = Breaker::default();
        for _ in 0..successes {
            assert_eq!(breaker.allow(NOW), Ok(()));
            breaker.record_outcome(Answered, NOW);
        }
        for _ in 0..failures {
            assert_eq!(breaker.allow(NOW), Ok(()));
            breaker.record_outcome(FAILED, NOW);
        }
        assert_eq!(breaker.state(NOW), state, "{successes} {failures}");
    }
}

#[test]
fn only_the_last_thirty_seconds_count_towards_opening() {
    for (later, state) in [
        (0, State::Open),
        (26, State::Open),
        (30, State::Closed),
        (90, State::Closed),
    ] {
        let mut breaker = Breaker::default();
        for _ in 0..19 {
            breaker.record_outcome(FAILED, NOW);
        }
        breaker.record_outcome(FAILED, at(later));
        assert_eq!(breaker.state(at(later)), state, "{later}");
    }
    let mut breaker = Breaker::default();
    for second in 0..300 {
        breaker.record_outcome(outcome(second % 2 == 0 && second % 8 != 0), at(2 * second));
        assert_eq!(
            breaker.state(at(2 * second)),
            State::Closed,
            "too few calls at any time"
        );
    }
}

#[test]
fn old_successes_do_not_mask_current_failures() {
    let mut breaker = Breaker::default();
    for _ in 0..1000 {
        breaker.record_outcome(Answered, NOW);
    }
    for _ in 0..20 {
        breaker.record_outcome(FAILED, at(31));
    }
    assert_eq!(breaker.state(at(31)), State::Open);
}

#[test]
fn open_breaker_rejects_for_thirty_seconds_with_retry_after() {
    let mut breaker = open_breaker();
    assert_eq!(expect_refusal(&mut breaker, NOW), "30");
    assert_eq!(expect_refusal(&mut breaker, Millis(NOW.0 + 1)), "30");
    assert_eq!(expect_refusal(&mut breaker, at(10)), "20");
    assert_eq!(expect_refusal(&mut breaker, Millis(at(30).0 - 1)), "1");
    assert_eq!(breaker.state(Millis(at(30).0 - 1)), State::Open);
    assert_eq!(breaker.state(at(30)), State::HalfOpen);
    assert_eq!(breaker.allow(at(30)), Ok(()));
}

#[test]
fn calls_started_before_opening_do_not_change_an_open_breaker() {
    for success in [true, false] {
        let mut breaker = open_breaker();
        breaker.record_outcome(outcome(success), at(5));
        assert_eq!(breaker.state(at(29)), State::Open);
        assert_eq!(expect_refusal(&mut breaker, at(5)), "25");
    }
}

#[test]
fn half_open_breaker_allows_one_trial_at_a_time() {
    let mut breaker = open_breaker();
    assert_eq!(breaker.allow(at(40)), Ok(()));
    assert_eq!(breaker.state(at(40)), State::HalfOpen);
    assert_eq!(expect_refusal(&mut breaker, at(40)), "30");
    assert_eq!(expect_refusal(&mut breaker, at(45)), "25");
    breaker.record_outcome(Answered, at(46));
    assert_eq!(breaker, Breaker::default(), "all is forgiven");
    assert_eq!(breaker.state(at(46)), State::Closed);
    assert_eq!(breaker.allow(at(46)), Ok(()));
}

#[test]
fn failed_trial_doubles_the_wait_up_to_five_minutes() {
    let mut breaker = open_breaker();
    let mut now = at(30);
    for period in [60, 120, 240, 300, 300, 300] {
        assert_eq!(breaker.allow(now), Ok(()));
        breaker.record_outcome(FAILED, now);
        assert_eq!(breaker.state(now), State::Open);
        assert_eq!(expect_refusal(&mut breaker, now), period.to_string());
        now = now.plus(Millis::from_seconds(period));
        assert_eq!(breaker.state(now), State::HalfOpen);
    }
    assert_eq!(breaker.allow(now), Ok(()));
    breaker.record_outcome(Answered, now);
    for _ in 0..20 {
        breaker.record_outcome(FAILED, now);
    }
    assert_eq!(
        expect_refusal(&mut breaker, now),
        "30",
        "after a success from the start"
    );
}

#[test]
fn unreported_trial_is_followed_by_another() {
    let mut breaker = open_breaker();
    assert_eq!(breaker.allow(at(30)), Ok(()));
    assert_eq!(expect_refusal(&mut breaker, Millis(at(60).0 - 1)), "1");
    assert_eq!(breaker.allow(at(60)), Ok(()));
    assert_eq!(expect_refusal(&mut breaker, at(60)), "30");
}

#[test]
fn breaker_is_calm_once_its_failures_expired() {
    let mut breaker = Breaker::default();
    assert!(breaker.is_calm(NOW));
    breaker.record_outcome(Answered, NOW);
    assert!(breaker.is_calm(NOW));
    breaker.record_outcome(FAILED, NOW);
    assert!(!breaker.is_calm(NOW.plus(Millis(26_000))));
    assert!(breaker.is_calm(NOW.plus(Millis(30_000))));
    for _ in 0..20 {
        breaker.record_outcome(FAILED, NOW);
    }
    assert!(!breaker.is_calm(NOW.plus(Millis(600_000))), "it is open");
}

#[test]
fn repeated_failures_of_one_subject_count_once() {
    let mut breaker = Breaker::default();
    for _ in 0..1000 {
        breaker.record_outcome(Failed(Some("/job/1")), NOW);
    }
    for second in 0..30 {
        breaker.record_outcome(Failed(Some("/job/1")), at(second));
        assert_eq!(breaker.state(at(second)), State::Closed);
    }
    let mut breaker = Breaker::default();
    for job in 0..20 {
        assert_eq!(breaker.state(NOW), State::Closed, "{job}");
        breaker.record_outcome(Failed(Some(&format!("/job/{job}"))), NOW);
    }
    assert_eq!(breaker.state(NOW), State::Open);
}

#[test]
fn subject_that_fails_after_thirty_seconds_counts_again() {
    let mut breaker = Breaker::default();
    for job in 0..19 {
        breaker.record_outcome(Failed(Some(&format!("/job/{job}"))), NOW);
    }
    for job in 0..20 {
        breaker.record_outcome(Failed(Some(&format!("/job/{job}"))), at(31));
    }
    assert_eq!(breaker.state(at(31)), State::Open);
}

#[test]
fn failed_trial_counts_for_any_subject() {
    let mut breaker = open_breaker();
    assert_eq!(breaker.allow(at(30)), Ok(()));
    breaker.record_outcome(Failed(Some("/job/1")), at(30));
    assert_eq!(expect_refusal(&mut breaker, at(30)), "60");
}

fn scope(operation: Operation, project: &str) -> Scope {
    Scope {
        operation,
        project: project.to_owned(),
    }
}

#[test]
fn each_operation_of_a_project_has_its_own_breaker() {
    let mut breakers = Breakers::default();
    let reads = scope(Operation::GetAgentJob, "acme");
    for _ in 0..20 {
        breakers.record_outcome(&reads, FAILED, NOW);
    }
    assert!(breakers.allow(&reads, NOW).is_err());
    for other in [
        scope(Operation::CreateAgentJob, "acme"),
        scope(Operation::SendMessage, "acme"),
        scope(Operation::ListPageViews, "acme"),
        scope(Operation::GetAgentJob, "other"),
    ] {
        assert_eq!(breakers.allow(&other, NOW), Ok(()), "{other:?}");
    }
    let jobs = [Operation::CreateAgentJob, Operation::GetAgentJob];
    assert_eq!(breakers.state(&jobs, Some("acme"), NOW), State::Open);
    assert_eq!(breakers.state(&jobs, None, at(30)), State::HalfOpen);
    assert_eq!(breakers.state(&jobs, Some("other"), NOW), State::Closed);
    let views = [Operation::ListPageViews];
    assert_eq!(breakers.state(&views, None, NOW), State::Closed);
}

#[test]
fn only_scopes_with_recent_failures_are_stored() {
    let mut breakers = Breakers::default();
    let jobs = scope(Operation::GetAgentJob, "acme");
    breakers.record_outcome(&jobs, Answered, NOW);
    assert!(breakers.is_empty());
    breakers.record_outcome(&jobs, FAILED, NOW);
    breakers.record_outcome(&jobs, Answered, at(1));
    assert_eq!(breakers.len(), 1);
    breakers.record_outcome(&jobs, Answered, at(31));
    assert!(breakers.is_empty());
}

#[test]
fn number_of_breakers_is_bounded_and_open_ones_stay() {
    let mut breakers = Breakers::default();
    let open = scope(Operation::GetAgentJob, "open");
    for _ in 0..20 {
        breakers.record_outcome(&open, FAILED, NOW);
    }
    for project in 0..3 * MAX_BREAKERS {
        let other = scope(Operation::GetAgentJob, &project.to_string());
        breakers.record_outcome(&other, FAILED, NOW);
        assert!(breakers.len() <= MAX_BREAKERS);
    }
    assert!(breakers.allow(&open, NOW).is_err());
    for project in 0..2 {
        let later = scope(Operation::GetAgentJob, &format!("later-{project}"));
        breakers.record_outcome(&later, FAILED, at(40));
    }
    assert_eq!(breakers.len(), 3, "those that are calm have made room");
}

#[test]
fn breaker_state_names_are_stable() {
    for (state, name) in [
        (State::Closed, "closed"),
        (State::Open, "open"),
        (State::HalfOpen, "half-open"),
    ] {
        assert_eq!(state.as_str(), name);
        assert_eq!(serde_json::to_value(state).unwrap(), name);
        assert_eq!(State::from_name(name), Some(state));
    }
    assert_eq!(State::from_name("half_open"), None);
}

proptest! {
    #[test]
    fn breaker_size_is_bounded(calls in prop::collection::vec((0..5_000_u64, any::<bool>()), 0..300)) {
        let mut breaker = Breaker::default();
        let mut now = NOW;
        for (later, success) in calls {
            now = now.plus(Millis(later));
            if breaker.allow(now).is_ok() {
                breaker.record_outcome(outcome(success), now);
            }
            // Ten steps of three numbers, or three numbers.
            let memory = format!("{breaker:?}");
            prop_assert!(memory.len() < 920, "{}", memory);
        }
    }

    #[test]
    fn breaker_size_is_bounded_for_any_failures(jobs in prop::collection::vec(0..200_u32, 0..300)) {
        let mut breaker = Breaker::default();
        for job in jobs {
            // Enough successes keep the breaker closed.
            breaker.record_outcome(Answered, NOW);
            breaker.record_outcome(Answered, NOW);
            breaker.record_outcome(Failed(Some(&job.to_string())), NOW);
            let kept = format!("{breaker:?}").matches('(').count();
            prop_assert!(kept <= MAX_SUBJECTS, "{}", kept);
        }
    }

    #[test]
    fn breaker_always_allows_a_call_after_five_minutes(calls in prop::collection::vec((0..60_000_u64, any::<bool>(), any::<bool>()), 0..100)) {
        let mut breaker = Breaker::default();
        let mut now = NOW;
        for (later, success, reports) in calls {
            now = now.plus(Millis(later));
            if breaker.allow(now).is_ok() && reports {
                breaker.record_outcome(outcome(success), now);
            }
        }
        prop_assert_eq!(breaker.allow(now.plus(Millis(300_000))), Ok(()));
    }
}
