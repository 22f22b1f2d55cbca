//! Pages of lists that lie about what follows.

use serde_json::{Value, json};

use crate::client::{Client, REPORTS, VIEWS, encode, quick};

const RANGE: &str = "dateFrom=2024-01-01&dateTo=2024-03-01";

/// Each cursor list and its rows.
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

fn lie(client: &Client, kind: &str) {
    client.fault(&json!({ "kind": kind }));
}

#[test]
fn an_empty_page_goes_on_with_the_next_one() {
    let client = Client::start(quick());
    for (report, rows) in CURSOR_LISTS {
        let first = page(&client, report, None);
        let second = page(&client, report, Some(cursor(&first)));
        lie(&client, "emptyPage");
        let empty = page(&client, report, Some(cursor(&first)));
        assert_eq!(empty[rows], json!([]), "{report}");
        assert_eq!(empty["nextCursor"], second["nextCursor"], "{report}");
        assert_eq!(empty.get("hasMore"), second.get("hasMore"), "{report}");
        assert_eq!(empty.get("totalSearches"), second.get("totalSearches"));
        assert_eq!(page(&client, report, Some(cursor(&first))), second);
    }
}

#[test]
fn an_empty_page_goes_on_from_the_last_one_too() {
    let client = Client::start(quick());
    for (report, rows) in CURSOR_LISTS {
        let day = "dateFrom=2024-01-01&dateTo=2024-01-02&limit=100";
        let mut last = client.report(report, day);
        let mut query = day.to_owned();
        while let Some(cursor) = last["nextCursor"].as_str() {
            query = format!("{day}&cursor={}", encode(cursor));
            last = client.report(report, &query);
        }
        lie(&client, "emptyPage");
        let empty = client.report(report, &query);
        assert_eq!(empty[rows], json!([]), "{report}");
        let behind = format!("{day}&cursor={}", encode(cursor(&empty)));
        let behind = client.report(report, &behind);
        assert_eq!(
            (&behind[rows], &behind["nextCursor"]),
            (&json!([]), &Value::Null)
        );
    }
}

#[test]
fn lists_without_cursors_have_empty_pages_as_well() {
    let client = Client::start(quick());
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
        lie(&client, "emptyPage");
        assert_eq!(client.report(report, &query), expected, "{report}");
    }
}

#[test]
fn a_cursor_is_repeated_over_and_over() {
    let client = Client::start(quick());
    for (report, rows) in CURSOR_LISTS {
        let first = page(&client, report, None);
        let second = page(&client, report, Some(cursor(&first)));
        let order = json!({ "times": 0, "fault": { "kind": "repeatCursor" } });
        client.control("POST", "/faults", &order);
        let begun = page(&client, report, None);
        assert_eq!(begun, first, "{report}");
        for _ in 0..3 {
            let repeated = page(&client, report, Some(cursor(&begun)));
            assert_eq!(repeated["nextCursor"], begun["nextCursor"], "{report}");
            assert_eq!(repeated[rows], second[rows], "{report}");
        }
        client.control("DELETE", "/faults", &Value::Null);
    }
    let views = client.get(VIEWS).json();
    lie(&client, "repeatCursor");
    assert_eq!(client.get(VIEWS).json(), views);
}

#[test]
fn more_is_denied_beside_a_cursor() {
    let client = Client::start(quick());
    for report in ["feedback", "assistant"] {
        let mut expected = page(&client, report, None);
        expected["hasMore"] = json!(false);
        lie(&client, "hasMoreFalse");
        let denied = page(&client, report, None);
        assert!(denied["nextCursor"].is_string());
        assert_eq!(denied, expected, "{report}");
    }
    let searches = page(&client, "searches", None);
    lie(&client, "hasMoreFalse");
    assert_eq!(page(&client, "searches", None), searches);
    lie(&client, "hasMoreFalse");
    let views = client.report("views", "limit=5");
    assert_eq!(
        (views["views"].as_array().unwrap().len(), &views["hasMore"]),
        (5, &json!(false))
    );
}

#[test]
fn an_answer_that_is_no_page_stays_as_it_is() {
    let client = Client::start(quick());
    for kind in ["emptyPage", "repeatCursor", "hasMoreFalse"] {
        lie(&client, kind);
        let refused = client.get(&format!("{REPORTS}/feedback?limit=0"));
        assert_eq!(refused.status, 400, "{kind}");
        assert_eq!(refused.json()["details"].as_array().unwrap().len(), 1);
    }
}
