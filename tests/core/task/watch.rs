use quillgate::Progress;

use super::*;

fn watch_for(timeout: u64) -> Driver {
    Driver::new(Task::watch(get(), Millis(timeout), START))
}

fn watch() -> Driver {
    watch_for(DEFAULT_WATCH.0)
}

fn job(status: &JobStatus, is_news: bool) -> Event<'static> {
    Event::Polled {
        progress: JobStatus::progress(Some(status)),
        is_news,
        retry_after: None,
    }
}

fn changed() -> Event<'static> {
    job(&JobStatus::Active, true)
}

fn unchanged() -> Event<'static> {
    job(&JobStatus::Active, false)
}

fn streamed(is_news: bool) -> Event<'static> {
    Event::Streamed {
        progress: Progress::Running,
        is_news,
    }
}

const EXPIRED: Command = Command::Fail(Reason::WatchTimeout);

#[test]
fn a_watch_delivers_a_change_and_waits_for_the_next() {
    let mut driver = watch();
    assert_eq!(driver.next(), FIRST_SEND);
    for expected in [2_000, 3_000, 4_500] {
        assert_eq!(driver.step(changed()), Command::Yield);
        assert_eq!(driver.next(), wait(expected));
        assert_eq!(driver.end_wait(expected), FIRST_SEND);
    }
}

#[test]
fn a_finished_job_is_the_last_change() {
    for status in [JobStatus::Completed, JobStatus::Archived, JobStatus::Failed] {
        for is_news in [true, false] {
            let mut driver = watch();
            assert_eq!(driver.next(), FIRST_SEND);
            assert_eq!(driver.step(changed()), Command::Yield);
            assert_eq!(driver.next(), wait(2_000));
            assert_eq!(driver.end_wait(2_000), FIRST_SEND);
            assert_eq!(driver.step(job(&status, is_news)), Command::YieldLast);
            for _ in 0..3 {
                assert_eq!(driver.next(), Command::Done);
            }
        }
    }
}

#[test]
fn a_repeated_call_during_a_wait_continues_the_wait() {
    let mut driver = watch();
    assert_eq!(driver.next(), FIRST_SEND);
    assert_eq!(driver.step(unchanged()), wait(2_000));
    for _ in 0..3 {
        assert_eq!(driver.next(), wait(2_000));
    }
    assert_eq!(driver.end_wait(2_000), FIRST_SEND);
    assert_eq!(driver.next(), FIRST_SEND);
    assert_eq!(driver.step(changed()), Command::Yield);
}

#[test]
fn a_wait_that_the_caller_resumes_late_ends_on_schedule() {
    let mut driver = watch_for(10_000);
    assert_eq!(driver.next(), FIRST_SEND_WITHIN_10_S);
    let event = Event::Polled {
        progress: Progress::Running,
        is_news: true,
        retry_after: Some(Millis(8_000)),
    };
    assert_eq!(driver.step(event), Command::Yield);
    assert_eq!(driver.pass(1_000).next(), wait(8_000));
    assert_eq!(driver.pass(6_000).next(), wait(3_000));
    assert_eq!(driver.end_wait(3_000), send(1_000));
    assert_eq!(driver.step(changed()), EXPIRED);
}

#[test]
fn a_caller_that_returns_after_the_deadline_gets_one_more_poll() {
    let mut driver = watch_for(10_000);
    assert_eq!(driver.next(), FIRST_SEND_WITHIN_10_S);
    assert_eq!(driver.step(changed()), Command::Yield);
    assert_eq!(driver.pass(60_000).next(), wait(0));
    assert_eq!(driver.end_wait(0), send(1_000));
    let expected = Command::YieldLast;
    assert_eq!(driver.step(job(&JobStatus::Completed, true)), expected);
}

const FIRST_SEND_WITHIN_10_S: Command = Command::Send(Millis(10_000));

#[test]
fn a_poll_gets_the_remaining_time_and_at_least_a_second() {
    for (elapsed, expected) in [
        (0, 10_000),
        (4_000, 6_000),
        (9_001, 1_000),
        (9_500, 1_000),
        (10_000, 1_000),
        (99_000, 1_000),
    ] {
        let mut driver = watch_for(10_000);
        assert_eq!(driver.pass(elapsed).next(), send(expected), "{elapsed}");
    }
}

#[test]
fn a_poll_gets_at_most_the_timeout_of_an_attempt() {
    let options = CallOptions {
        timeout: Millis(700),
        ..CallOptions::default()
    };
    assert_eq!(watch().next_with(options), send(700));
    assert_eq!(watch_for(100).next_with(options), send(700));
}

#[test]
fn a_watch_ignores_max_retries_and_total_timeout() {
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

#[test]
fn a_permanent_failure_is_returned_immediately() {
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
        assert_eq!(driver.step(changed()), Command::Yield);
    }
}

#[test]
fn a_streamed_job_is_delivered_only_if_it_changed() {
    let mut driver = watch();
    assert_eq!(driver.step(streamed(true)), Command::Yield);
    assert_eq!(driver.step(streamed(false)), wait(2_000));
    assert_eq!(driver.step(streamed(true)), Command::Yield);
    let done = Event::Streamed {
        progress: Progress::Finished,
        is_news: true,
    };
    assert_eq!(driver.step(done), Command::YieldLast);
    assert_eq!(driver.next(), Command::Done);
}
