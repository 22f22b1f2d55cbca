//! Polls of jobs.

use quillgate::Millis;
use quillgate_worker::jobs::poll::{UNWATCHED_PAUSE, compute_pause};

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
