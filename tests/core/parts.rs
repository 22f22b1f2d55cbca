//! How a list continues after 414 and 504: without dates, then in parts of its range.

use quillgate::pages::Pages;
use quillgate::pages::RowKey;
use quillgate::{Call, Millis, Operation, PageInfo};
use serde_json::{Value, json};

const CURSOR: &str = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
/// 2024-01-01.
const START: u64 = 1_704_067_200_000;

fn call(operation: Operation, params: &Value) -> Call {
    Call::parse(operation.declaration(), params).unwrap()
}

fn everything(operation: Operation, params: &Value) -> Pages {
    Pages::through_everything(call(operation, params), Millis(START)).unwrap()
}

fn year() -> Value {
    json!({ "dateFrom": "2023-01-01", "dateTo": "2024-01-01" })
}

fn page(keys: Vec<RowKey>, next_cursor: Option<&str>) -> PageInfo<'_> {
    PageInfo {
        rows: keys.len() as u64,
        has_more: Some(next_cursor.is_some()),
        next_cursor,
        keys,
        ..PageInfo::default()
    }
}

fn dates(pages: &Pages) -> [Option<&str>; 3] {
    let call = pages.next().unwrap();
    ["dateFrom", "dateTo", "cursor"].map(|name| call.text(name))
}

#[test]
fn a_request_that_is_too_long_is_repeated_without_dates() {
    for operation in [Operation::ListSearches, Operation::ListFeedback] {
        let mut pages = everything(operation, &year());
        pages.advance(&page(Vec::new(), Some("b"))).unwrap();
        let with_dates = [Some("2023-01-01"), Some("2024-01-01"), Some("b")];
        assert_eq!(dates(&pages), with_dates);
        assert!(pages.after_failure(414));
        assert_eq!(dates(&pages), [None, None, Some("b")]);
        let stored = pages.position().unwrap();
        assert_eq!(stored.text("dateFrom"), Some("2023-01-01"));
        pages.advance(&page(Vec::new(), Some("c"))).unwrap();
        assert_eq!(dates(&pages), [None, None, Some("c")]);
    }
}

#[test]
fn only_lists_of_events_are_split() {
    for (operation, is_split) in [
        (Operation::ListFeedback, true),
        (Operation::ListConversations, true),
        (Operation::ListSearches, false),
        (Operation::ListPageViews, false),
        (Operation::ListVisitors, false),
    ] {
        let mut pages = everything(operation, &year());
        assert_eq!(pages.after_failure(504), is_split, "{operation:?}");
        let advice = pages.advise(504).unwrap();
        assert!(advice.contains("dateFrom=2023-"), "{advice}");
        let mut one = Pages::new(call(operation, &year()));
        assert!(!one.after_failure(504), "a single page is not split");
    }
    let mut jobs = everything(Operation::ListAgentJobs, &json!({ "cursor": "b" }));
    assert!(!jobs.after_failure(414) && !jobs.after_failure(504));
    assert_eq!(jobs.advise(504), None);
    for status in [400, 401, 403, 404, 429, 500, 502, 503] {
        assert!(!everything(Operation::ListFeedback, &year()).after_failure(status));
    }
}

#[test]
fn a_failing_range_is_split_six_times_in_a_row() {
    let mut pages = everything(Operation::ListConversations, &year());
    for _ in 0..6 {
        assert!(pages.after_failure(504));
    }
    assert_eq!(dates(&pages)[0], Some("2023-12-26T07:07:30.000Z"));
    assert!(!pages.after_failure(504));
}

/// Returns the number of pages after `failures` in a row, if every further page is empty.
fn count_pages(range: &Value, failures: usize) -> usize {
    let mut pages = everything(Operation::ListFeedback, range);
    for _ in 0..failures {
        assert!(pages.after_failure(504));
    }
    let mut count = 0;
    while pages.next().is_some() && count < 1_000 {
        pages.advance(&page(Vec::new(), None)).unwrap();
        count += 1;
    }
    count
}

#[test]
fn parts_grow_again_after_a_failure() {
    assert_eq!(count_pages(&year(), 6), 7);
}

#[test]
fn a_range_can_begin_before_1970() {
    for first in ["0000-01-01", "1900-01-01", "1969-12-31"] {
        let range = json!({ "dateFrom": first, "dateTo": "2024-01-01" });
        assert!(count_pages(&range, 1) < 4, "{first}");
    }
}

#[test]
fn a_resumed_part_that_is_not_in_order_of_time_is_not_split() {
    let mut pages = everything(Operation::ListFeedback, &year());
    assert!(pages.after_failure(504));
    let times = [
        "2023-11-01 00:00:00",
        "2023-10-01 00:00:00",
        "2023-12-01 00:00:00",
    ];
    let rows = times.map(|time| RowKey::new("f", time)).to_vec();
    pages.advance(&page(rows, Some("b"))).unwrap();
    let stored = pages.position().unwrap();
    let mut resumed = Pages::through_everything(stored, Millis(START)).unwrap();
    assert!(!resumed.after_failure(504));
}

#[test]
fn a_request_that_fails_without_dates_splits_the_range() {
    let mut pages = everything(Operation::ListFeedback, &year());
    let row = RowKey::new("f1", "2023-09-01T00:00:00Z");
    let second = RowKey::new("f2", "2023-08-01T00:00:00Z");
    pages.advance(&page(vec![row, second], Some("b"))).unwrap();
    assert!(pages.after_failure(414));
    assert!(pages.after_failure(400));
    let halves = [
        Some("2023-04-17T00:00:00.001Z"),
        Some("2023-08-01T00:00:00.001Z"),
    ];
    assert_eq!(dates(&pages)[..2], halves);
}

#[test]
fn a_resumed_list_is_not_split_while_its_earlier_rows_are_unknown() {
    let mut stored = year();
    stored["cursor"] = json!(CURSOR);
    let mut pages = everything(Operation::ListConversations, &stored);
    assert!(!pages.after_failure(504));
    let rows = ["2023-05-02T00:00:00Z", "2023-05-01T00:00:00Z"];
    let rows = rows.map(|time| RowKey::new("t", time)).to_vec();
    pages
        .advance(&page(rows, Some("01ARZ3NDEKTSV4RRFFQ69G5FAW")))
        .unwrap();
    assert!(pages.after_failure(504));
    assert_eq!(dates(&pages)[1], Some("2023-05-01T00:00:00.001Z"));
}

#[test]
fn a_position_is_never_sent() {
    let unread = format!("part~soon~{CURSOR}");
    for operation in [Operation::ListConversations, Operation::ListFeedback] {
        let mut pages = everything(operation, &year());
        assert!(pages.after_failure(504));
        let position = pages.position().unwrap();
        let rule = position.check_cursor().unwrap_err().rule.name();
        let is_conversations = operation == Operation::ListConversations;
        assert_eq!(rule, if is_conversations { "ulid" } else { "one-of" });
        let resumed = Pages::through_everything(position, Millis(START)).unwrap();
        assert_eq!(dates(&resumed), dates(&pages));
        let unreadable = call(operation, &json!({ "cursor": unread }));
        let error = Pages::through_everything(unreadable, Millis(START)).unwrap_err();
        assert_eq!((error.field.as_ref(), error.rule.name()), ("cursor", rule));
    }
    let thread = Operation::GetConversation.declaration();
    for id in ["part~~~~~~".to_owned(), format!("part~~~~~~{CURSOR}")] {
        let error = Call::parse(thread, &json!({ "threadId": id })).unwrap_err();
        assert_eq!(error.rule.name(), "ulid");
    }
}
