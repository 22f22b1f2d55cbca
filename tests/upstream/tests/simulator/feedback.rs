use std::collections::HashSet;

use serde_json::{Value, json};

use crate::client::{Client, REPORTS, encode, quick, rows_of};

const RANGE: &str = "dateFrom=2024-01-01&dateTo=2024-03-01";

fn entries(client: &Client, query: &str) -> Vec<Value> {
    let pages = client.cursor_pages("feedback", &format!("{RANGE}&limit=100{query}"));
    rows_of(&pages, "feedback")
}

#[test]
fn cursors_lead_through_all_entries_once() {
    let client = Client::start(quick());
    let pages = client.cursor_pages("feedback", &format!("{RANGE}&limit=70"));
    let rows = rows_of(&pages, "feedback");
    assert!((595..=605).contains(&rows.len()), "{}", rows.len());
    assert_eq!(pages.len(), rows.len().div_ceil(70));
    let (last, others) = pages.split_last().unwrap();
    assert_eq!(
        (&last["hasMore"], &last["nextCursor"]),
        (&json!(false), &Value::Null)
    );
    assert!(others.iter().all(|page| page["hasMore"] == true));
    let ids: HashSet<_> = rows.iter().map(|row| row["id"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), rows.len());
    assert_eq!(
        client.whole_report("feedback", RANGE)["feedback"],
        json!(rows)
    );
}

#[test]
fn a_page_holds_fifty_entries_unless_told() {
    let client = Client::start(quick());
    let count = |query: &str| {
        let page = client.report("feedback", &format!("{RANGE}{query}"));
        page["feedback"].as_array().unwrap().len()
    };
    assert_eq!(
        (count(""), count("&limit=1"), count("&limit=100")),
        (50, 1, 100)
    );
}

#[test]
fn a_cursor_can_go_on_with_another_limit() {
    let client = Client::start(quick());
    let first = client.report("feedback", &format!("{RANGE}&limit=3"));
    let cursor = encode(first["nextCursor"].as_str().unwrap());
    let second = client.report("feedback", &format!("{RANGE}&limit=5&cursor={cursor}"));
    let rows = rows_of(&[first, second], "feedback");
    assert_eq!(json!(rows), json!(entries(&client, "")[..8]));
}

#[test]
fn filters_are_a_source_and_some_statuses() {
    let client = Client::start(quick());
    let all = entries(&client, "");
    let expect = |query: &str, matches: &dyn Fn(&Value) -> bool| {
        let expected: Vec<_> = all.iter().filter(|entry| matches(entry)).cloned().collect();
        assert!(!expected.is_empty() && expected.len() < all.len());
        assert_eq!(entries(&client, query), expected, "{query}");
    };
    for source in ["code_snippet", "contextual", "agent", "thumbs_only"] {
        expect(&format!("&source={source}"), &|entry| {
            entry["source"] == source
        });
    }
    for status in ["pending", "in_progress", "resolved", "dismissed"] {
        expect(&format!("&status={status}"), &|entry| {
            entry["status"] == status
        });
    }
    expect("&status=pending,resolved", &|entry| {
        entry["status"] == "pending" || entry["status"] == "resolved"
    });
    expect("&status=pending%2Cresolved&source=agent", &|entry| {
        entry["source"] == "agent"
            && (entry["status"] == "pending" || entry["status"] == "resolved")
    });
    assert_eq!(entries(&client, "&status=unknown"), [] as [Value; 0]);
    let filtered = client.whole_report("feedback", &format!("{RANGE}&source=agent"));
    assert_eq!(
        filtered["feedback"],
        json!(entries(&client, "&source=agent"))
    );
}

#[test]
fn a_cursor_of_another_list_is_refused() {
    let client = Client::start(quick());
    let page = client.report("feedback", &format!("{RANGE}&limit=5"));
    let cursor = encode(page["nextCursor"].as_str().unwrap());
    for (target, expected) in [
        (format!("feedback?{RANGE}&cursor={cursor}"), 200),
        (
            format!("feedback?{RANGE}&source=agent&cursor={cursor}"),
            400,
        ),
        (
            format!("feedback?dateFrom=2024-01-02&dateTo=2024-03-01&cursor={cursor}"),
            400,
        ),
        (format!("searches?{RANGE}&cursor={cursor}"), 400),
        (format!("feedback?{RANGE}&cursor="), 400),
        (format!("feedback?{RANGE}&cursor=2"), 400),
    ] {
        let answer = client.get(&format!("{REPORTS}/{target}"));
        assert_eq!(answer.status, expected, "{target}");
        if expected == 400 {
            assert_eq!(
                answer.json(),
                json!({
                    "error": "Invalid query parameters",
                    "details": [{ "message": "cursor must be one that this list gave" }],
                })
            );
        }
    }
}

#[test]
fn a_cursor_has_to_be_encoded() {
    let client = Client::start(quick());
    let page = client.report("feedback", &format!("{RANGE}&limit=5"));
    let cursor = page["nextCursor"].as_str().unwrap();
    let answer = client.get(&format!("{REPORTS}/feedback?{RANGE}&cursor={cursor}"));
    assert_eq!(answer.status, 400);
}

#[test]
fn pages_are_counted_over_all_their_entries() {
    let client = Client::start(quick());
    let page = client.report("feedback/by-page", &format!("{RANGE}&limit=100"));
    let rows = page["feedback"].as_array().unwrap();
    let all = entries(&client, "");
    let paths: HashSet<_> = all.iter().map(|entry| entry["path"].as_str()).collect();
    assert!(paths.len() > 30);
    assert_eq!(rows.len(), paths.len());
    assert_eq!(page["hasMore"], false);
    for row in rows {
        let count = |matches: fn(&Value) -> bool| {
            let of_page = all.iter().filter(|entry| entry["path"] == row["path"]);
            json!(of_page.filter(|entry| matches(entry)).count())
        };
        assert_eq!(row["total"], count(|_| true));
        assert_eq!(row["thumbsUp"], count(|entry| entry["helpful"] == true));
        assert_eq!(row["thumbsDown"], count(|entry| entry["helpful"] == false));
        assert_eq!(
            row["code"],
            count(|entry| entry["source"] == "code_snippet")
        );
    }
    let totals = rows.iter().map(|row| row["total"].as_u64().unwrap());
    assert!(totals.is_sorted_by(|a, b| a >= b));
}

#[test]
fn pages_with_feedback_are_ten_unless_told_and_say_whether_there_are_more() {
    let client = Client::start(quick());
    let page = |query: &str| {
        let page = client.report("feedback/by-page", &format!("{RANGE}{query}"));
        let count = page["feedback"].as_array().unwrap().len();
        (count, page["hasMore"] == true)
    };
    let whole = client.whole_report("feedback/by-page", RANGE);
    let all = whole["feedback"].as_array().unwrap().len();
    assert!(all > 30);
    assert_eq!(
        (page(""), page(&format!("&limit={}", all - 1))),
        ((10, true), (all - 1, true))
    );
    assert_eq!(page(&format!("&limit={all}")), (all, false));
    let agents = client.report(
        "feedback/by-page",
        &format!("{RANGE}&source=agent&limit=100"),
    );
    let agents = agents["feedback"].as_array().unwrap();
    assert!(!agents.is_empty() && agents.iter().all(|row| row["code"] == 0));
}

#[test]
fn comments_are_troublesome_and_sometimes_missing() {
    let client = Client::start(quick());
    let all = entries(&client, "");
    let any = |test: fn(&str) -> bool| {
        all.iter()
            .any(|entry| entry["comment"].as_str().is_some_and(test))
    };
    assert!(any(|text| text.starts_with('=')) && any(|text| text.starts_with('\t')));
    assert!(any(|text| text.contains('\n')) && any(|text| text.contains('"')));
    assert!(any(str::is_empty) && all.iter().any(|entry| entry["comment"].is_null()));
    let contextual = || all.iter().filter(|entry| entry["source"] == "contextual");
    assert!(contextual().any(|entry| entry["contact"].is_null()));
    assert!(contextual().any(|entry| entry["contact"].is_string()));
}
