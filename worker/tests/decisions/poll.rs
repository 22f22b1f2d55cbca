//! When a job is polled, and when it counts as finished or lost.

use quillgate::Millis;
use quillgate_worker::jobs::poll::{
    Audience, CREATION_DELAY, Known, LONGEST_PAUSE, LOST_AFTER, UNWATCHED_PAUSE, compute_pause,
    is_finished, is_lost, is_past_creation, is_poll_due,
};

use crate::fixtures::{NOW, at};

const INTERVAL: Millis = Millis::from_seconds(5);

#[test]
fn the_times_are_as_documented() {
    assert_eq!(LONGEST_PAUSE, Millis(60_000));
    assert_eq!(CREATION_DELAY, Millis(60_000));
    assert_eq!(LOST_AFTER, Millis(900_000));
    assert_eq!(UNWATCHED_PAUSE, Millis(15_000));
}

#[test]
fn the_pause_doubles_with_each_failure_up_to_a_minute() {
    for (failures, watched, unwatched) in [
        (0, 5, 15),
        (1, 10, 30),
        (2, 20, 60),
        (3, 40, 60),
        (4, 60, 60),
        (6, 60, 60),
        (7, 60, 60),
        (u32::MAX, 60, 60),
    ] {
        let pause = |audience| compute_pause(INTERVAL, audience, failures);
        assert_eq!(pause(Audience::Watchers), Millis::from_seconds(watched));
        assert_eq!(pause(Audience::Webhook), Millis::from_seconds(unwatched));
    }
}

#[test]
fn an_interval_longer_than_a_minute_is_kept() {
    let interval = Millis::from_seconds(300);
    for audience in [Audience::Watchers, Audience::Webhook] {
        for failures in [0, 1, 9] {
            assert_eq!(compute_pause(interval, audience, failures), interval);
        }
    }
    let half_a_minute = Millis::from_seconds(30);
    let pause = |failures| compute_pause(half_a_minute, Audience::Webhook, failures);
    assert_eq!((pause(0), pause(1)), (half_a_minute, Millis(60_000)));
    let longest = compute_pause(Millis(u64::MAX), Audience::Watchers, 9);
    assert_eq!(longest, Millis(u64::MAX));
}

#[test]
fn a_short_interval_is_doubled_six_times_at_most() {
    let short = Millis(100);
    for (failures, expected) in [(1, 200), (5, 3_200), (6, 6_400), (7, 6_400), (99, 6_400)] {
        let pause = compute_pause(short, Audience::Watchers, failures);
        assert_eq!(pause, Millis(expected), "{failures}");
    }
}

#[test]
fn only_a_terminal_status_finishes_a_job() {
    for (status, expected) in [
        (Some("completed"), true),
        (Some("failed"), true),
        (Some("archived"), true),
        (Some("active"), false),
        (Some("queued"), false),
        (Some("Completed"), false),
        (Some(""), false),
        (None, false),
    ] {
        assert_eq!(is_finished(status), expected, "{status:?}");
    }
}

#[test]
fn a_job_should_be_known_a_minute_after_its_creation() {
    for (now, expected) in [
        (NOW, false),
        (Millis(at(60).0 - 1), false),
        (at(60), true),
        (at(61), true),
        // A clock that was set back.
        (Millis(NOW.0 - 1), false),
    ] {
        assert_eq!(is_past_creation(NOW, now), expected, "{now:?}");
    }
}

#[test]
fn a_job_is_lost_after_a_quarter_of_an_hour_of_404s() {
    for (now, expected) in [
        (NOW, false),
        (at(60), false),
        (Millis(at(900).0 - 1), false),
        (at(900), true),
        (at(86_400), true),
        (Millis(NOW.0 - 1), false),
    ] {
        assert_eq!(is_lost(NOW, now), expected, "{now:?}");
    }
}

fn known(is_seen: bool, is_finished: bool) -> Known {
    Known {
        is_seen,
        is_finished,
        checked: NOW,
    }
}

#[test]
fn a_job_that_was_never_seen_is_polled_at_once() {
    for resumes in [false, true] {
        assert!(is_poll_due(None, resumes, INTERVAL, NOW));
        for is_finished in [false, true] {
            let known = Some(known(false, is_finished));
            assert!(is_poll_due(known, resumes, INTERVAL, NOW));
        }
    }
}

#[test]
fn a_job_that_was_seen_is_polled_once_an_interval() {
    for (seconds, expected) in [(0, false), (4, false), (5, true), (6, true)] {
        for (is_finished, resumes) in [(false, false), (false, true), (true, false)] {
            let known = Some(known(true, is_finished));
            let due = is_poll_due(known, resumes, INTERVAL, at(seconds));
            assert_eq!(due, expected, "{seconds} {is_finished} {resumes}");
        }
    }
}

#[test]
fn a_finished_job_is_not_polled_for_whoever_comes_back_to_it() {
    let known = Some(known(true, true));
    for seconds in [0, 5, 86_400] {
        assert!(!is_poll_due(known, true, INTERVAL, at(seconds)));
    }
}
