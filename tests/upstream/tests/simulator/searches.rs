use std::collections::HashSet;

use serde_json::json;
use upstream::Options;

use crate::client::{Client, fast_options, rows_of};

const WEEK: &str = "dateFrom=2024-01-01&dateTo=2024-01-08";

#[test]
fn cursors_page_through_all_terms_by_frequency() {
    let client = Client::start(Options {
        searches: 230,
        ..fast_options()
    });
    let pages = client.cursor_pages("searches", &format!("{WEEK}&limit=100"));
    let rows = rows_of(&pages, "searches");
    assert_eq!((pages.len(), rows.len()), (3, 230));
    let terms: HashSet<_> = rows
        .iter()
        .map(|row| row["searchQuery"].as_str().unwrap())
        .collect();
    assert_eq!(terms.len(), 230);
    let hits: Vec<_> = rows
        .iter()
        .map(|row| row["hits"].as_u64().unwrap())
        .collect();
    assert!(hits.is_sorted_by(|a, b| a >= b));
    let total = json!(hits.iter().sum::<u64>());
    assert!(pages.iter().all(|page| page["totalSearches"] == total));
    assert!(pages.iter().all(|page| page.get("hasMore").is_none()));
    assert_eq!(
        client.full_report("searches", WEEK),
        json!({ "searches": rows, "totalSearches": total })
    );
}

#[test]
fn a_page_has_fifty_terms_by_default() {
    let client = Client::start(fast_options());
    let count = |query: &str| {
        let page = client.report("searches", &format!("{WEEK}{query}"));
        page["searches"].as_array().unwrap().len()
    };
    assert_eq!(
        (count(""), count("&limit=2"), count("&limit=100")),
        (50, 2, 100)
    );
}

#[test]
fn rates_are_percentages_and_positive_only_with_a_clicked_page() {
    let client = Client::start(fast_options());
    let report = client.full_report("searches", WEEK);
    let rows = report["searches"].as_array().unwrap();
    assert!(rows.iter().any(|row| row["topClickedPage"].is_null()));
    for row in rows {
        let rate = row["ctr"].as_f64().unwrap();
        assert!((0.0..=100.0).contains(&rate), "{row}");
        assert_eq!(rate > 0.0, row["topClickedPage"].is_string(), "{row}");
        let last = row["lastSearchedAt"].as_str().unwrap();
        assert!(last.starts_with("2024-01-07T"), "{row}");
    }
}
