//! Lists of viewed pages.

use quillgate::{Call, Day, Operation};
use quillgate_worker::analytics::archive::views::{ViewsQuery, ViewsRow, write_views};
use quillgate_worker::analytics::archive::{Counts, StoredDay};
use serde_json::{Value, json};

use crate::fixtures::field_and_rule;

fn day(text: &str) -> Day {
    Day::from_text(text).unwrap()
}

fn call(params: &Value) -> Call {
    Call::parse(Operation::ListArchivedViews.declaration(), params).unwrap()
}

fn query(params: &Value) -> ViewsQuery {
    ViewsQuery::read(&call(params)).unwrap()
}

fn views(human: u64) -> Counts {
    Counts {
        human: Some(human),
        ai: Some(1),
        total: Some(human + 1),
    }
}

fn stored(date: &str, human: u64) -> StoredDay {
    StoredDay {
        day: day(date),
        fetched: day(date).plus(9).begin(),
        views: views(human),
        visitors: None,
    }
}

fn page(path: &str, human: u64) -> ViewsRow {
    ViewsRow {
        path: path.to_owned(),
        human: Some(human),
        ai: Some(1),
        total: Some(human + 1),
    }
}

#[test]
fn views_query_reads_days_limit_and_cursor() {
    let january = json!({ "dateFrom": "2026-01-01", "dateTo": "2026-02-01" });
    let read = query(&january);
    assert_eq!((read.from, read.to), (day("2026-01-01"), day("2026-02-01")));
    assert_eq!((read.after, read.limit), (None, 1000));
    let next = json!({
        "dateFrom": "2026-01-01", "dateTo": "2026-02-01", "limit": 7, "cursor": "/a\u{0}b",
    });
    let read = query(&next);
    assert_eq!((read.after.as_deref(), read.limit), (Some("/a%00b"), 7));
}

#[test]
fn views_query_shortens_the_pages_of_a_long_range() {
    for (date_to, limit) in [
        ("2026-05-14", 1000),
        ("2028-01-01", 181),
        ("2036-01-01", 35),
    ] {
        let range = json!({ "dateFrom": "2026-01-01", "dateTo": date_to });
        assert_eq!(query(&range).limit, limit, "{date_to}");
    }
}

#[test]
fn views_query_rejects_times_and_ranges_of_more_than_ten_years() {
    for (params, field, rule) in [
        (
            json!({ "dateFrom": "2026-01-01T00:00:00Z", "dateTo": "2026-01-02" }),
            "dateFrom",
            "day",
        ),
        (
            json!({ "dateFrom": "2016-01-01", "dateTo": "2026-01-09" }),
            "dateTo",
            "longest-range",
        ),
    ] {
        let problem = ViewsQuery::read(&call(&params)).unwrap_err();
        assert_eq!(
            field_and_rule(&problem),
            (field.to_owned(), rule.to_owned())
        );
    }
}

#[test]
fn views_end_with_a_cursor_only_if_another_page_follows() {
    let range = json!({ "dateFrom": "2026-01-01", "dateTo": "2026-01-04", "limit": 2 });
    let site = [stored("2026-01-01", 4), stored("2026-01-03", 2)];
    let pages = vec![page("/a", 3), page("/b", 2), page("/c", 1)];
    let body: Value =
        serde_json::from_str(&write_views(&query(&range), &site, pages.clone())).unwrap();
    assert_eq!(
        body,
        json!({
            "totals": { "human": 6, "ai": 2, "total": 8 },
            "views": [
                { "path": "/a", "human": 3, "ai": 1, "total": 4 },
                { "path": "/b", "human": 2, "ai": 1, "total": 3 },
            ],
            "missing": ["2026-01-02"],
            "nextCursor": "/b",
        })
    );
    let last = write_views(&query(&range), &site, pages[..2].to_vec());
    let last: Value = serde_json::from_str(&last).unwrap();
    assert_eq!(last["nextCursor"], Value::Null);
}

#[test]
fn totals_are_unknown_if_a_day_has_unknown_counts() {
    let range = json!({ "dateFrom": "2026-01-01", "dateTo": "2026-01-03" });
    let unknown = StoredDay {
        views: Counts {
            human: None,
            ..Counts::ZERO
        },
        ..stored("2026-01-02", 0)
    };
    let body = write_views(
        &query(&range),
        &[stored("2026-01-01", 4), unknown],
        Vec::new(),
    );
    let body: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(body["totals"]["human"], Value::Null);
}
