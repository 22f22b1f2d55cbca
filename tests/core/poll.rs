use quillgate::poll::{FIRST_INTERVAL, MAX_FAILURES, MAX_INTERVAL, UNKNOWN_INTERVAL};
use quillgate::{JobStatus, Millis, Poll, PollStep, Progress};

const START: Millis = Millis(1_700_000_000_000);
const ACTIVE: Progress = Progress::Running;

fn wait(millis: u64) -> PollStep {
    PollStep::Wait(Millis(millis))
}

fn endless() -> Poll {
    Poll::new(START, None)
}

fn later(millis: u64) -> Millis {
    START.plus(Millis(millis))
}

#[test]
fn the_interval_grows_by_half_from_2_s_to_30_s() {
    let mut poll = endless();
    let schedule = [
        2_000, 3_000, 4_500, 6_750, 10_125, 15_187, 22_780, 30_000, 30_000, 30_000,
    ];
    for expected in schedule {
        assert_eq!(poll.on_progress(ACTIVE, None, START, 0.0), wait(expected));
    }
    let found = (FIRST_INTERVAL, MAX_INTERVAL);
    assert_eq!(found, (Millis(2_000), Millis(30_000)));
}

#[test]
fn jitter_adds_up_to_a_quarter_and_never_exceeds_30_s() {
    let mut poll = endless();
    for expected in [
        2_500, 3_750, 5_625, 8_437, 12_656, 18_983, 28_475, 30_000, 30_000,
    ] {
        assert_eq!(poll.on_progress(ACTIVE, None, START, 1.0), wait(expected));
    }
    assert_eq!(endless().on_progress(ACTIVE, None, START, 0.5), wait(2_250));
}

#[test]
fn a_random_number_that_is_nan_does_not_cause_a_hot_loop() {
    let found = endless().on_progress(ACTIVE, None, START, f64::NAN);
    assert_eq!(found, wait(2_000));
    assert_eq!(endless().on_failure(None, START, f64::NAN), wait(2_000));
}

#[test]
fn a_terminal_status_ends_polling_after_the_deadline_and_despite_a_hint() {
    let hint = Some(Millis(60_000));
    let mut poll = Poll::new(START, Some(Millis(1_000)));
    let found = poll.on_progress(Progress::Finished, hint, later(5_000), 0.0);
    assert_eq!(found, PollStep::Done);
}

#[test]
fn the_interval_after_an_unknown_or_missing_status_is_at_least_5_s() {
    assert_eq!(UNKNOWN_INTERVAL, Millis(5_000));
    let queued = JobStatus::Other("queued".into());
    for progress in [
        JobStatus::progress(Some(&queued)),
        JobStatus::progress(None),
    ] {
        let mut poll = endless();
        for expected in [5_000, 5_000, 5_000, 6_750, 10_125] {
            assert_eq!(poll.on_progress(progress, None, START, 0.0), wait(expected));
        }
    }
}

#[test]
fn the_interval_is_never_shorter_than_a_hint() {
    for (hint, expected) in [
        (0, 2_000),
        (1_999, 2_000),
        (2_001, 2_001),
        (45_000, 45_000),
        (u64::MAX, u64::MAX),
    ] {
        let hint = Some(Millis(hint));
        let found = endless().on_progress(ACTIVE, hint, START, 0.0);
        assert_eq!(found, wait(expected));
        assert_eq!(endless().on_failure(hint, START, 0.0), wait(expected));
    }
    let found = endless().on_progress(Progress::Unknown, Some(Millis(4_000)), START, 0.0);
    assert_eq!(found, wait(5_000));
    let found = endless().on_progress(Progress::Unknown, Some(Millis(6_000)), START, 0.0);
    assert_eq!(found, wait(6_000));
}

#[test]
fn the_last_poll_is_at_the_deadline() {
    let mut poll = Poll::new(START, Some(Millis(10_000)));
    assert_eq!(poll.on_progress(ACTIVE, None, START, 0.0), wait(2_000));
    let expected = wait(1_000);
    assert_eq!(poll.on_progress(ACTIVE, None, later(9_000), 0.0), expected);
    assert_eq!(poll.on_progress(ACTIVE, None, later(9_999), 0.0), wait(1));
    let expected = PollStep::Expired;
    assert_eq!(poll.on_progress(ACTIVE, None, later(10_000), 0.0), expected);
}

#[test]
fn a_hint_beyond_the_deadline_is_cut_to_the_deadline() {
    let hint = Some(Millis(u64::MAX));
    let mut poll = Poll::new(START, Some(Millis(10_000)));
    let expected = wait(6_000);
    assert_eq!(poll.on_progress(ACTIVE, hint, later(4_000), 0.0), expected);
    assert_eq!(poll.on_failure(hint, later(9_000), 0.0), wait(1_000));
    let expected = PollStep::Expired;
    assert_eq!(poll.on_progress(ACTIVE, hint, later(10_000), 0.0), expected);
}

#[test]
fn polling_stays_expired_after_the_deadline() {
    let mut poll = Poll::new(START, Some(Millis(10_000)));
    for millis in [10_000, 10_001, 1_000_000] {
        let expected = PollStep::Expired;
        assert_eq!(poll.on_progress(ACTIVE, None, later(millis), 1.0), expected);
        let found = poll.on_progress(Progress::Unknown, None, later(millis), 1.0);
        assert_eq!(found, PollStep::Expired);
    }
    assert_eq!(poll.on_failure(None, later(10_000), 0.0), PollStep::Expired);
}

#[test]
fn the_fifth_failed_poll_in_a_row_gives_up() {
    assert_eq!(MAX_FAILURES, 5);
    let mut poll = endless();
    for expected in [2_000, 3_000, 4_500, 6_750] {
        assert_eq!(poll.on_failure(None, START, 0.0), wait(expected));
    }
    assert_eq!(poll.on_failure(None, START, 0.0), PollStep::GiveUp);
}

#[test]
fn a_successful_poll_resets_the_failure_count() {
    let mut poll = endless();
    for progress in [ACTIVE, Progress::Unknown, ACTIVE, ACTIVE] {
        for _ in 0..4 {
            let step = poll.on_failure(None, START, 0.0);
            assert!(matches!(step, PollStep::Wait(_)));
        }
        let step = poll.on_progress(progress, None, START, 0.0);
        assert!(matches!(step, PollStep::Wait(_)));
    }
}

#[test]
fn a_streamed_state_leaves_the_decision_at_the_deadline_to_a_last_poll() {
    let mut poll = Poll::new(START, Some(Millis(1_000)));
    assert_eq!(poll.on_event(ACTIVE, later(5_000), 0.0), wait(0));
    let found = poll.on_event(Progress::Finished, later(5_000), 0.0);
    assert_eq!(found, PollStep::Done);
    let expected = PollStep::Expired;
    assert_eq!(poll.on_progress(ACTIVE, None, later(5_000), 0.0), expected);
}
