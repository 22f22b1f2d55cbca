mod watch;

use proptest::collection::vec;
use proptest::prelude::*;
use quillgate::declaration::Repeat;
use quillgate::pages::Pages;
use quillgate::task::{Command, DEFAULT_WATCH, Event, Reason};
use quillgate::{
    Call, CallOptions, Failure, JobStatus, Millis, Operation, PageError, PageInfo, Task,
};
use serde_json::{Value, json};

use crate::call::call;
use crate::pages;

const START: Millis = Millis(1_700_000_000_000);
const BUSY: Failure = Failure::Status(503);
const FAILED: Command = Command::Fail(Reason::Failure);
/// The first attempt of a call without options.
const FIRST_SEND: Command = Command::Send(Millis(60_000));

fn send(millis: u64) -> Command {
    Command::Send(Millis(millis))
}

fn retry(millis: u64) -> Command {
    Command::Retry(Millis(millis))
}

fn wait(millis: u64) -> Command {
    Command::Wait(Millis(millis))
}

fn get() -> Call {
    call(Operation::GetAgentJob, &json!({ "id": "j1" }))
}

fn create() -> Call {
    call(Operation::CreateAgentJob, &json!({ "prompt": "x" }))
}

fn deduplicated() -> CallOptions {
    CallOptions {
        is_deduplicated: true,
        ..CallOptions::default()
    }
}

/// A task with the clock of its driver.
struct Driver {
    task: Task,
    now: Millis,
}

impl Driver {
    fn new(task: Task) -> Self {
        Self { task, now: START }
    }

    fn step(&mut self, event: Event<'_>) -> Command {
        self.task.step(event, self.now, 0.0)
    }

    fn next(&mut self) -> Command {
        self.step(Event::Next(CallOptions::default()))
    }

    fn next_with(&mut self, options: CallOptions) -> Command {
        self.step(Event::Next(options))
    }

    fn fail(&mut self, failure: Failure) -> Command {
        self.step(Event::Failed {
            failure,
            retry_after: None,
        })
    }

    fn fail_with(&mut self, failure: Failure, retry_after: u64) -> Command {
        self.step(Event::Failed {
            failure,
            retry_after: Some(Millis(retry_after)),
        })
    }

    fn pass(&mut self, millis: u64) -> &mut Self {
        self.now = self.now.plus(Millis(millis));
        self
    }

    /// Advances the clock and ends a wait or a retry delay.
    fn end_wait(&mut self, millis: u64) -> Command {
        self.pass(millis).step(Event::Waited)
    }
}

fn once(call: Call) -> Driver {
    Driver::new(Task::new(call))
}

#[test]
fn a_raw_request_is_retried_only_if_it_reads_or_is_deduplicated() {
    for (repeat, options, command) in [
        (Repeat::Safe, CallOptions::default(), retry(500)),
        (Repeat::Keyed, deduplicated(), retry(500)),
        (Repeat::Keyed, CallOptions::default(), FAILED),
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
            let expected = retry(1_000);
            assert_eq!(driver.fail(Failure::StillRunning), expected, "{timeout}");
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

fn list(operation: Operation, params: &Value) -> Driver {
    Driver::new(Task::list(Pages::new(call(operation, params))))
}

fn views() -> Driver {
    list(Operation::ListPageViews, &json!({ "limit": 50 }))
}

fn jobs() -> Driver {
    list(Operation::ListAgentJobs, &json!({ "limit": 2 }))
}

/// A page by offset.
fn page(rows: u64, has_more: bool) -> Event<'static> {
    Event::Page(pages::page(rows, has_more))
}

/// A page of two rows by cursor.
fn job_page(next_cursor: Option<&str>) -> Event<'_> {
    Event::Page(pages::job_page(2, next_cursor))
}

fn offset(driver: &Driver) -> Option<u64> {
    driver.task.call().and_then(|call| call.integer("offset"))
}

fn cursor(driver: &Driver) -> Option<&str> {
    driver.task.call().and_then(|call| call.text("cursor"))
}

#[test]
fn the_call_after_a_failure_requests_the_same_page() {
    for failure in [
        Failure::Status(401),
        Failure::Malformed,
        Failure::OutcomeUnknown,
    ] {
        let mut driver = jobs();
        assert_eq!(driver.next(), FIRST_SEND);
        assert_eq!(driver.step(job_page(Some("b"))), Command::Yield);
        for _ in 0..3 {
            assert_eq!(driver.next(), FIRST_SEND);
            assert_eq!(cursor(&driver), Some("b"));
            assert_eq!(driver.fail(failure), FAILED);
        }
        assert_eq!(driver.next(), FIRST_SEND);
        assert_eq!(driver.step(job_page(Some("c"))), Command::Yield);
        assert_eq!(cursor(&driver), Some("c"));
    }
}

#[test]
fn each_page_has_its_own_retries_and_total_timeout() {
    let options = CallOptions {
        max_retries: 1,
        ..within(10_000)
    };
    let mut driver = views();
    for _ in 0..5 {
        assert_eq!(driver.next_with(options), send(10_000));
        assert_eq!(driver.pass(9_000).fail(BUSY), retry(500));
        assert_eq!(driver.end_wait(500), send(500));
        assert_eq!(driver.step(page(50, true)), Command::Yield);
    }
    assert_eq!(driver.next_with(options), send(10_000));
    assert_eq!(driver.pass(9_500).fail(BUSY), FAILED);
}

#[test]
fn a_page_received_after_the_total_timeout_still_counts() {
    let options = within(10_000);
    let mut driver = views();
    assert_eq!(driver.next_with(options), send(10_000));
    assert_eq!(driver.pass(20_000).step(page(50, true)), Command::Yield);
    assert_eq!(offset(&driver), Some(50));
}

#[test]
fn requesting_the_next_page_during_an_attempt_or_a_delay_loses_no_page() {
    let mut driver = jobs();
    assert_eq!(driver.next(), FIRST_SEND);
    assert_eq!(driver.step(job_page(Some("b"))), Command::Yield);
    assert_eq!(driver.next(), FIRST_SEND);
    assert_eq!(driver.next(), FIRST_SEND);
    assert_eq!(cursor(&driver), Some("b"));
    assert_eq!(driver.fail(BUSY), retry(500));
    assert_eq!(driver.next(), FIRST_SEND);
    assert_eq!(cursor(&driver), Some("b"));
    assert_eq!(driver.step(job_page(Some("c"))), Command::Yield);
    assert_eq!(cursor(&driver), Some("c"));
}

#[test]
fn a_page_that_contradicts_its_list_is_an_error_that_ends_the_list() {
    let from_a = || list(Operation::ListAgentJobs, &json!({ "cursor": "a" }));
    for (mut driver, event, at) in [
        (views(), page(51, true), "views"),
        (from_a(), job_page(Some("a")), "nextCursor"),
        (from_a(), page(2, true), "nextCursor"),
    ] {
        assert_eq!(driver.next(), FIRST_SEND);
        match driver.step(event) {
            Command::Fail(Reason::Page(PageError::Decode { at: found, .. })) => {
                assert_eq!(found, at);
            }
            other => panic!("expected a decode error, found {other:?}"),
        }
        assert_eq!(driver.task.call(), None);
        assert_eq!(driver.next(), Command::Done);
    }
}

fn any_options() -> impl Strategy<Value = CallOptions> {
    (1..60_000_u64, 0..=10_u32, any::<bool>()).prop_map(
        |(timeout, max_retries, is_deduplicated)| CallOptions {
            timeout: Millis(timeout),
            max_retries,
            is_deduplicated,
            ..CallOptions::default()
        },
    )
}

fn any_failure() -> impl Strategy<Value = Failure> {
    prop_oneof![
        any::<u16>().prop_map(Failure::Status),
        prop::sample::select(vec![
            BUSY,
            Failure::StillRunning,
            Failure::Connection,
            Failure::Timeout,
            Failure::OutcomeUnknown,
            Failure::Malformed,
        ]),
    ]
}

/// Any event, including those that no driver would report.
fn any_event() -> impl Strategy<Value = Event<'static>> {
    let hint = prop::option::of((0..100_000_u64).prop_map(Millis));
    prop_oneof![
        3 => any_options().prop_map(Event::Next),
        3 => Just(Event::Waited),
        1 => Just(Event::Result),
        1 => any::<u64>().prop_map(|rows| Event::Page(PageInfo { rows, ..PageInfo::default() })),
        4 => (any_failure(), hint).prop_map(|(failure, retry_after)| Event::Failed { failure, retry_after }),
    ]
}

proptest! {
    #[test]
    fn a_post_that_is_not_deduplicated_is_never_sent_twice(
        events in vec((any_event(), 0..100_000_u64, 0.0..=1.0), 1..60),
    ) {
        let mut driver = Driver::new(Task::new(create()));
        let mut is_deduplicated = false;
        let mut sent = Vec::new();
        for (event, elapsed, random) in events {
            if let Event::Next(options) = &event {
                is_deduplicated = options.is_deduplicated;
            }
            driver.pass(elapsed);
            if matches!(driver.task.step(event, driver.now, random), Command::Send(_)) {
                sent.push(is_deduplicated);
            }
        }
        prop_assert!(sent.len() <= 1 || sent.iter().all(|sent| *sent), "{:?}", sent);
    }
}
