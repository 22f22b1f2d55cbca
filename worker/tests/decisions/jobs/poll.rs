//! Polls of jobs.

use quillgate::Millis;
use quillgate_worker::jobs::job_row::JobRow;
use quillgate_worker::jobs::poll::{UNWATCHED_PAUSE, compute_pause, is_finished, is_poll_due};

use crate::fixtures::{NOW, at};

const INTERVAL: Millis = Millis::from_seconds(5);
/// The age of a job that just started.
const NEW: Millis = Millis(0);

#[test]
fn pause_doubles_with_each_failure_up_to_a_minute() {
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
        let pause = |interval| compute_pause(interval, NEW, failures);
        assert_eq!(
            pause(INTERVAL),
            Millis::from_seconds(watched),
            "{failures:?}"
        );
        assert_eq!(
            pause(UNWATCHED_PAUSE),
            Millis::from_seconds(unwatched),
            "{failures:?}"
        );
    }
}

#[test]
fn interval_longer_than_a_minute_is_unchanged() {
    let interval = Millis::from_seconds(300);
    for failures in [0, 1, 9] {
        assert_eq!(compute_pause(interval, NEW, failures), interval);
    }
    let half_a_minute = Millis::from_seconds(30);
    let pause = |failures| compute_pause(half_a_minute, NEW, failures);
    assert_eq!((pause(0), pause(1)), (half_a_minute, Millis(60_000)));
    let longest = compute_pause(Millis(u64::MAX), NEW, 9);
    assert_eq!(longest, Millis(u64::MAX));
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

/// Returns an active job that has just been created.
pub(super) fn row() -> JobRow {
    JobRow {
        row: 1,
        id: "j1".to_owned(),
        is_listed: true,
        webhook: None,
        created_at: NOW,
        status: Some("active".to_owned()),
        data: "{}".to_owned(),
        version: 1,
        checked_at: NOW,
        last_started_at: NOW,
        not_before: Millis(0),
        missing_since: None,
        since: None,
    }
}

/// The number of the last change that a watcher received. A new watcher has received no change, and
/// a resuming watcher has received change 1.
const WATCHERS: [Option<u64>; 2] = [None, Some(1)];

#[test]
fn unknown_job_is_polled_immediately() {
    for after in WATCHERS {
        assert!(is_poll_due(None, false, after, INTERVAL, NOW));
    }
}

#[test]
fn known_job_is_polled_once_an_interval() {
    for (seconds, expected) in [(0, false), (4, false), (5, true), (6, true)] {
        for (is_closed, after) in [(false, None), (false, Some(1)), (true, None)] {
            let due = is_poll_due(Some(&row()), is_closed, after, INTERVAL, at(seconds));
            assert_eq!(due, expected, "{seconds} {is_closed} {after:?}");
        }
    }
}

#[test]
fn closed_job_is_not_polled_for_resuming_watchers() {
    for seconds in [0, 5, 86_400] {
        let due = is_poll_due(Some(&row()), true, Some(1), INTERVAL, at(seconds));
        assert!(!due, "{seconds}");
    }
}

#[test]
fn job_is_not_polled_before_the_upstreams_retry_after() {
    let row = JobRow {
        not_before: at(60),
        ..row()
    };
    for (seconds, expected) in [(5, false), (59, false), (60, true)] {
        for after in WATCHERS {
            let due = is_poll_due(Some(&row), false, after, INTERVAL, at(seconds));
            assert_eq!(due, expected, "{seconds} {after:?}");
        }
    }
    assert_eq!(row.next_poll(INTERVAL, 0), at(60));
}

#[test]
fn next_poll_follows_the_last_one_after_the_pause() {
    for (age, failures, watched, unwatched) in [(0, 0, 5, 15), (0, 2, 20, 60), (1_200, 0, 10, 15)] {
        let row = JobRow {
            checked_at: at(age),
            ..row()
        };
        let next = |interval| row.next_poll(interval, failures);
        assert_eq!(next(INTERVAL), at(age + watched));
        assert_eq!(next(UNWATCHED_PAUSE), at(age + unwatched));
    }
}

#[test]
fn unfinished_job_is_given_up_at_the_end_of_polling() {
    let poll_duration = Millis::from_seconds(60);
    for (status, seconds, expected) in [
        (Some("active"), 59, false),
        (Some("active"), 60, true),
        (None, 60, true),
        (Some("completed"), 60, false),
    ] {
        let row = JobRow {
            status: status.map(str::to_owned),
            ..row()
        };
        let is_given_up = row.is_given_up(poll_duration, at(seconds));
        assert_eq!(is_given_up, expected, "{status:?} {seconds}");
    }
}

#[test]
fn job_with_an_id_that_no_path_can_have_is_given_up() {
    for (id, expected) in [
        ("j".repeat(256), false),
        ("j".repeat(257), true),
        ("é".repeat(129), true),
        ("..".to_owned(), true),
    ] {
        let row = JobRow { id, ..row() };
        let is_given_up = row.is_given_up(Millis::from_seconds(60), at(1));
        assert_eq!(is_given_up, expected, "{}", row.id);
    }
}

#[test]
fn pause_grows_with_the_age_of_the_job() {
    for (age, watched, unwatched) in [
        (0, 5, 15),
        (600, 5, 15),
        (1_200, 10, 15),
        (1_800, 15, 15),
        (3_600, 30, 30),
        (21_600, 180, 180),
        (86_400, 720, 720),
    ] {
        let pause = |interval| compute_pause(interval, Millis::from_seconds(age), 0);
        assert_eq!(pause(INTERVAL), Millis::from_seconds(watched), "{age:?}");
        assert_eq!(
            pause(UNWATCHED_PAUSE),
            Millis::from_seconds(unwatched),
            "{age:?}"
        );
    }
    // A failing upstream never shortens the pause.
    let day = Millis::from_seconds(86_400);
    for failures in [0, 1, 9] {
        let pause = compute_pause(INTERVAL, day, failures);
        assert_eq!(pause, Millis::from_seconds(720));
    }
}
