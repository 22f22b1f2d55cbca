//! A watch of a job, change by change.

use super::*;

fn watch_for(timeout: u64) -> Driver {
    Driver::new(Task::watch(get(), Millis(timeout), START))
}

fn watch() -> Driver {
    watch_for(DEFAULT_WATCH.0)
}

fn job(status: JobStatus, is_news: bool) -> Event<'static> {
    Event::Job {
        status: Some(status),
        is_news,
        retry_after: None,
    }
}

fn news() -> Event<'static> {
    job(JobStatus::Active, true)
}

fn no_news() -> Event<'static> {
    job(JobStatus::Active, false)
}

const EXPIRED: Command = Command::Fail(Reason::WatchTimeout);

#[test]
fn a_watch_takes_half_an_hour_when_nothing_else_is_said() {
    assert_eq!(DEFAULT_WATCH, Millis(1_800_000));
    let mut driver = watch();
    assert_eq!(driver.next(), FIRST_SEND);
    assert_eq!(driver.task.call(), Some(&get()));
}

#[test]
fn a_change_is_delivered_and_the_next_one_is_waited_for() {
    let mut driver = watch();
    assert_eq!(driver.next(), FIRST_SEND);
    for expected in [2_000, 3_000, 4_500] {
        assert_eq!(driver.step(news()), Command::Deliver);
        assert_eq!(driver.next(), wait(expected));
        assert_eq!(driver.end_wait(expected), FIRST_SEND);
    }
}

#[test]
fn a_job_without_news_is_asked_for_again_after_growing_waits() {
    let mut driver = watch();
    assert_eq!(driver.next(), FIRST_SEND);
    for expected in [2_000, 3_000, 4_500, 6_750, 10_125, 15_187, 22_780, 30_000] {
        assert_eq!(driver.step(no_news()), wait(expected));
        assert_eq!(driver.end_wait(expected), FIRST_SEND);
    }
    assert_eq!(driver.step(news()), Command::Deliver);
}

#[test]
fn jitter_adds_up_to_a_quarter_to_a_wait() {
    let mut driver = watch();
    assert_eq!(driver.next(), FIRST_SEND);
    assert_eq!(driver.task.step(no_news(), START, 1.0), wait(2_500));
}

#[test]
fn a_job_that_has_come_to_its_end_is_the_last_change() {
    for status in [JobStatus::Completed, JobStatus::Archived, JobStatus::Failed] {
        for is_news in [true, false] {
            let mut driver = watch();
            assert_eq!(driver.next(), FIRST_SEND);
            assert_eq!(driver.step(news()), Command::Deliver);
            assert_eq!(driver.next(), wait(2_000));
            assert_eq!(driver.end_wait(2_000), FIRST_SEND);
            assert_eq!(driver.step(job(status.clone(), is_news)), Command::Finish);
            for _ in 0..3 {
                assert_eq!(driver.next(), Command::End);
            }
        }
    }
}

#[test]
fn a_status_that_is_missing_or_unknown_slows_a_watch_down() {
    for status in [None, Some(JobStatus::Other("queued".to_owned()))] {
        let mut driver = watch();
        assert_eq!(driver.next(), FIRST_SEND);
        let event = Event::Job {
            status,
            is_news: false,
            retry_after: None,
        };
        assert_eq!(driver.step(event), wait(5_000));
    }
}

#[test]
fn retry_after_is_never_undercut_and_may_be_longer_than_60_s() {
    for (hint, expected) in [(500, 2_000), (7_000, 7_000), (90_000, 90_000)] {
        let event = Event::Job {
            status: Some(JobStatus::Active),
            is_news: false,
            retry_after: Some(Millis(hint)),
        };
        let mut driver = watch();
        assert_eq!(driver.next(), FIRST_SEND);
        assert_eq!(driver.step(event), wait(expected), "{hint}");
        let mut driver = watch();
        assert_eq!(driver.next(), FIRST_SEND);
        assert_eq!(driver.fail_with(BUSY, hint), wait(expected), "{hint}");
    }
}

// waits and the caller

#[test]
fn a_wait_is_not_forgotten_by_asking_again() {
    let mut driver = watch();
    assert_eq!(driver.next(), FIRST_SEND);
    assert_eq!(driver.step(no_news()), wait(2_000));
    for _ in 0..3 {
        assert_eq!(driver.next(), wait(2_000));
    }
    assert_eq!(driver.end_wait(2_000), FIRST_SEND);
    assert_eq!(driver.next(), FIRST_SEND);
    assert_eq!(driver.step(news()), Command::Deliver);
}

#[test]
fn a_wait_that_the_caller_comes_back_to_late_ends_at_the_deadline() {
    let mut driver = watch_for(10_000);
    assert_eq!(driver.next(), FIRST_SEND_WITHIN_10_S);
    let event = Event::Job {
        status: Some(JobStatus::Active),
        is_news: true,
        retry_after: Some(Millis(8_000)),
    };
    assert_eq!(driver.step(event), Command::Deliver);
    assert_eq!(driver.pass(1_000).next(), wait(8_000));
    assert_eq!(driver.pass(6_000).next(), wait(3_000));
    assert_eq!(driver.end_wait(3_000), send(1_000));
    assert_eq!(driver.step(no_news()), EXPIRED);
}

#[test]
fn a_caller_that_comes_back_after_the_deadline_gets_one_more_poll() {
    let mut driver = watch_for(10_000);
    assert_eq!(driver.next(), FIRST_SEND_WITHIN_10_S);
    assert_eq!(driver.step(news()), Command::Deliver);
    assert_eq!(driver.pass(60_000).next(), wait(0));
    assert_eq!(driver.end_wait(0), send(1_000));
    assert_eq!(
        driver.step(job(JobStatus::Completed, true)),
        Command::Finish
    );
}

const FIRST_SEND_WITHIN_10_S: Command = Command::Send(Millis(10_000));

// the deadline

#[test]
fn a_poll_gets_the_time_that_is_left_and_at_least_a_second() {
    for (passed, expected) in [
        (0, 10_000),
        (4_000, 6_000),
        (9_001, 1_000),
        (9_500, 1_000),
        (10_000, 1_000),
        (99_000, 1_000),
    ] {
        let mut driver = watch_for(10_000);
        assert_eq!(driver.pass(passed).next(), send(expected), "{passed}");
    }
}

#[test]
fn a_poll_gets_no_more_than_an_attempt_may_take() {
    let options = CallOptions {
        timeout: Millis(700),
        ..CallOptions::default()
    };
    assert_eq!(watch().next_with(options), send(700));
    assert_eq!(watch_for(100).next_with(options), send(700));
}

#[test]
fn the_last_poll_is_at_the_deadline() {
    let mut driver = watch_for(6_000);
    assert_eq!(driver.next(), send(6_000));
    assert_eq!(driver.step(no_news()), wait(2_000));
    assert_eq!(driver.end_wait(2_000), send(4_000));
    assert_eq!(driver.step(no_news()), wait(3_000));
    assert_eq!(driver.end_wait(3_000), send(1_000));
    assert_eq!(driver.step(no_news()), wait(1_000));
    assert_eq!(driver.end_wait(1_000), send(1_000));
    assert_eq!(driver.step(no_news()), EXPIRED);
}

#[test]
fn a_deadline_that_has_come_ends_a_watch_whether_the_job_changed_or_the_poll_failed() {
    for event in [
        news(),
        no_news(),
        Event::Failed {
            failure: Failure::Timeout,
            retry_after: None,
        },
    ] {
        let mut driver = watch_for(6_000);
        assert_eq!(driver.next(), send(6_000));
        assert_eq!(driver.pass(6_000).step(event), EXPIRED);
    }
}

#[test]
fn a_job_that_has_come_to_its_end_counts_even_after_the_deadline() {
    let mut driver = watch_for(6_000);
    assert_eq!(driver.next(), send(6_000));
    let done = job(JobStatus::Completed, true);
    assert_eq!(driver.pass(7_000).step(done), Command::Finish);
}

#[test]
fn neither_retries_nor_a_total_timeout_are_a_watch_s() {
    let options = CallOptions {
        total_timeout: Some(Millis(100)),
        max_retries: 0,
        ..CallOptions::default()
    };
    let mut driver = watch();
    assert_eq!(driver.next_with(options), FIRST_SEND);
    assert_eq!(driver.pass(5_000).fail(BUSY), wait(2_000));
    assert_eq!(driver.end_wait(2_000), FIRST_SEND);
}

// polls that fail

#[test]
fn the_fifth_failed_poll_in_a_row_is_the_result() {
    for failure in [
        BUSY,
        Failure::Connection,
        Failure::Timeout,
        Failure::StillRunning,
    ] {
        let mut driver = watch();
        assert_eq!(driver.next(), FIRST_SEND);
        for expected in [2_000, 3_000, 4_500, 6_750] {
            assert_eq!(driver.fail(failure), wait(expected));
            assert_eq!(driver.end_wait(expected), FIRST_SEND);
        }
        assert_eq!(driver.fail(failure), FAILED);
    }
}

#[test]
fn a_poll_that_is_answered_starts_the_count_of_failed_ones_again() {
    let mut driver = watch();
    let mut command = driver.next();
    for _ in 0..3 {
        for _ in 0..4 {
            assert_eq!(command, FIRST_SEND);
            let Command::Wait(time) = driver.fail(BUSY) else {
                panic!("no wait after a failed poll");
            };
            command = driver.end_wait(time.0);
        }
        let Command::Wait(time) = driver.step(no_news()) else {
            panic!("no wait after a poll without news");
        };
        command = driver.end_wait(time.0);
    }
    assert_eq!(command, FIRST_SEND);
}

#[test]
fn a_failure_that_lasts_is_the_result_at_once() {
    for failure in [
        Failure::Status(401),
        Failure::Status(404),
        Failure::OutcomeUnknown,
        Failure::Malformed,
    ] {
        let mut driver = watch();
        assert_eq!(driver.next(), FIRST_SEND);
        assert_eq!(driver.fail(failure), FAILED, "{failure:?}");
        assert_eq!(driver.next(), FIRST_SEND);
        assert_eq!(driver.step(news()), Command::Deliver);
    }
}

// jobs that come by themselves

#[test]
fn a_streamed_job_is_delivered_when_it_is_news() {
    let mut driver = watch();
    assert_eq!(driver.step(news()), Command::Deliver);
    assert_eq!(driver.step(no_news()), wait(3_000));
    assert_eq!(driver.step(news()), Command::Deliver);
    let done = job(JobStatus::Completed, true);
    assert_eq!(driver.step(done), Command::Finish);
    assert_eq!(driver.next(), Command::End);
}

#[test]
fn polling_goes_on_from_what_was_streamed() {
    let mut driver = watch();
    assert_eq!(driver.step(news()), Command::Deliver);
    assert_eq!(driver.pass(1_000).next(), wait(2_000));
    assert_eq!(driver.end_wait(2_000), FIRST_SEND);
    assert_eq!(driver.step(no_news()), wait(3_000));
}

#[test]
fn a_streamed_job_after_the_deadline_ends_the_watch() {
    let mut driver = watch_for(6_000);
    assert_eq!(driver.pass(6_000).step(news()), EXPIRED);
}

#[test]
fn a_watch_that_is_over_sends_nothing_whatever_comes() {
    let mut driver = watch();
    assert_eq!(driver.step(job(JobStatus::Failed, true)), Command::Finish);
    assert_eq!(driver.step(Event::Waited), Command::End);
    let _ = driver.step(news());
    assert_eq!(driver.step(Event::Waited), Command::End);
    assert_eq!(driver.next(), Command::End);
}
