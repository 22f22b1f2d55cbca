//! A call that is carried out once.

use super::*;

fn once(call: Call) -> Driver {
    Driver::new(Task::new(call))
}

#[test]
fn an_attempt_may_take_a_minute_when_nothing_else_is_said() {
    assert_eq!(once(get()).next(), FIRST_SEND);
    let options = CallOptions {
        timeout: Millis(1_500),
        ..CallOptions::default()
    };
    assert_eq!(once(get()).next_with(options), send(1_500));
}

#[test]
fn the_request_is_the_call_s_before_and_after_every_step() {
    let mut driver = once(create());
    assert_eq!(driver.task.call(), Some(&create()));
    let _ = driver.next();
    assert_eq!(driver.task.call(), Some(&create()));
    let _ = driver.step(Event::Result);
    assert_eq!(driver.task.call(), Some(&create()));
}

#[test]
fn a_result_is_delivered() {
    for call in [get(), delete(), create()] {
        let mut driver = once(call);
        assert_eq!(driver.next(), FIRST_SEND);
        assert_eq!(driver.step(Event::Result), Command::Deliver);
    }
}

#[test]
fn a_result_is_delivered_after_a_retry() {
    let mut driver = once(get());
    assert_eq!(driver.next(), FIRST_SEND);
    assert_eq!(driver.fail(Failure::Connection), retry(500));
    assert_eq!(driver.end_wait(500), FIRST_SEND);
    assert_eq!(driver.step(Event::Result), Command::Deliver);
}

#[test]
fn each_failure_is_retried_or_final_by_what_it_is_and_by_what_a_second_request_would_do() {
    let transient = [
        (Failure::Status(408), 500),
        (Failure::Status(429), 500),
        (Failure::Status(500), 500),
        (Failure::Status(599), 500),
        (Failure::Connection, 500),
        (Failure::Timeout, 500),
        (Failure::StillRunning, 1_000),
    ];
    let lasting = [
        Failure::Status(400),
        Failure::Status(404),
        Failure::Status(409),
        Failure::Status(600),
        Failure::OutcomeUnknown,
        Failure::Malformed,
    ];
    let failures = transient.map(|(failure, wait)| (failure, Some(wait)));
    let failures = failures
        .into_iter()
        .chain(lasting.map(|failure| (failure, None)));
    for (failure, wait) in failures {
        for (call, options, is_retried) in [
            (get(), CallOptions::default(), true),
            (get(), deduplicated(), true),
            (delete(), CallOptions::default(), true),
            (create(), deduplicated(), true),
            (create(), CallOptions::default(), false),
        ] {
            let expected = match wait {
                Some(wait) if is_retried => retry(wait),
                _ => FAILED,
            };
            let shown = format!("{failure:?} of {call:?} with {options:?}");
            let mut driver = once(call);
            assert_eq!(driver.next_with(options), FIRST_SEND, "{shown}");
            assert_eq!(driver.fail(failure), expected, "{shown}");
        }
    }
}

#[test]
fn a_failure_is_the_result_when_the_retries_are_used_up() {
    let mut driver = once(get());
    assert_eq!(driver.next(), FIRST_SEND);
    for wait in [500, 1_000] {
        assert_eq!(driver.fail(BUSY), retry(wait));
        assert_eq!(driver.end_wait(wait), FIRST_SEND);
    }
    assert_eq!(driver.fail(BUSY), FAILED);
}

#[test]
fn a_call_without_retries_is_sent_once() {
    let options = CallOptions {
        max_retries: 0,
        ..deduplicated()
    };
    for failure in [BUSY, Failure::Connection, Failure::StillRunning] {
        let mut driver = once(create());
        assert_eq!(driver.next_with(options), FIRST_SEND);
        assert_eq!(driver.fail(failure), FAILED);
    }
}

#[test]
fn jitter_takes_off_up_to_a_quarter_of_a_wait() {
    let mut driver = once(get());
    assert_eq!(driver.next(), FIRST_SEND);
    let failed = Event::Failed {
        failure: BUSY,
        retry_after: None,
    };
    assert_eq!(driver.task.step(failed, START, 1.0), retry(375));
}

#[test]
fn retry_after_takes_the_place_of_the_wait_up_to_60_s() {
    for (hint, expected) in [
        (0, retry(0)),
        (7_000, retry(7_000)),
        (60_000, retry(60_000)),
        (60_001, FAILED),
        (u64::MAX, FAILED),
    ] {
        let mut driver = once(get());
        assert_eq!(driver.next(), FIRST_SEND);
        assert_eq!(
            driver.fail_with(Failure::Status(429), hint),
            expected,
            "{hint}"
        );
    }
}

#[test]
fn retry_after_does_not_make_a_lasting_failure_pass() {
    let mut driver = once(get());
    assert_eq!(driver.next(), FIRST_SEND);
    assert_eq!(driver.fail_with(Failure::Status(404), 1_000), FAILED);
}

// the total timeout

fn within(total: u64) -> CallOptions {
    CallOptions {
        total_timeout: Some(Millis(total)),
        ..CallOptions::default()
    }
}

#[test]
fn an_attempt_gets_what_is_left_of_the_total_timeout() {
    let mut driver = once(get());
    assert_eq!(driver.next_with(within(10_000)), send(10_000));
    assert_eq!(driver.pass(4_000).fail(BUSY), retry(500));
    assert_eq!(driver.end_wait(500), send(5_500));
    assert_eq!(once(get()).next_with(within(90_000)), FIRST_SEND);
}

#[test]
fn a_wait_that_would_use_up_the_total_timeout_is_not_begun() {
    for (passed, expected) in [(9_499, retry(500)), (9_500, FAILED), (10_000, FAILED)] {
        let mut driver = once(get());
        assert_eq!(driver.next_with(within(10_000)), send(10_000));
        assert_eq!(driver.pass(passed).fail(BUSY), expected, "{passed}");
    }
    for (hint, expected) in [(9_999, retry(9_999)), (10_000, FAILED)] {
        let mut driver = once(get());
        assert_eq!(driver.next_with(within(10_000)), send(10_000));
        assert_eq!(driver.fail_with(BUSY, hint), expected, "{hint}");
    }
}

#[test]
fn an_attempt_that_would_have_no_time_at_all_is_not_begun() {
    for late in [600, 601, 60_000] {
        let mut driver = once(get());
        assert_eq!(driver.next_with(within(10_000)), send(10_000));
        assert_eq!(driver.pass(9_400).fail(BUSY), retry(500));
        let expected = Command::Fail(Reason::TotalTimeout(Millis(10_000)));
        assert_eq!(driver.end_wait(late), expected, "{late}");
    }
}

#[test]
fn a_clock_that_is_set_back_does_not_end_a_call() {
    let mut driver = once(get());
    assert_eq!(driver.next_with(within(10_000)), send(10_000));
    driver.now = Millis(START.0 - 3_600_000);
    assert_eq!(driver.fail(BUSY), retry(500));
    assert_eq!(driver.end_wait(500), send(10_000));
}

// an earlier attempt that still runs

#[test]
fn an_attempt_that_still_runs_is_asked_after_every_second_without_using_up_retries() {
    let mut driver = once(create());
    assert_eq!(driver.next_with(deduplicated()), FIRST_SEND);
    for _ in 0..30 {
        assert_eq!(driver.fail(Failure::StillRunning), retry(1_000));
        assert_eq!(driver.end_wait(1_000), FIRST_SEND);
    }
    for wait in [500, 1_000] {
        assert_eq!(driver.fail(BUSY), retry(wait));
        assert_eq!(driver.end_wait(wait), FIRST_SEND);
    }
    assert_eq!(driver.fail(Failure::StillRunning), retry(1_000));
    assert_eq!(driver.end_wait(1_000), FIRST_SEND);
    assert_eq!(driver.step(Event::Result), Command::Deliver);
}

#[test]
fn an_attempt_that_still_runs_is_waited_for_as_long_as_an_attempt_may_take() {
    for (timeout, pauses) in [(999, 0), (1_000, 1), (2_500, 2), (60_000, 60)] {
        let options = CallOptions {
            timeout: Millis(timeout),
            ..deduplicated()
        };
        let mut driver = once(create());
        assert_eq!(driver.next_with(options), send(timeout));
        for _ in 0..pauses {
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
fn an_attempt_that_still_runs_is_asked_after_when_the_server_says() {
    let mut driver = once(create());
    assert_eq!(driver.next_with(deduplicated()), FIRST_SEND);
    assert_eq!(driver.fail_with(Failure::StillRunning, 200), retry(1_000));
    assert_eq!(driver.end_wait(1_000), FIRST_SEND);
    assert_eq!(
        driver.fail_with(Failure::StillRunning, 40_000),
        retry(40_000)
    );
    assert_eq!(driver.end_wait(40_000), FIRST_SEND);
    assert_eq!(driver.fail_with(Failure::StillRunning, 20_000), FAILED);
}

#[test]
fn an_attempt_that_still_runs_is_not_waited_for_past_the_total_timeout() {
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

// asked for again

#[test]
fn what_is_asked_for_again_begins_with_all_its_retries_and_time() {
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
fn a_post_that_was_sent_is_not_sent_again_by_asking_again() {
    for (first, second) in [
        (CallOptions::default(), CallOptions::default()),
        (CallOptions::default(), deduplicated()),
        (deduplicated(), CallOptions::default()),
    ] {
        let mut driver = once(create());
        assert_eq!(driver.next_with(first), FIRST_SEND);
        assert_eq!(driver.next_with(second), Command::End);
    }
    let mut driver = once(create());
    assert_eq!(driver.next_with(deduplicated()), FIRST_SEND);
    assert_eq!(driver.next_with(deduplicated()), FIRST_SEND);
}

#[test]
fn a_post_that_had_no_time_to_be_sent_can_be_asked_for_again() {
    let mut driver = once(create());
    let expected = Command::Fail(Reason::TotalTimeout(Millis(0)));
    assert_eq!(driver.next_with(within(0)), expected);
    assert_eq!(driver.next(), FIRST_SEND);
}

#[test]
fn a_wait_that_nobody_asked_for_does_not_send_a_post_again() {
    let mut driver = once(create());
    assert_eq!(driver.next(), FIRST_SEND);
    assert_eq!(driver.step(Event::Waited), Command::End);
    assert_eq!(driver.fail(BUSY), FAILED);
    assert_eq!(driver.step(Event::Waited), Command::End);
}
