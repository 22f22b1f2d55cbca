//! The clock that tests advance, and data that depends on the current day.

use serde_json::{Value, json};
use upstream::Options;

use crate::client::{Client, VIEWS, fast_options, rows_of};

const HOUR_MS: u64 = 60 * 60 * 1000;
const DAY_MS: u64 = 24 * HOUR_MS;

/// Starts a simulator whose clock is at noon, so that no test crosses midnight.
fn start_at_noon(options: Options) -> Client {
    let client = Client::start(options);
    let now = client.read_control("/clock")["now"].as_u64().unwrap();
    client.advance_clock(DAY_MS - now % DAY_MS + DAY_MS / 2);
    client
}

fn set_late(client: &Client, setting: &Value) {
    let response = client.control("POST", "/late", setting);
    assert_eq!(response.status, 204, "{}", response.text);
}

/// The UTC day a number of days after the day of the clock.
fn day_after(client: &Client, days: u64) -> String {
    let now = client.read_control("/clock")["now"].as_u64().unwrap();
    let day = i64::try_from(now / DAY_MS + days).unwrap();
    format_day(day)
}

/// Formats a number of days since 1970-01-01.
fn format_day(days: i64) -> String {
    let (mut year, mut rest) = (1970, days);
    let is_leap = |year: i64| year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    while rest >= 365 + i64::from(is_leap(year)) {
        rest -= 365 + i64::from(is_leap(year));
        year += 1;
    }
    let february = 28 + i64::from(is_leap(year));
    let months = [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut month = 0;
    while rest >= months[month] {
        rest -= months[month];
        month += 1;
    }
    format!("{year:04}-{:02}-{:02}", month + 1, rest + 1)
}

#[test]
fn an_advanced_clock_changes_today_and_never_moves_back() {
    let client = start_at_noon(fast_options());
    let before = client.read_control("/clock");
    let moved = client.advance_clock(40 * DAY_MS);
    let ms = |clock: &Value| clock["now"].as_u64().unwrap();
    assert!(ms(&moved) >= ms(&before) + 40 * DAY_MS);
    assert_eq!(moved["today"], json!(day_after(&client, 0)));
    for invalid in [
        json!({ "forwardMs": -1 }),
        json!({ "backMs": 1 }),
        json!({}),
    ] {
        assert_eq!(client.control("POST", "/clock", &invalid).status, 400);
    }
    assert!(ms(&client.read_control("/clock")) >= ms(&moved));
}

#[test]
fn an_open_range_ends_with_the_day_of_the_clock() {
    let client = start_at_noon(Options {
        varying_days: true,
        ..fast_options()
    });
    for days in [0, 1, 30] {
        client.advance_clock(days * DAY_MS);
        let to = day_after(&client, 1);
        assert_eq!(
            client.report("views", ""),
            client.report("views", &format!("dateTo={to}"))
        );
    }
}

#[test]
fn limits_reset_when_the_clock_advances_an_hour() {
    let client = Client::start(Options {
        analytics_limit: 1,
        ..fast_options()
    });
    assert_eq!(client.get(VIEWS).status, 200);
    assert_eq!(client.get(VIEWS).status, 429);
    client.advance_clock(HOUR_MS / 2);
    assert_eq!(client.get(VIEWS).status, 429);
    client.advance_clock(HOUR_MS / 2);
    assert_eq!(client.get(VIEWS).status, 200);
}

#[test]
fn jobs_complete_when_the_clock_advances() {
    let client = Client::start(Options {
        job_duration_ms: HOUR_MS,
        ..fast_options()
    });
    let id = client.create("Fix the typos")["id"].clone();
    assert_eq!(client.job(&id)["status"], "active");
    client.advance_clock(HOUR_MS);
    assert_eq!(client.job(&id)["status"], "completed");
}

#[test]
fn varying_days_have_different_counts_and_no_rows_without_views() {
    let counts = |varying_days: bool| {
        let client = Client::start(Options {
            pages: 2000,
            varying_days,
            ..fast_options()
        });
        let count = |day: u32| {
            let range = format!("dateFrom=2024-01-{day:02}&dateTo=2024-01-{:02}", day + 1);
            let report = client.full_report("views", &range);
            let rows = report["views"].as_array().unwrap();
            assert!(rows.iter().all(|row| row["total"] != 0));
            (rows.len(), report["totals"]["total"].as_u64().unwrap())
        };
        // Monday to Friday.
        let mut counts: Vec<_> = (8..13).map(count).collect();
        counts.dedup();
        counts
    };
    assert_eq!(counts(false).len(), 1);
    assert_eq!(counts(true).len(), 5);
}

#[test]
fn late_counts_of_a_day_raise_every_range_that_contains_it() {
    let client = Client::start(Options {
        varying_days: true,
        ..fast_options()
    });
    let total = |range: &str| {
        let report = client.full_report("views", range);
        assert_eq!(
            client.report("views", &format!("{range}&limit=250"))["totals"],
            report["totals"]
        );
        report["totals"]["total"].as_u64().unwrap()
    };
    let day = "dateFrom=2024-01-03&dateTo=2024-01-04";
    let (week, next) = (
        "dateFrom=2024-01-01&dateTo=2024-01-08",
        "dateFrom=2024-01-04&dateTo=2024-01-08",
    );
    let before = (total(day), total(week), total(next));
    let visitors = client.full_report("visitors", day);
    set_late(&client, &json!({ "day": "2024-01-03", "percent": 10 }));
    let after = (total(day), total(week), total(next));
    assert!(after.0 > before.0);
    assert_eq!(
        (after.1 - before.1, after.2),
        (after.0 - before.0, before.2)
    );
    assert_ne!(client.full_report("visitors", day), visitors);
    client.control("DELETE", "/late", &Value::Null);
    assert_eq!((total(day), total(week), total(next)), before);
}

#[test]
fn recent_days_are_counted_in_full_after_a_delay() {
    let client = start_at_noon(fast_options());
    let today = day_after(&client, 0);
    let range = format!("dateFrom={today}&dateTo={}", day_after(&client, 1));
    let total = || {
        let report = client.full_report("views", &range);
        report["totals"]["total"].as_u64().unwrap()
    };
    let full = total();
    set_late(&client, &json!({ "afterDays": 2, "percent": 50 }));
    let part = total();
    assert!(part > 0 && part <= full / 2);
    client.advance_clock(2 * DAY_MS);
    assert_eq!(total(), part);
    client.advance_clock(DAY_MS);
    assert_eq!(total(), full);
    set_late(&client, &json!({ "afterDays": 3, "percent": 100 }));
    assert_eq!(total(), 0);
}

#[test]
fn an_invalid_setting_of_late_counts_is_rejected() {
    let client = Client::start(fast_options());
    for invalid in [
        json!({ "day": "2024-02-30", "percent": 1 }),
        json!({ "day": "2024-02-03" }),
        json!({ "afterDays": -1, "percent": 1 }),
        json!({ "percent": 1 }),
    ] {
        let response = client.control("POST", "/late", &invalid);
        assert_eq!(response.status, 400, "{invalid}");
    }
}

#[test]
fn a_page_in_a_hole_is_empty_has_more_and_loses_no_row() {
    let client = Client::start(Options {
        pages: 600,
        searches: 600,
        ..fast_options()
    });
    let range = "dateFrom=2024-01-01&dateTo=2024-01-08&limit=250";
    let hole = json!({ "at": 250, "places": 250 });
    assert_eq!(client.control("POST", "/holes", &hole).status, 204);
    for report in ["views", "visitors"] {
        let page = |offset: u32| client.report(report, &format!("{range}&offset={offset}"));
        let pages = [0, 250, 500, 750].map(page);
        let lengths = pages
            .each_ref()
            .map(|page| page[report].as_array().unwrap().len());
        assert_eq!(lengths, [250, 0, 250, 100], "{report}");
        let more = pages
            .each_ref()
            .map(|page| page["hasMore"].as_bool().unwrap());
        assert_eq!(more, [true, true, true, false], "{report}");
        let full = client.full_report(report, range);
        assert_eq!(json!(rows_of(&pages, report)), full[report]);
    }
    let range = "dateFrom=2024-01-01&dateTo=2024-01-08&limit=50";
    let pages = client.cursor_pages("searches", range);
    assert_eq!((pages.len(), &pages[5]["searches"]), (17, &json!([])));
    let full = client.full_report("searches", range);
    assert_eq!(json!(rows_of(&pages, "searches")), full["searches"]);

    client.control("DELETE", "/holes", &Value::Null);
    assert_eq!(client.cursor_pages("searches", range).len(), 12);
}
