//! Faults that change pages of lists.

use serde_json::{Value, json};

use crate::client::{Client, REPORTS, VIEWS, encode, fast_options};

const RANGE: &str = "dateFrom=2024-01-01&dateTo=2024-03-01";

/// Each list with cursors, and the field with its rows.
const CURSOR_LISTS: [(&str, &str); 3] = [
    ("feedback", "feedback"),
    ("searches", "searches"),
    ("assistant", "conversations"),
];

fn page(client: &Client, report: &str, cursor: Option<&str>) -> Value {
    let cursor = cursor.map_or_else(String::new, |cursor| format!("&cursor={}", encode(cursor)));
    client.report(report, &format!("{RANGE}&limit=10{cursor}"))
}

fn cursor(page: &Value) -> &str {
    page["nextCursor"].as_str().unwrap()
}

fn queue_fault(client: &Client, kind: &str) {
    client.fault(&json!({ "kind": kind }));
}

#[test]
fn an_empty_page_has_the_cursor_of_the_next_page() {
    let client = Client::start(fast_options());
    for (report, rows) in CURSOR_LISTS {
        let first = page(&client, report, None);
        let second = page(&client, report, Some(cursor(&first)));
        queue_fault(&client, "emptyPage");
        let empty = page(&client, report, Some(cursor(&first)));
        assert_eq!(empty[rows], json!([]), "{report}");
        assert_eq!(empty["nextCursor"], second["nextCursor"], "{report}");
        assert_eq!(empty.get("hasMore"), second.get("hasMore"), "{report}");
        assert_eq!(empty.get("totalSearches"), second.get("totalSearches"));
        assert_eq!(page(&client, report, Some(cursor(&first))), second);
    }
}

#[test]
fn an_empty_last_page_still_has_a_cursor() {
    let client = Client::start(fast_options());
    for (report, rows) in CURSOR_LISTS {
        let day = "dateFrom=2024-01-01&dateTo=2024-01-02&limit=100";
        let mut last = client.report(report, day);
        let mut query = day.to_owned();
        while let Some(cursor) = last["nextCursor"].as_str() {
            query = format!("{day}&cursor={}", encode(cursor));
            last = client.report(report, &query);
        }
        queue_fault(&client, "emptyPage");
        let empty = client.report(report, &query);
        assert_eq!(empty[rows], json!([]), "{report}");
        let after_last = format!("{day}&cursor={}", encode(cursor(&empty)));
        let after_last = client.report(report, &after_last);
        assert_eq!(
            (&after_last[rows], &after_last["nextCursor"]),
            (&json!([]), &Value::Null)
        );
    }
}

#[test]
fn lists_without_cursors_can_have_empty_pages() {
    let client = Client::start(fast_options());
    for (report, rows) in [
        ("views", "views"),
        ("visitors", "visitors"),
        ("feedback/by-page", "feedback"),
    ] {
        let query = format!("{RANGE}&limit=100");
        let mut expected = client.report(report, &query);
        assert_eq!(expected["hasMore"], false);
        expected[rows] = json!([]);
        expected["hasMore"] = json!(true);
        queue_fault(&client, "emptyPage");
        assert_eq!(client.report(report, &query), expected, "{report}");
    }
}

#[test]
fn a_repeated_cursor_returns_the_same_page() {
    let client = Client::start(fast_options());
    for (report, rows) in CURSOR_LISTS {
        let first = page(&client, report, None);
        let second = page(&client, report, Some(cursor(&first)));
        let rule = json!({ "times": 0, "fault": { "kind": "repeatCursor" } });
        client.control("POST", "/faults", &rule);
        let faulty = page(&client, report, None);
        assert_eq!(faulty, first, "{report}");
        for _ in 0..3 {
            let repeated = page(&client, report, Some(cursor(&faulty)));
            assert_eq!(repeated["nextCursor"], faulty["nextCursor"], "{report}");
            assert_eq!(repeated[rows], second[rows], "{report}");
        }
        client.control("DELETE", "/faults", &Value::Null);
    }
    let views = client.get(VIEWS).json();
    queue_fault(&client, "repeatCursor");
    assert_eq!(client.get(VIEWS).json(), views);
}

#[test]
fn has_more_is_false_despite_a_cursor() {
    let client = Client::start(fast_options());
    for report in ["feedback", "assistant"] {
        let mut expected = page(&client, report, None);
        expected["hasMore"] = json!(false);
        queue_fault(&client, "hasMoreFalse");
        let faulty = page(&client, report, None);
        assert!(faulty["nextCursor"].is_string());
        assert_eq!(faulty, expected, "{report}");
    }
    let searches = page(&client, "searches", None);
    queue_fault(&client, "hasMoreFalse");
    assert_eq!(page(&client, "searches", None), searches);
    queue_fault(&client, "hasMoreFalse");
    let views = client.report("views", "limit=5");
    assert_eq!(
        (views["views"].as_array().unwrap().len(), &views["hasMore"]),
        (5, &json!(false))
    );
}

#[test]
fn a_response_that_is_not_a_page_is_unchanged() {
    let client = Client::start(fast_options());
    for kind in ["emptyPage", "repeatCursor", "hasMoreFalse"] {
        queue_fault(&client, kind);
        let rejected = client.get(&format!("{REPORTS}/feedback?limit=0"));
        assert_eq!(rejected.status, 400, "{kind}");
        assert_eq!(rejected.json()["details"].as_array().unwrap().len(), 1);
    }
}
