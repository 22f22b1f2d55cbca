mod schedule;

use quillgate::{Call, Day, DayGroup, Millis, Operation};
use quillgate_worker::analytics::archive::schedule::{DayRecord, Part, ProjectRecord, RunLock};
use quillgate_worker::analytics::archive::views::{ViewsQuery, ViewsRow, write_views};
use quillgate_worker::analytics::archive::{
    Counts, MAX_PATH_BYTES, SeriesQuery, StoredDay, Subject, is_final, plan_backfill, store_path,
    write_series, write_status,
};
use quillgate_worker::app::config::Config;
use serde_json::{Value, json};

use crate::fixtures::{change, configure, field_and_rule, merge, parse_json};

fn day(text: &str) -> Day {
    Day::from_text(text).unwrap()
}

fn call(operation: Operation, params: &Value) -> Call {
    Call::parse(operation.declaration(), params).unwrap()
}

fn query(params: &Value) -> SeriesQuery {
    SeriesQuery::read(&call(Operation::ListDailyViews, params)).unwrap()
}

/// Returns the field and the rule that reject a series query with `params`.
fn refusal(params: &Value) -> [String; 2] {
    field_and_rule(&SeriesQuery::read(&call(Operation::ListDailyViews, params)).unwrap_err())
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
    parse_json(&write_series(&query(params), stored))
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
    let with = |name: &str, value: &str| change(range.clone(), name, Some(value.into()));
    let page = query(&with("path", "guides/")).subject;
    assert_eq!(page, Subject::Page("guides/".to_owned()));
    for prefix in ["/", "/guides", "/guides/a"] {
        let subject = query(&with("prefix", prefix)).subject;
        assert_eq!(subject, Subject::Prefix(prefix.to_owned()));
    }
    for prefix in ["guides", "/guides/", "//"] {
        let expected = ["prefix", "prefix"];
        assert_eq!(refusal(&with("prefix", prefix)), expected, "{prefix}");
    }
}

#[test]
fn series_page_ends_between_groups_at_its_limit() {
    let params = |group: &str, limit: u64, cursor: Option<&str>| {
        let params = json!({
            "dateFrom": "2024-01-30", "dateTo": "2024-03-06", "group": group, "limit": limit,
        });
        change(params, "cursor", cursor.map(Value::from))
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
        let refused = refusal(&params(group, 1, Some(cursor)));
        assert_eq!(refused, ["cursor", "cursor"], "{group} {cursor}");
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
        let ended = page.end_before(day(unread));
        if let Some(to) = to {
            assert_eq!(ended, Ok(()), "{group}");
            assert_eq!((page.to, page.has_more), (day(to), true), "{group}");
        } else {
            let refused = field_and_rule(&ended.unwrap_err());
            assert_eq!(refused, ["prefix", "largest-group"], "{group}");
        }
    }
}

#[test]
fn missing_days_are_listed_and_not_counted() {
    let params = json!({ "dateFrom": "2024-02-29", "dateTo": "2024-03-04", "group": "month" });
    let stored = [stored("2024-03-01", 10), stored("2024-03-03", 5)];
    let expected = json!({
        "views": [{
            "date": "2024-03-01", "human": 15, "ai": 2, "total": 17,
            "days": 2, "missing": ["2024-03-02"], "visitors": null,
        }],
        "missing": ["2024-02-29", "2024-03-02"],
        "nextCursor": null,
    });
    assert_eq!(series(&params, &stored), expected);
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
    let expected = Value::Null;
    assert_eq!(series(&params, &[site])["views"][0]["visitors"], expected);
}

#[test]
fn response_is_final_when_all_its_days_are_settled() {
    let page = query(&json!({ "dateFrom": "2024-03-01", "dateTo": "2024-03-03" }));
    let settled = |date: &str, fetched: &str| StoredDay {
        fetched: day(fetched).begin(),
        ..stored(date, 1)
    };
    let old = settled("2024-03-01", "2024-03-05");
    for (fetched, expected) in [("2024-03-06", true), ("2024-03-05", false)] {
        let days = [old, settled("2024-03-02", fetched)];
        assert_eq!(is_final(&page, &days, 3), expected, "{fetched}");
    }
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
    let status = write_status(&record, Some(7), &config.analytics.archive, now);
    let expected = json!({
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
    });
    assert_eq!(parse_json(&status), expected);
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
    let body = parse_json(&body);
    let found = (&body["dateFrom"], &body["days"], &body["requests"]);
    assert_eq!(found, (&json!("2024-03-20"), &json!(11), &json!(22)));
}

#[test]
fn archive_share_is_a_fraction_of_the_limit_and_at_least_one() {
    let limit = |share, limit| {
        let limit = ("ANALYTICS_LIMIT_PER_HOUR", Some(limit));
        let config = configure(&[("ARCHIVE_SHARE", Some(share)), limit]);
        config.analytics.archive.limit
    };
    assert_eq!(limit("33", "100"), 33);
    assert_eq!(limit("100", "1000000"), 1_000_000);
    assert_eq!(limit("1", "50"), 1);
    let archive = archive_config().analytics.archive;
    assert!(archive.includes("acme") && !archive.includes("acme2"));
}

const START: Millis = Millis(1_000);

#[test]
fn only_one_run_holds_the_lock_until_it_is_released() {
    let mut lock = RunLock::default();
    let first = lock.acquire(START).unwrap();
    assert_eq!(lock.acquire(START.plus(Millis(1))), None);
    lock.release(first);
    assert!(lock.acquire(START.plus(Millis(1))).is_some());
}

#[test]
fn a_run_that_never_ends_loses_the_lock() {
    let mut lock = RunLock::default();
    let lost = lock.acquire(START).unwrap();
    let later = START.plus(RunLock::LEASE);
    let next = lock.acquire(later).unwrap();
    assert!(!lock.renew(lost, later), "the first run stops");
    lock.release(lost);
    assert_eq!(lock.acquire(later), None, "the second run keeps the lock");
    assert!(lock.renew(next, later));
}

#[test]
fn renewing_extends_the_lease() {
    let mut lock = RunLock::default();
    let run = lock.acquire(START).unwrap();
    let later = START.plus(Millis(RunLock::LEASE.0 - 1));
    assert!(lock.renew(run, later));
    assert_eq!(lock.acquire(START.plus(RunLock::LEASE)), None);
}

#[test]
fn an_ordinary_path_is_stored_unchanged() {
    let (encoded, deep) = ("/caf%C3%A9", "/s".repeat(MAX_PATH_BYTES / 2));
    for path in [
        "/",
        "",
        "/a/b",
        "/a/",
        "a/b",
        "//",
        encoded,
        "/été/日本",
        &deep,
    ] {
        assert_eq!(store_path(path), path);
    }
}

#[test]
fn control_characters_are_percent_encoded() {
    for (path, stored) in [
        ("/\0x", "/%00x"),
        ("\u{7f}\t\r\n", "%7F%09%0D%0A"),
        ("/\u{85}", "/%C2%85"),
    ] {
        assert_eq!(store_path(path), stored, "{path:?}");
    }
}

#[test]
fn a_long_path_is_cut_between_characters() {
    for (character, start) in [
        ("x", "x".repeat(1021)),
        ("é", "é".repeat(510)),
        ("\0", "%00".repeat(340) + "%"),
    ] {
        let stored = store_path(&character.repeat(MAX_PATH_BYTES + 1));
        assert_eq!(stored, start + "…");
        assert_eq!(store_path(&stored), stored);
    }
}

fn views_query(params: &Value) -> ViewsQuery {
    ViewsQuery::read(&call(Operation::ListArchivedViews, params)).unwrap()
}

fn views(params: &Value, site: &[StoredDay], pages: &[ViewsRow]) -> Value {
    parse_json(&write_views(&views_query(params), site, pages.to_vec()))
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
    let read = views_query(&january);
    assert_eq!((read.from, read.to), (day("2026-01-01"), day("2026-02-01")));
    assert_eq!((read.after, read.limit), (None, 1000));
    let next = json!({ "limit": 7, "cursor": "~%2Fa%00b" });
    let read = views_query(&merge(january.clone(), &next));
    assert_eq!((read.after.as_deref(), read.limit), (Some("/a%00b"), 7));
    for cursor in ["/a", "~%FF"] {
        let params = merge(january.clone(), &json!({ "cursor": cursor }));
        let query = ViewsQuery::read(&call(Operation::ListArchivedViews, &params));
        let problem = query.unwrap_err();
        assert_eq!(field_and_rule(&problem), ["cursor", "cursor"], "{cursor}");
    }
}

#[test]
fn cursor_of_views_names_the_last_path_whatever_its_characters() {
    let range = json!({ "dateFrom": "2026-01-01", "dateTo": "2026-01-04", "limit": 1 });
    for path in [
        "",
        "/b?cursor=zzz",
        "/c?x=1&cursor=%2Fa",
        "/d%20e#f",
        "cursor=1",
        "/ä",
    ] {
        let listed = views(&range, &[], &[page(path, 3), page("/x", 2)]);
        let next = json!({ "cursor": listed["nextCursor"] });
        let after = views_query(&merge(range.clone(), &next)).after;
        assert_eq!(after.as_deref(), Some(path));
    }
}

#[test]
fn views_query_shortens_the_pages_of_a_long_range() {
    for (date_to, limit) in [
        ("2026-05-14", 1000),
        ("2028-01-01", 181),
        ("2036-01-01", 35),
    ] {
        let range = json!({ "dateFrom": "2026-01-01", "dateTo": date_to });
        assert_eq!(views_query(&range).limit, limit, "{date_to}");
    }
}

#[test]
fn views_query_rejects_times_and_ranges_of_more_than_ten_years() {
    for (from, to, field, rule) in [
        ("2026-01-01T00:00:00Z", "2026-01-02", "dateFrom", "day"),
        ("2016-01-01", "2026-01-09", "dateTo", "longest-range"),
    ] {
        let params = json!({ "dateFrom": from, "dateTo": to });
        let query = ViewsQuery::read(&call(Operation::ListArchivedViews, &params));
        let problem = query.unwrap_err();
        assert_eq!(field_and_rule(&problem), [field, rule]);
    }
}

#[test]
fn views_end_with_a_cursor_only_if_another_page_follows() {
    let range = json!({ "dateFrom": "2026-01-01", "dateTo": "2026-01-04", "limit": 2 });
    let site = [stored("2026-01-01", 4), stored("2026-01-03", 2)];
    let pages = [page("/a", 3), page("/b", 2), page("/c", 1)];
    let expected = json!({
        "totals": { "human": 6, "ai": 2, "total": 8 },
        "views": [
            { "path": "/a", "human": 3, "ai": 1, "total": 4 },
            { "path": "/b", "human": 2, "ai": 1, "total": 3 },
        ],
        "missing": ["2026-01-02"],
        "nextCursor": "~%2Fb",
    });
    assert_eq!(views(&range, &site, &pages), expected);
    let last = views(&range, &site, &pages[..2]);
    assert_eq!(last["nextCursor"], Value::Null);
}

#[test]
fn totals_are_unknown_if_a_day_has_unknown_counts() {
    let range = json!({ "dateFrom": "2026-01-01", "dateTo": "2026-01-03" });
    let mut unknown = stored("2026-01-02", 0);
    unknown.views.human = None;
    let site = [stored("2026-01-01", 4), unknown];
    assert_eq!(views(&range, &site, &[])["totals"]["human"], Value::Null);
}

#[test]
fn odd_stored_count_is_unknown() {
    for (count, expected) in [
        (json!(0), Some(0)),
        (
            json!(9_007_199_254_740_991_u64),
            Some(9_007_199_254_740_991),
        ),
        (json!(9_007_199_254_740_992_u64), None),
        (json!(1e300), None),
        (json!(1.5), None),
        (json!(-1), None),
        (json!("n/a"), None),
        (json!("1"), None),
        (json!(true), None),
        (json!(null), None),
    ] {
        let row = json!({ "path": "/a", "human": count, "ai": 1, "total": 2 });
        let row: ViewsRow = serde_json::from_value(row).unwrap();
        assert_eq!((row.human, row.ai), (expected, Some(1)), "{count}");
    }
}
