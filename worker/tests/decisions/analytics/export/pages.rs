//! The pages of an export. An export requests upstream pages in order, and resumes after the last
//! received row. The waits of an export for the budget share one maximum waiting time.

use proptest::prelude::*;
use quillgate::{Call, Millis, Operation, ProjectId};
use quillgate_worker::analytics::export::{Export, PageFault};
use serde_json::{Value, json};

use crate::fixtures::{NOW, configuration};

const CURSOR: &str = "01ARZ3NDEKTSV4RRFFQ69G5FAV";

fn begin(operation: Operation, more: &Value) -> Option<Export> {
    let mut params =
        json!({ "format": "ndjson", "dateFrom": "2024-01-01", "dateTo": "2024-02-01" });
    for (name, value) in more.as_object().unwrap() {
        params[name] = value.clone();
    }
    let call = Call::parse(operation.declaration(), &params).unwrap();
    let project = ProjectId::new("acme").unwrap();
    let report = operation.exported().unwrap();
    let export = Export::new(report, call, &project, &configuration().analytics, NOW);
    export.ok()
}

fn views(more: &Value) -> Export {
    begin(Operation::ExportPageViews, more).unwrap()
}

fn requested_arguments(export: &Export) -> Vec<(&'static str, &str)> {
    let call = export.next().unwrap();
    let arguments = call.arguments();
    arguments.map(|(own, text)| (own.name, text)).collect()
}

/// Returns an upstream page of views. `rows` contains the number of each row, which is also its
/// path.
fn page(rows: std::ops::Range<u64>, has_more: bool) -> String {
    let rows: Vec<_> = rows.map(|row| json!({ "path": row.to_string() })).collect();
    json!({ "totals": {}, "views": rows, "hasMore": has_more }).to_string()
}

const RANGE: [(&str, &str); 2] = [("dateFrom", "2024-01-01"), ("dateTo", "2024-02-01")];

#[test]
fn an_export_requests_maximum_pages_in_order() {
    let mut export = views(&json!({}));
    let mut out = Vec::new();
    for (offset, has_more) in [("0", true), ("250", true), ("500", false)] {
        let window = [("limit", "250"), ("offset", offset)];
        assert_eq!(requested_arguments(&export), [RANGE, window].concat());
        assert_eq!(export.cursor(), offset);
        export.push_page(&page(0..250, has_more), &mut out).unwrap();
    }
    assert_eq!(export.next(), None);
    assert_eq!(export.rows(), 750);
    assert_eq!(String::from_utf8(out).unwrap().lines().count(), 750);
}

#[test]
fn an_export_by_cursor_continues_at_the_cursor_of_the_previous_page() {
    let mut export = begin(Operation::ExportSearches, &json!({})).unwrap();
    assert_eq!(
        requested_arguments(&export),
        [&RANGE[..], &[("limit", "100")]].concat()
    );
    assert_eq!(export.cursor(), "0~");
    let mut out = Vec::new();
    let first = json!({ "searches": [{ "hits": 1 }], "nextCursor": "n~1" }).to_string();
    export.push_page(&first, &mut out).unwrap();
    assert_eq!(export.next().unwrap().text("cursor"), Some("n~1"));
    assert_eq!(export.cursor(), "0~n~1");
    let repeated = export.push_page(&first, &mut out);
    let reason = "nextCursor repeats an earlier cursor: \"n~1\"".to_owned();
    assert_eq!(repeated, Err(PageFault::Contradiction(reason)));
    assert_eq!(export.cursor(), "0~n~1");
    assert_eq!(out, b"{\"hits\":1}\n");
}

#[test]
fn a_page_with_more_rows_than_requested_is_rejected() {
    let mut export = views(&json!({ "cursor": "300" }));
    let mut out = Vec::new();
    let page = |rows| json!({ "views": vec![json!({}); rows], "hasMore": true }).to_string();
    export.push_page(&page(250), &mut out).unwrap();
    assert_eq!((export.rows(), export.cursor()), (200, "500"));
    let length = out.len();
    let rejected = export.push_page(&page(251), &mut out);
    assert_eq!((rejected.is_err(), export.cursor()), (true, "500"));
    assert_eq!(out.len(), length);
}

#[test]
fn filters_are_sent_with_every_page() {
    let filters = json!({ "source": "contextual", "status": "pending" });
    let export = begin(Operation::ExportFeedback, &filters).unwrap();
    let call = export.next().unwrap();
    assert_eq!(call.text("source"), Some("contextual"));
    assert_eq!(call.text("status"), Some("pending"));
    assert_eq!(call.text("limit"), Some("100"));
}

#[test]
fn an_interrupted_export_resumes_after_the_last_received_row() {
    for (cursor, offset, skipped) in [
        ("0", "0", 0),
        ("249", "0", 249),
        ("250", "250", 0),
        ("1001", "1000", 1),
    ] {
        let mut export = views(&json!({ "cursor": cursor }));
        assert_eq!(export.next().unwrap().text("offset"), Some(offset));
        assert_eq!(export.cursor(), cursor);
        let mut out = Vec::new();
        export.push_page(&page(0..250, false), &mut out).unwrap();
        assert_eq!(export.rows(), 250 - skipped, "from {cursor}");
    }
    let resumed = json!({ "cursor": format!("7~{CURSOR}") });
    let export = begin(Operation::ExportConversations, &resumed).unwrap();
    assert_eq!(export.next().unwrap().text("cursor"), Some(CURSOR));
    assert_eq!(export.cursor(), format!("7~{CURSOR}"));
    let empty = views(&json!({ "cursor": "700" }));
    let mut export = empty;
    export
        .push_page(&page(0..10, false), &mut Vec::new())
        .unwrap();
    assert_eq!((export.rows(), export.next()), (0, None));
}

#[test]
fn an_invalid_cursor_is_rejected() {
    for cursor in ["x", "-1", "1.5", "9007199254740992", "1~", "+1", " 1"] {
        let resumed = json!({ "cursor": cursor });
        assert!(
            begin(Operation::ExportPageViews, &resumed).is_none(),
            "{cursor}"
        );
    }
    for cursor in ["12", "~a", "x~a", "-1~a"] {
        let resumed = json!({ "cursor": cursor });
        assert!(
            begin(Operation::ExportSearches, &resumed).is_none(),
            "{cursor}"
        );
    }
    let no_ulid = json!({ "cursor": "0~abc" });
    assert!(begin(Operation::ExportConversations, &no_ulid).is_none());
}

#[test]
fn a_malformed_or_oversized_page_changes_nothing() {
    let mut export = views(&json!({}));
    let mut out = Vec::new();
    export.push_page(&page(0..250, true), &mut out).unwrap();
    let before = out.clone();
    for bad in ["", "{\"views\":[{},1]}", &page(0..251, true)] {
        assert!(export.push_page(bad, &mut out).is_err());
        assert_eq!((export.cursor(), export.rows()), ("250", 250));
        assert_eq!(out, before);
    }
}

#[test]
fn the_fifth_empty_page_in_a_row_is_an_error() {
    let mut export = views(&json!({}));
    let mut out = Vec::new();
    for _ in 0..4 {
        export.push_page(&page(0..0, true), &mut out).unwrap();
    }
    assert_eq!(export.cursor(), "1000");
    let reason = "hasMore is set after 5 empty pages in a row".to_owned();
    assert_eq!(
        export.push_page(&page(0..0, true), &mut out),
        Err(PageFault::Contradiction(reason))
    );
}

#[test]
fn all_waits_of_an_export_share_one_allowance() {
    let (now, expires) = (Millis(1_000_000), Millis(1_100_000));
    let mut export = views(&json!({}));
    assert_eq!(export.plan_wait(Some(1), now, expires), None);
    export.begin(60);
    assert_eq!(export.plan_wait(None, now, expires), None);
    assert_eq!(export.plan_wait(Some(61), now, expires), None);
    assert_eq!(
        export.plan_wait(Some(40), now, expires),
        Some(Millis::from_seconds(40))
    );
    assert_eq!(export.plan_wait(Some(21), now, expires), None);
    assert_eq!(
        export.plan_wait(Some(0), now, expires),
        Some(Millis::from_seconds(1)),
        "at least a second"
    );
    assert_eq!(
        export.plan_wait(Some(19), now, Millis(1_019_000)),
        None,
        "not beyond the expiry of the token"
    );
    assert_eq!(
        export.plan_wait(Some(19), now, expires),
        Some(Millis::from_seconds(19))
    );
    assert_eq!(export.plan_wait(Some(1), now, expires), None);
}

/// Reads an export of `rows` rows. For each number in `cuts`, interrupts the export after that many
/// rows, then resumes it at the cursor. Returns the received lines and the number of requested
/// upstream pages.
fn read_in_pieces(rows: u64, cuts: &[u64]) -> (String, u64) {
    let (mut received, mut requests) = (0, 0);
    let mut text = String::new();
    let mut cuts = cuts.iter().copied();
    'resume: loop {
        let mut export = views(&json!({ "cursor": received.to_string() }));
        let cut = cuts.next();
        let mut received_now = 0;
        while let Some(call) = export.next() {
            requests += 1;
            let from = call.integer("offset").unwrap().min(rows);
            let to = (from + 250).min(rows);
            let mut chunk = Vec::new();
            export
                .push_page(&page(from..to, to < rows), &mut chunk)
                .unwrap();
            for line in String::from_utf8(chunk).unwrap().lines() {
                if Some(received_now) == cut {
                    continue 'resume;
                }
                text.push_str(line);
                text.push('\n');
                (received_now, received) = (received_now + 1, received + 1);
            }
        }
        return (text, requests);
    }
}

proptest! {
    // Fewer cases than usual, because each one builds several pages of 250 rows.
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn joined_pieces_equal_an_uninterrupted_export(rows in 0..2_000_u64, cuts in prop::collection::vec(0..700_u64, 0..6)) {
        let (whole, requests) = read_in_pieces(rows, &[]);
        let expected: String = (0..rows).map(|row| json!({ "path": row.to_string() }).to_string() + "\n").collect();
        prop_assert_eq!(&whole, &expected);
        prop_assert_eq!(requests, rows.div_ceil(250).max(1));
        let (joined, with_cuts) = read_in_pieces(rows, &cuts);
        prop_assert_eq!(joined, expected);
        prop_assert!(with_cuts <= requests + cuts.len() as u64);
    }
}

/// Returns a page of conversations at these minutes of 2024-01-20, which share an id.
fn turns(minutes: &[u32], next: Option<&str>) -> String {
    let turn =
        |minute: &u32| json!({ "id": "t", "timestamp": format!("2024-01-20T00:{minute:02}:00Z") });
    let rows: Vec<_> = minutes.iter().map(turn).collect();
    json!({ "conversations": rows, "nextCursor": next, "hasMore": next.is_some() }).to_string()
}

#[test]
fn an_export_of_events_continues_in_parts_after_a_timeout() {
    let mut export = begin(Operation::ExportConversations, &json!({})).unwrap();
    let mut out = Vec::new();
    export
        .push_page(&turns(&[9, 8, 7], Some(CURSOR)), &mut out)
        .unwrap();
    assert!(export.after_failure(504));
    let part = ["2024-01-10T12:03:30.001Z", "2024-01-20T00:07:00.001Z"];
    let window = [
        ("dateFrom", part[0]),
        ("dateTo", part[1]),
        ("limit", "1000"),
    ];
    assert_eq!(requested_arguments(&export), window);

    // Another export resumes within the part.
    let cursor = export.cursor().to_owned();
    let mut resumed = begin(Operation::ExportConversations, &json!({ "cursor": cursor })).unwrap();
    for export in [&mut export, &mut resumed] {
        assert_eq!(requested_arguments(export), window);
        let mut out = Vec::new();
        export.push_page(&turns(&[7, 6], None), &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert_eq!(text.lines().count(), 1, "{text}");
        assert!(text.contains("00:06"), "{text}");
        assert_eq!(export.next().unwrap().text("dateTo"), Some(part[0]));
    }
}

#[test]
fn an_export_that_resumes_within_a_page_is_not_split() {
    for cursor in ["2~".to_owned(), format!("2~{CURSOR}")] {
        let resumed = json!({ "cursor": cursor });
        let mut export = begin(Operation::ExportConversations, &resumed).unwrap();
        assert!(!export.after_failure(504));
        assert_eq!(export.cursor(), cursor);
        assert!(!export.after_failure(414));
        let mut out = Vec::new();
        export
            .push_page(&turns(&[9, 8, 7], None), &mut out)
            .unwrap();
        assert_eq!(export.rows(), 1);
    }
}

#[test]
fn an_export_of_events_accepts_the_same_rows_as_a_report() {
    let row = |minute| {
        let day = "2024-01-20T00";
        format!(r#"{{"id":"x","id":"t\ud83d","timestamp":"{day}:0{minute}:00Z","query":"\ud83d"}}"#)
    };
    let turns = |rows: &[String]| {
        let rows = rows.join(",");
        format!(r#"{{"conversations":[{rows}],"hasMore":true,"nextCursor":"{CURSOR}"}}"#)
    };
    let mut export = begin(Operation::ExportConversations, &json!({})).unwrap();
    let mut out = Vec::new();
    let first = turns(&[row(8), row(7), r#"{"id":7,"timestamp":null}"#.to_owned()]);
    export.push_page(&first, &mut out).unwrap();
    assert_eq!(export.rows(), 3);
    assert!(export.after_failure(504));
    // The last id counts, so this row has the key of a received row.
    let same = row(7).replace(r#""id":"x","#, "");
    export.push_page(&turns(&[same, row(6)]), &mut out).unwrap();
    assert_eq!(export.rows(), 4);
}

#[test]
fn an_export_of_search_terms_is_never_split() {
    let mut export = begin(Operation::ExportSearches, &json!({})).unwrap();
    assert!(!export.after_failure(504));
    let advice =
        "request a shorter range, such as dateFrom=2024-01-01 and dateTo=2024-01-16T12:00:00.000Z";
    assert_eq!(export.advise(504).as_deref(), Some(advice));
}

#[test]
fn an_export_is_mixed_if_the_totals_change() {
    let mut export = views(&json!({}));
    let grown = page(250..300, false).replace("{}", r#"{"human":1}"#);
    for (page, is_mixed) in [(page(0..250, true), false), (grown, true)] {
        export.push_page(&page, &mut Vec::new()).unwrap();
        assert_eq!(export.is_mixed(), is_mixed);
    }
}
