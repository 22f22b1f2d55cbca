//! A task that fetches a list page by page.

use super::*;

fn list(operation: Operation, params: &Value) -> Driver {
    Driver::new(Task::list(Pages::new(call(operation, params))))
}

fn views() -> Driver {
    list(Operation::ListPageViews, &json!({ "limit": 50 }))
}

fn jobs() -> Driver {
    list(Operation::ListAgentJobs, &json!({ "limit": 2 }))
}

/// A page of 50 rows by offset.
fn page(has_more: bool) -> Event<'static> {
    Event::Page(PageInfo {
        rows: 50,
        has_more: Some(has_more),
        ..PageInfo::default()
    })
}

/// A page of two rows by cursor.
fn job_page(next_cursor: Option<&str>) -> Event<'_> {
    Event::Page(PageInfo {
        rows: 2,
        has_more: None,
        next_cursor,
        ..PageInfo::default()
    })
}

fn offset(driver: &Driver) -> Option<u64> {
    driver.task.call().and_then(|call| call.integer("offset"))
}

fn cursor(driver: &Driver) -> Option<&str> {
    driver.task.call().and_then(|call| call.text("cursor"))
}

#[test]
fn a_failed_page_is_retried() {
    let mut driver = views();
    assert_eq!(driver.next(), FIRST_SEND);
    assert_eq!(driver.step(page(true)), Command::Yield);
    assert_eq!(driver.next(), FIRST_SEND);
    for delay in [500, 1_000] {
        assert_eq!(driver.fail(BUSY), retry(delay));
        assert_eq!(offset(&driver), Some(50));
        assert_eq!(driver.end_wait(delay), FIRST_SEND);
        assert_eq!(offset(&driver), Some(50));
    }
    assert_eq!(driver.step(page(false)), Command::Yield);
    assert_eq!(driver.next(), Command::Done);
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
        total_timeout: Some(Millis(10_000)),
        max_retries: 1,
        ..CallOptions::default()
    };
    let mut driver = views();
    for _ in 0..5 {
        assert_eq!(driver.next_with(options), send(10_000));
        assert_eq!(driver.pass(9_000).fail(BUSY), retry(500));
        assert_eq!(driver.end_wait(500), send(500));
        assert_eq!(driver.step(page(true)), Command::Yield);
    }
    assert_eq!(driver.next_with(options), send(10_000));
    assert_eq!(driver.pass(9_500).fail(BUSY), FAILED);
}

#[test]
fn a_page_received_after_the_total_timeout_still_counts() {
    let options = CallOptions {
        total_timeout: Some(Millis(10_000)),
        ..CallOptions::default()
    };
    let mut driver = views();
    assert_eq!(driver.next_with(options), send(10_000));
    assert_eq!(driver.pass(20_000).step(page(true)), Command::Yield);
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
    let too_many = Event::Page(PageInfo {
        rows: 51,
        has_more: Some(true),
        ..PageInfo::default()
    });
    let repeated = job_page(Some("a"));
    let without_cursor = Event::Page(PageInfo {
        rows: 2,
        has_more: Some(true),
        ..PageInfo::default()
    });
    let from_a = || list(Operation::ListAgentJobs, &json!({ "cursor": "a" }));
    for (mut driver, event, at) in [
        (views(), too_many, "views"),
        (from_a(), repeated, "nextCursor"),
        (from_a(), without_cursor, "nextCursor"),
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
