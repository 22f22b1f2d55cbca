//! A task that makes one call.

use quillgate::declaration::Repeat;

use super::*;

fn once(call: Call) -> Driver {
    Driver::new(Task::new(call))
}

#[test]
fn a_raw_request_is_retried_only_if_it_reads_or_is_deduplicated() {
    let deduplicated = CallOptions {
        is_deduplicated: true,
        ..CallOptions::default()
    };
    for (repeat, options, command) in [
        (Repeat::Safe, CallOptions::default(), retry(500)),
        (Repeat::Keyed, deduplicated, retry(500)),
        (
            Repeat::Keyed,
            CallOptions::default(),
            Command::Fail(Reason::Failure),
        ),
    ] {
        let mut driver = Driver::new(Task::raw(repeat));
        assert_eq!(driver.task.call(), None);
        assert_eq!(driver.next_with(options), FIRST_SEND);
        assert_eq!(driver.fail(Failure::Connection), command);
    }
}

fn within(total: u64) -> CallOptions {
    CallOptions {
        total_timeout: Some(Millis(total)),
        ..CallOptions::default()
    }
}

#[test]
fn an_attempt_gets_the_rest_of_the_total_timeout() {
    let mut driver = once(get());
    assert_eq!(driver.next_with(within(10_000)), send(10_000));
    assert_eq!(driver.pass(4_000).fail(BUSY), retry(500));
    assert_eq!(driver.end_wait(500), send(5_500));
    assert_eq!(once(get()).next_with(within(90_000)), FIRST_SEND);
}

#[test]
fn a_delay_that_would_use_up_the_total_timeout_is_not_started() {
    for (elapsed, expected) in [(9_499, retry(500)), (9_500, FAILED), (10_000, FAILED)] {
        let mut driver = once(get());
        assert_eq!(driver.next_with(within(10_000)), send(10_000));
        assert_eq!(driver.pass(elapsed).fail(BUSY), expected, "{elapsed}");
    }
    for (hint, expected) in [(9_999, retry(9_999)), (10_000, FAILED)] {
        let mut driver = once(get());
        assert_eq!(driver.next_with(within(10_000)), send(10_000));
        assert_eq!(driver.fail_with(BUSY, hint), expected, "{hint}");
    }
}

#[test]
fn an_attempt_without_remaining_time_is_not_started() {
    for late in [600, 601, 60_000] {
        let mut driver = once(get());
        assert_eq!(driver.next_with(within(10_000)), send(10_000));
        assert_eq!(driver.pass(9_400).fail(BUSY), retry(500));
        let expected = Command::Fail(Reason::TotalTimeout(Millis(10_000)));
        assert_eq!(driver.end_wait(late), expected, "{late}");
    }
}

#[test]
fn a_clock_set_back_does_not_end_a_call() {
    let mut driver = once(get());
    assert_eq!(driver.next_with(within(10_000)), send(10_000));
    driver.now = Millis(START.0 - 3_600_000);
    assert_eq!(driver.fail(BUSY), retry(500));
    assert_eq!(driver.end_wait(500), send(10_000));
}

#[test]
fn a_running_request_is_polled_for_as_long_as_the_timeout_of_an_attempt() {
    for (timeout, polls) in [(999, 0), (1_000, 1), (2_500, 2), (60_000, 60)] {
        let options = CallOptions {
            timeout: Millis(timeout),
            ..deduplicated()
        };
        let mut driver = once(create());
        assert_eq!(driver.next_with(options), send(timeout));
        for _ in 0..polls {
            assert_eq!(
                driver.fail(Failure::StillRunning),
                retry(1_000),
                "{timeout}"
            );
            assert_eq!(driver.end_wait(1_000), send(timeout));
        }
        assert_eq!(driver.fail(Failure::StillRunning), FAILED, "{timeout}");
    }
}

#[test]
fn a_running_request_is_not_polled_past_the_total_timeout() {
    let options = CallOptions {
        total_timeout: Some(Millis(2_500)),
        ..deduplicated()
    };
    let mut driver = once(create());
    assert_eq!(driver.next_with(options), send(2_500));
    assert_eq!(driver.fail(Failure::StillRunning), retry(1_000));
    assert_eq!(driver.end_wait(1_000), send(1_500));
    assert_eq!(driver.fail(Failure::StillRunning), retry(1_000));
    assert_eq!(driver.end_wait(1_000), send(500));
    assert_eq!(driver.fail(Failure::StillRunning), FAILED);
}

#[test]
fn a_repeated_call_starts_with_all_its_retries_and_time() {
    let options = within(10_000);
    let mut driver = once(get());
    for _ in 0..3 {
        assert_eq!(driver.next_with(options), send(10_000));
        assert_eq!(driver.fail(BUSY), retry(500));
        assert_eq!(driver.end_wait(500), send(9_500));
        assert_eq!(driver.fail(BUSY), retry(1_000));
        assert_eq!(driver.end_wait(1_000), send(8_500));
        assert_eq!(driver.fail(BUSY), FAILED);
    }
}

#[test]
fn a_sent_post_is_repeated_only_if_it_is_deduplicated() {
    for (first, second) in [
        (CallOptions::default(), CallOptions::default()),
        (CallOptions::default(), deduplicated()),
        (deduplicated(), CallOptions::default()),
    ] {
        let mut driver = once(create());
        assert_eq!(driver.next_with(first), FIRST_SEND);
        assert_eq!(driver.next_with(second), Command::Done);
    }
    let mut driver = once(create());
    assert_eq!(driver.next_with(deduplicated()), FIRST_SEND);
    assert_eq!(driver.next_with(deduplicated()), FIRST_SEND);
}

#[test]
fn a_post_that_was_never_sent_can_be_repeated() {
    let mut driver = once(create());
    let expected = Command::Fail(Reason::TotalTimeout(Millis(0)));
    assert_eq!(driver.next_with(within(0)), expected);
    assert_eq!(driver.next(), FIRST_SEND);
}

#[test]
fn an_unexpected_end_of_a_delay_does_not_repeat_a_post() {
    let mut driver = once(create());
    assert_eq!(driver.next(), FIRST_SEND);
    assert_eq!(driver.step(Event::Waited), Command::Done);
    assert_eq!(driver.fail(BUSY), FAILED);
    assert_eq!(driver.step(Event::Waited), Command::Done);
}
