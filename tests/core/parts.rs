use std::collections::BTreeMap;

use proptest::prelude::*;
use quillgate::pages::Pages;
use quillgate::pages::RowKey;
use quillgate::{Call, Millis, Operation, PageInfo};
use serde_json::{Value, json};

use crate::call::call;

const CURSOR: &str = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
const HOUR: u64 = 3_600_000;
/// 2024-01-01.
const START: u64 = 1_704_067_200_000;

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
        assert_eq!(dates(&pages), with_dates, "{operation:?}");
        assert!(pages.after_failure(414), "{operation:?}");
        assert_eq!(dates(&pages), [None, None, Some("b")], "{operation:?}");
        let stored = pages.position().unwrap();
        let from = stored.text("dateFrom");
        assert_eq!(from, Some("2023-01-01"), "{operation:?}");
        pages.advance(&page(Vec::new(), Some("c"))).unwrap();
        assert_eq!(dates(&pages), [None, None, Some("c")], "{operation:?}");
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
        assert!(!one.after_failure(504), "a single page of {operation:?}");
    }
    let mut jobs = everything(Operation::ListAgentJobs, &json!({ "cursor": "b" }));
    assert!(!jobs.after_failure(414) && !jobs.after_failure(504));
    assert_eq!(jobs.advise(504), None);
    for status in [400, 401, 403, 404, 429, 500, 502, 503] {
        let mut pages = everything(Operation::ListFeedback, &year());
        assert!(!pages.after_failure(status), "{status}");
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
        assert!(pages.after_failure(504), "{operation:?}");
        let position = pages.position().unwrap();
        let rule = position.check_cursor().unwrap_err().rule.name();
        let is_conversations = operation == Operation::ListConversations;
        assert_eq!(rule, if is_conversations { "ulid" } else { "one-of" });
        let resumed = Pages::through_everything(position, Millis(START)).unwrap();
        assert_eq!(dates(&resumed), dates(&pages), "{operation:?}");
        let unreadable = call(operation, &json!({ "cursor": unread }));
        let error = Pages::through_everything(unreadable, Millis(START)).unwrap_err();
        let found = (error.field.as_ref(), error.rule.name());
        assert_eq!(found, ("cursor", rule), "{operation:?}");
    }
    let thread = Operation::GetConversation.declaration();
    for id in ["part~~~~~~".to_owned(), format!("part~~~~~~{CURSOR}")] {
        let error = Call::parse(thread, &json!({ "threadId": id })).unwrap_err();
        assert_eq!(error.rule.name(), "ulid", "{id}");
    }
}

/// A turn: the id of its conversation, and its hour.
type Turn = (u8, u64);

#[derive(Debug, Clone, Copy, PartialEq)]
enum TooLong {
    Never,
    WithDates,
    Always,
}

/// A server that lists turns, and fails as Mintlify does.
struct Server {
    turns: Vec<Turn>,
    oldest_first: bool,
    page_rows: usize,
    /// The longest range that does not time out, in hours.
    longest: u64,
    /// The requests with a cursor that are too long.
    too_long: TooLong,
}

/// The rows of a page with their indices in `turns`, and the next cursor; or a status.
type Answer = Result<(Vec<usize>, Option<String>), u16>;

impl Server {
    fn answer(&self, call: &Call) -> Answer {
        let range = ["dateFrom", "dateTo"].map(|name| call.text(name).map(millis));
        let (from, to, first) = match call.text("cursor") {
            Some(_) if self.too_long == TooLong::Always => return Err(414),
            Some(_) if self.too_long == TooLong::WithDates && range[1].is_some() => {
                return Err(414);
            }
            // The cursor contains the range.
            Some(cursor) => {
                let mut parts = cursor.split('_').map(|part| part.parse().unwrap());
                let mut part = || parts.next().unwrap();
                (part(), part(), usize::try_from(part()).unwrap())
            }
            None => (range[0].unwrap_or(START), range[1].unwrap(), 0),
        };
        let mut listed: Vec<_> = (0..self.turns.len()).collect();
        listed.retain(|at| (from..to).contains(&time(self.turns[*at])));
        listed.sort_by_key(|at| time(self.turns[*at]));
        if !self.oldest_first {
            listed.reverse();
        }
        // A page near the end of a long list takes too long.
        if to - from > self.longest * HOUR && first + self.page_rows >= listed.len() {
            return Err(504);
        }
        let end = listed.len().min(first + self.page_rows);
        let next = (end < listed.len()).then(|| format!("{from}_{to}_{end}"));
        Ok((listed[first.min(end)..end].to_vec(), next))
    }
}

fn millis(text: &str) -> u64 {
    let text = if text.len() == 10 {
        format!("{text}T00:00:00Z")
    } else {
        text.to_owned()
    };
    text.parse::<quillgate::Timestamp>().unwrap().as_millis()
}

const fn time((_, hour): Turn) -> u64 {
    START + hour * HOUR
}

proptest! {
    #[test]
    fn parts_neither_lose_nor_repeat_rows(
        turns in prop::collection::vec((0..3_u8, 0..2400_u64), 0..60),
        oldest_first: bool,
        page_rows in 2..8_usize,
        longest in 100..4000_u64,
        too_long in prop::sample::select(vec![TooLong::Never, TooLong::WithDates, TooLong::Always]),
        resume_every in 1..4_usize,
    ) {
        let server = Server { turns, oldest_first, page_rows, longest, too_long };
        let params = json!({ "dateFrom": "2024-01-01", "dateTo": "2024-04-10" });
        let mut pages = everything(Operation::ListFeedback, &params);
        let mut received = BTreeMap::<Turn, usize>::new();
        let mut requests = 0;
        while let Some(call) = pages.next() {
            requests += 1;
            // The 2,400 hours can need as many parts, with a few requests each.
            prop_assert!(requests < 10_000, "endless");
            match server.answer(call) {
                Ok((rows, next)) => {
                    let key = |at: &usize| {
                        let (id, _) = server.turns[*at];
                        let at = quillgate::Timestamp::from_millis(time(server.turns[*at]));
                        RowKey::new(&id.to_string(), &at.to_string())
                    };
                    pages.advance(&page(rows.iter().map(key).collect(), next.as_deref())).unwrap();
                    for (index, at) in rows.iter().enumerate() {
                        if !pages.repeated().contains(&index) {
                            *received.entry(server.turns[*at]).or_default() += 1;
                        }
                    }
                }
                // No further split is possible. Nothing was repeated before.
                Err(status) if !pages.after_failure(status) => break,
                Err(_) => continue,
            }
            if requests % resume_every == 0
                && let Some(position) = pages.position()
                && position.text("cursor").is_none_or(|cursor| cursor.starts_with("part~"))
            {
                let stored: Value = serde_json::from_str(
                    &position.to_json(quillgate::declaration::ParameterIn::Query),
                ).unwrap();
                prop_assert_eq!(&stored["dateFrom"], "2024-01-01");
                pages = everything(Operation::ListFeedback, &stored);
            }
        }
        let mut expected = BTreeMap::<Turn, usize>::new();
        for turn in &server.turns {
            *expected.entry(*turn).or_default() += 1;
        }
        if pages.next().is_none() {
            prop_assert_eq!(received, expected);
        } else {
            for (turn, count) in received {
                prop_assert!(count <= expected[&turn], "{:?} repeated", turn);
            }
        }
    }
}
