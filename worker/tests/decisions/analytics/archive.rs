//! Series of the daily archive.

mod run_lock;
mod schedule;
mod stored_path;
mod views;

use quillgate::{Call, Day, DayGroup, Millis, Operation};
use quillgate_worker::analytics::archive::schedule::{DayRecord, Part, ProjectRecord};
use quillgate_worker::analytics::archive::{
    Counts, SeriesQuery, StoredDay, Subject, is_final, plan_backfill, write_series, write_status,
};
use quillgate_worker::app::config::Config;
use serde_json::{Value, json};

use crate::fixtures::{configure, field_and_rule};

fn day(text: &str) -> Day {
    Day::from_text(text).unwrap()
}

fn call(params: &Value) -> Call {
    Call::parse(Operation::ListDailyViews.declaration(), params).unwrap()
}

fn query(params: &Value) -> SeriesQuery {
    SeriesQuery::read(&call(params)).unwrap()
}

/// Returns the field and the rule that reject a series query with `params`.
fn refusal(params: &Value) -> (String, String) {
    field_and_rule(&SeriesQuery::read(&call(params)).unwrap_err())
}

fn stored(date: &str, count: u64) -> StoredDay {
    StoredDay {
        day: day(date),
        fetched: day(date).plus(9).begin(),
        views: Counts {
            human: Some(count),
            ai: Some(1),
            total: Some(count + 1),
        },
        visitors: None,
    }
}

fn series(params: &Value, stored: &[StoredDay]) -> Value {
    serde_json::from_str(&write_series(&query(params), stored)).unwrap()
}

fn archive_config() -> Config {
    configure(&[
        ("ARCHIVE_PROJECTS", Some("acme")),
        ("ARCHIVE_RETENTION_DAYS", Some("30")),
    ])
}

#[test]
fn series_query_accepts_the_site_a_page_or_a_prefix() {
    let range = json!({ "dateFrom": "2024-03-01", "dateTo": "2024-03-05" });
    assert_eq!(query(&range).subject, Subject::Site);
    assert_eq!(query(&range).group, DayGroup::Day);
    let with = |name: &str, value: &str| {
        let mut params = range.clone();
        params[name] = value.into();
        params
    };
    let page = query(&with("path", "guides/")).subject;
    assert_eq!(page, Subject::Page("guides/".to_owned()));
    for prefix in ["/", "/guides", "/guides/a"] {
        let subject = query(&with("prefix", prefix)).subject;
        assert_eq!(subject, Subject::Prefix(prefix.to_owned()));
    }
    for prefix in ["guides", "/guides/", "//"] {
        let expected = ("prefix".to_owned(), "prefix".to_owned());
        assert_eq!(refusal(&with("prefix", prefix)), expected, "{prefix}");
    }
}

#[test]
fn series_page_ends_between_groups_at_its_limit() {
    let params = |group: &str, limit: u64, cursor: Option<&str>| {
        let mut params = json!({
            "dateFrom": "2024-01-30", "dateTo": "2024-03-06", "group": group, "limit": limit,
        });
        if let Some(cursor) = cursor {
            params["cursor"] = cursor.into();
        }
        params
    };
    for (group, limit, cursor, from, to, has_more) in [
        ("day", 2, None, "01-30", "02-01", true),
        ("day", 366, None, "01-30", "03-06", false),
        ("week", 1, None, "01-30", "02-05", true),
        ("week", 1, Some("2024-02-05"), "02-05", "02-12", true),
        ("month", 1, None, "01-30", "02-01", true),
        ("month", 2, Some("2024-02-01"), "02-01", "03-06", false),
    ] {
        let page = query(&params(group, limit, cursor));
        let [from, to] = [from, to].map(|text| day(&format!("2024-{text}")));
        let got = (page.from, page.to, page.has_more);
        assert_eq!(got, (from, to, has_more), "{group} {limit} {cursor:?}");
    }
    for (group, cursor) in [
        ("day", "2024-01-30"),
        ("day", "2024-03-06"),
        ("week", "2024-02-06"),
        ("month", "2024-02-02"),
        ("day", "x"),
    ] {
        let (field, rule) = refusal(&params(group, 1, Some(cursor)));
        assert_eq!((&*field, &*rule), ("cursor", "cursor"), "{group} {cursor}");
    }
}

#[test]
fn a_page_of_a_series_ends_before_the_group_of_a_day_that_was_not_read() {
    for (group, unread, to) in [
        ("day", "2024-02-10", Some("2024-02-10")),
        ("week", "2024-02-10", Some("2024-02-05")),
        ("month", "2024-02-10", Some("2024-02-01")),
        ("day", "2024-01-30", None),
        ("week", "2024-02-04", None),
        ("month", "2024-01-31", None),
    ] {
        let mut page = query(&json!({
            "dateFrom": "2024-01-30", "dateTo": "2024-03-06", "group": group, "prefix": "/",
        }));
        let ended = page
            .end_before(day(unread))
            .map(|()| (page.to, page.has_more));
        match to {
            Some(to) => assert_eq!(ended.unwrap(), (day(to), true), "{group}"),
            None => assert_eq!(
                field_and_rule(&ended.unwrap_err()),
                ("prefix".to_owned(), "largest-group".to_owned()),
                "{group}"
            ),
        }
    }
}

#[test]
fn missing_days_are_listed_and_not_counted() {
    let params = json!({ "dateFrom": "2024-02-29", "dateTo": "2024-03-04", "group": "month" });
    let stored = [stored("2024-03-01", 10), stored("2024-03-03", 5)];
    assert_eq!(
        series(&params, &stored),
        json!({
            "views": [{
                "date": "2024-03-01", "human": 15, "ai": 2, "total": 17,
                "days": 2, "missing": ["2024-03-02"], "visitors": null,
            }],
            "missing": ["2024-02-29", "2024-03-02"],
            "nextCursor": null,
        })
    );
}

#[test]
fn prefix_adds_up_its_pages_and_unknown_counts_stay_unknown() {
    let params = json!({ "dateFrom": "2024-03-01", "dateTo": "2024-03-02" });
    let mut unknown = stored("2024-03-01", 5);
    unknown.views.human = None;
    let row = &series(&params, &[stored("2024-03-01", 10), unknown])["views"][0];
    assert_eq!((&row["human"], &row["ai"]), (&Value::Null, &json!(2)));
    assert_eq!((&row["total"], &row["days"]), (&json!(17), &json!(1)));
}

#[test]
fn visitors_are_counted_per_day() {
    let mut site = stored("2024-03-01", 10);
    site.visitors = Some(Counts::ZERO);
    let mut params = json!({ "dateFrom": "2024-03-01", "dateTo": "2024-03-02" });
    let visitors = &series(&params, &[site])["views"][0]["visitors"];
    assert_eq!(visitors, &json!({ "human": 0, "ai": 0, "total": 0 }));
    params["group"] = "week".into();
    assert_eq!(
        series(&params, &[site])["views"][0]["visitors"],
        Value::Null
    );
}

#[test]
fn response_is_final_when_all_its_days_are_settled() {
    let page = query(&json!({ "dateFrom": "2024-03-01", "dateTo": "2024-03-03" }));
    let settled = |date: &str, fetched: &str| StoredDay {
        fetched: day(fetched).begin(),
        ..stored(date, 1)
    };
    let old = settled("2024-03-01", "2024-03-05");
    assert!(is_final(
        &page,
        &[old, settled("2024-03-02", "2024-03-06")],
        3
    ));
    assert!(!is_final(
        &page,
        &[old, settled("2024-03-02", "2024-03-05")],
        3
    ));
    assert!(!is_final(&page, &[old], 3), "a day is missing");
}

#[test]
fn status_counts_days_and_lists_missing_and_failing_ones() {
    let config = archive_config();
    let now = day("2024-03-08").begin().plus(Millis(1));
    let mut record = ProjectRecord::new(now);
    assert_eq!(record.first, day("2024-03-07"));
    record.first = day("2024-03-01");
    let mut complete = DayRecord::new(day("2024-03-02"));
    complete.fetched = Some(now);
    complete.pages = 4;
    let mut partial = DayRecord::new(day("2024-03-03"));
    partial.next = Part::Views(1);
    let mut failed = DayRecord::new(day("2024-03-05"));
    failed.record_failure(Millis(1000), now);
    failed.problem = Some("/problems/upstream-error".to_owned());
    record.days = vec![complete, partial, failed];
    let status: Value = serde_json::from_str(&write_status(
        &record,
        Some(7),
        &config.analytics.archive,
        now,
    ))
    .unwrap();
    assert_eq!(
        status,
        json!({
            "dateFrom": "2024-03-01", "dateTo": "2024-03-08",
            "complete": 1, "partial": 1, "failed": 1,
            "missing": [
                { "dateFrom": "2024-03-01", "dateTo": "2024-03-02" },
                { "dateFrom": "2024-03-03", "dateTo": "2024-03-08" },
            ],
            "failures": [{
                "date": "2024-03-05", "attempts": 1, "problem": "/problems/upstream-error",
                "retryAt": "2024-03-08T00:00:01.001Z",
            }],
            "requests": 30, "hours": 1, "completeAt": "2024-03-08T01:00:00.001Z",
            "bytes": 7,
        })
    );
}

#[test]
fn backfill_starts_within_the_retention_period() {
    let config = archive_config();
    let now = day("2024-03-31").begin();
    let record = ProjectRecord::new(now);
    let plan = |from: &str| {
        let settings = &config.analytics.archive;
        plan_backfill(record.clone(), day(from), settings, now)
    };
    assert_eq!(plan("2020-01-01").0, day("2024-03-01"));
    assert_eq!(plan("2024-04-20").0, record.first, "it takes none back");
    let (first, body) = plan("2024-03-20");
    assert_eq!(first, day("2024-03-20"));
    let body: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(
        (&body["dateFrom"], &body["days"], &body["requests"]),
        (&json!("2024-03-20"), &json!(11), &json!(22))
    );
}

#[test]
fn archive_share_is_a_fraction_of_the_limit_and_at_least_one() {
    let limit = |share, limit| {
        let variables = [
            ("ARCHIVE_SHARE", Some(share)),
            ("ANALYTICS_LIMIT_PER_HOUR", Some(limit)),
        ];
        configure(&variables).analytics.archive.limit
    };
    assert_eq!(limit("33", "100"), 33);
    assert_eq!(limit("100", "1000000"), 1_000_000);
    assert_eq!(limit("1", "50"), 1);
    assert!(
        archive_config().analytics.archive.includes("acme")
            && !archive_config().analytics.archive.includes("acme2")
    );
}
