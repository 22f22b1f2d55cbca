use quillgate::declaration::Repeat;
use quillgate::retry::{DEFAULT_PATIENCE, DEFAULT_RETRIES, MAX_RETRY_AFTER};
use quillgate::{Failure, Idempotency, Millis, Operation, Retry};
use serde_json::json;

const BUSY: Failure = Failure::Status(503);
const TRANSIENT: [Failure; 4] = [
    BUSY,
    Failure::Status(429),
    Failure::Connection,
    Failure::Timeout,
];

fn tenths(count: u64) -> Millis {
    Millis(count * 100)
}

#[test]
fn the_delay_doubles_from_half_a_second_to_8_s() {
    let mut retry = Retry::new(Idempotency::Idempotent, 8);
    for delay in [5, 10, 20, 40, 80, 80, 80, 80] {
        assert_eq!(retry.after(BUSY, None, 0.0), Some(tenths(delay)));
    }
    assert_eq!(retry.after(BUSY, None, 0.0), None);
}

#[test]
fn jitter_shortens_the_delay_by_up_to_a_quarter() {
    let mut retry = Retry::new(Idempotency::Idempotent, 6);
    for expected in [375, 750, 1_500, 3_000, 6_000, 6_000] {
        assert_eq!(retry.after(BUSY, None, 1.0), Some(Millis(expected)));
    }
}

#[test]
fn an_out_of_range_random_number_is_clamped() {
    for (jitter, expected) in [
        (-0.1, 500),
        (f64::NEG_INFINITY, 500),
        (1.1, 375),
        (f64::INFINITY, 375),
        (f64::NAN, 500),
    ] {
        let delay = Retry::new(Idempotency::Idempotent, 1).after(BUSY, None, jitter);
        assert_eq!(delay, Some(Millis(expected)), "{jitter}");
    }
}

#[test]
fn only_transient_failures_are_retried() {
    for status in 0..=1000 {
        let is_transient = status == 408 || status == 429 || (500..600).contains(&status);
        let failure = Failure::Status(status);
        assert_eq!(failure.is_transient(), is_transient, "{status}");
        let delay = Retry::new(Idempotency::Idempotent, 1).after(failure, None, 0.0);
        assert_eq!(delay.is_some(), is_transient, "{status}");
    }
    for failure in [Failure::Connection, Failure::Timeout] {
        assert!(failure.is_transient());
        let found = Retry::new(Idempotency::Idempotent, 1).after(failure, None, 0.0);
        assert_eq!(found, Some(tenths(5)));
    }
}

#[test]
fn a_request_that_is_not_idempotent_is_never_retried() {
    for failure in TRANSIENT {
        for hint in [None, Some(Millis(0)), Some(Millis(1_000))] {
            let mut retry = Retry::new(Idempotency::NonIdempotent, 10);
            assert_eq!(retry.after(failure, hint, 0.0), None);
            assert_eq!(retry.done(), 0);
        }
    }
}

#[test]
fn a_request_with_an_idempotency_key_is_retried_like_a_read() {
    for failure in TRANSIENT {
        let delay = Retry::new(Idempotency::WithKey, 1).after(failure, None, 0.0);
        assert_eq!(delay, Some(tenths(5)));
        let expected = Retry::new(Idempotency::Idempotent, 1).after(failure, None, 0.0);
        assert_eq!(delay, expected);
    }
}

#[test]
fn writes_at_mintlify_must_not_be_repeated_without_a_key() {
    let keyed: Vec<_> = Operation::ALL
        .iter()
        .map(|operation| operation.declaration())
        .filter(|declared| declared.repeat != Repeat::Safe)
        .map(|declared| (declared.name, declared.repeat))
        .collect();
    let expected = [
        "agentJobs.create",
        "agentJobs.sendMessage",
        "deployments.create",
        "previews.create",
        "automations.run",
    ];
    assert_eq!(keyed, expected.map(|name| (name, Repeat::Keyed)));
}

#[test]
fn a_request_is_retried_up_to_the_configured_maximum() {
    assert_eq!(DEFAULT_RETRIES, 2);
    for retries in 0..=10 {
        let mut retry = Retry::new(Idempotency::Idempotent, retries);
        for done in 0..retries {
            assert_eq!(retry.done(), done);
            assert!(retry.after(Failure::Connection, None, 0.5).is_some());
        }
        for _ in 0..3 {
            assert_eq!(retry.after(Failure::Connection, None, 0.5), None);
            assert_eq!(retry.done(), retries);
        }
    }
}

#[test]
fn retry_after_replaces_the_delay_without_jitter() {
    for hint in [0, 1, 400, 9_000, 60_000] {
        let delay = Retry::new(Idempotency::Idempotent, 1).after(BUSY, Some(Millis(hint)), 1.0);
        assert_eq!(delay, Some(Millis(hint)));
    }
}

#[test]
fn a_retry_after_over_a_minute_is_not_retried() {
    assert_eq!(MAX_RETRY_AFTER, Millis(60_000));
    for hint in [60_001, 3_600_000, u64::MAX] {
        let mut retry = Retry::new(Idempotency::Idempotent, 2);
        let found = retry.after(Failure::Status(429), Some(Millis(hint)), 0.0);
        assert_eq!(found, None);
        assert_eq!(retry.done(), 0);
    }
}

#[test]
fn a_retry_after_still_advances_the_schedule() {
    let mut retry = Retry::new(Idempotency::Idempotent, 3);
    assert_eq!(retry.after(BUSY, Some(Millis(100)), 0.0), Some(tenths(1)));
    assert_eq!(retry.after(BUSY, None, 0.0), Some(tenths(10)));
}

#[test]
fn retry_after_does_not_make_a_permanent_failure_transient() {
    let hint = Some(Millis(1_000));
    for status in [400, 401, 403, 404, 409, 413] {
        let mut retry = Retry::new(Idempotency::Idempotent, 2);
        let found = retry.after(Failure::Status(status), hint, 0.0);
        assert_eq!(found, None, "{status}");
    }
}

#[test]
fn a_refused_key_plan_or_project_of_the_gateway_is_not_retried() {
    for kind in ["credential", "plan", "project"] {
        let problem = json!({ "type": format!("/problems/upstream-{kind}"), "status": 502 });
        let failure = Failure::of_answer(502, &problem);
        assert!(!failure.is_transient());
        let mut retry = Retry::new(Idempotency::Idempotent, 2);
        assert_eq!(retry.after(failure, None, 0.5), None);
    }
    // Other problems with the same status are transient.
    let other = json!({ "type": "/problems/upstream-blocked", "status": 502 });
    assert!(Failure::of_answer(502, &other).is_transient());
}

const RUNNING: Failure = Failure::StillRunning;

#[test]
fn a_running_request_is_polled_for_a_minute_without_using_up_retries() {
    assert_eq!(DEFAULT_PATIENCE, Millis(60_000));
    let mut retry = Retry::new(Idempotency::WithKey, 1);
    for _ in 0..60 {
        let expected = Some(tenths(10));
        assert_eq!(retry.after(RUNNING, Some(Millis(1_000)), 0.5), expected);
    }
    assert_eq!(retry.after(RUNNING, Some(Millis(1_000)), 0.5), None);
    assert_eq!(retry.done(), 0);
    assert_eq!(retry.after(BUSY, None, 0.0), Some(tenths(5)));
}

#[test]
fn a_running_request_is_polled_after_the_hint_and_at_least_a_second() {
    for (hint, expected) in [
        (None, 10),
        (Some(0), 10),
        (Some(400), 10),
        (Some(7_000), 70),
    ] {
        let mut retry = Retry::new(Idempotency::WithKey, 1);
        let delay = retry.after(RUNNING, hint.map(Millis), 1.0);
        assert_eq!(delay, Some(tenths(expected)), "{hint:?}");
    }
}

#[test]
fn a_running_request_is_polled_no_longer_than_the_given_patience() {
    let mut retry = Retry::new(Idempotency::WithKey, 2).with_patience(Millis(7_500));
    let hint = Some(Millis(3_000));
    assert_eq!(retry.after(RUNNING, hint, 0.0), hint);
    assert_eq!(retry.after(RUNNING, hint, 0.0), hint);
    assert_eq!(retry.after(RUNNING, hint, 0.0), None);
    assert_eq!(retry.after(RUNNING, None, 0.0), Some(tenths(10)));
    assert_eq!(retry.after(RUNNING, None, 0.0), None);
    let mut hasty = Retry::new(Idempotency::WithKey, 2).with_patience(Millis(999));
    assert_eq!(hasty.after(RUNNING, None, 0.0), None);
}

#[test]
fn a_running_request_is_not_polled_where_nothing_is_retried() {
    for mut retry in [
        Retry::new(Idempotency::WithKey, 0),
        Retry::new(Idempotency::NonIdempotent, 2),
    ] {
        assert_eq!(retry.after(RUNNING, Some(Millis(1_000)), 0.0), None);
    }
    let long = Some(Millis(60_001));
    let mut patient = Retry::new(Idempotency::WithKey, 2).with_patience(Millis(u64::MAX));
    assert_eq!(patient.after(RUNNING, long, 0.0), None);
}
