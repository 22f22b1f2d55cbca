use std::collections::HashSet;

use serde_json::{Value, json};

use crate::client::{Client, REPORTS, encode, fast_options, rows_of};

const RANGE: &str = "dateFrom=2024-01-01&dateTo=2024-03-01";

fn entries(client: &Client, query: &str) -> Vec<Value> {
    let pages = client.cursor_pages("feedback", &format!("{RANGE}&limit=100{query}"));
    rows_of(&pages, "feedback")
}

#[test]
fn cursors_page_through_all_entries_once() {
    let client = Client::start(fast_options());
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
        client.full_report("feedback", RANGE)["feedback"],
        json!(rows)
    );
}

#[test]
fn a_page_has_fifty_entries_by_default() {
    let client = Client::start(fast_options());
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
fn filters_select_a_source_and_statuses() {
    let client = Client::start(fast_options());
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
    let filtered = client.full_report("feedback", &format!("{RANGE}&source=agent"));
    assert_eq!(
        filtered["feedback"],
        json!(entries(&client, "&source=agent"))
    );
}

#[test]
fn a_cursor_of_another_list_is_rejected() {
    let client = Client::start(fast_options());
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
        let response = client.get(&format!("{REPORTS}/{target}"));
        assert_eq!(response.status, expected, "{target}");
        if expected == 400 {
            assert_eq!(
                response.json(),
                json!({
                    "error": "Invalid query parameters",
                    "details": [{ "message": "cursor does not belong to this list" }],
                })
            );
        }
    }
}

#[test]
fn feedback_by_page_counts_all_entries() {
    let client = Client::start(fast_options());
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
fn feedback_by_page_has_ten_pages_by_default_and_reports_whether_there_are_more() {
    let client = Client::start(fast_options());
    let page = |query: &str| {
        let page = client.report("feedback/by-page", &format!("{RANGE}{query}"));
        let count = page["feedback"].as_array().unwrap().len();
        (count, page["hasMore"] == true)
    };
    let full = client.full_report("feedback/by-page", RANGE);
    let all = full["feedback"].as_array().unwrap().len();
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
