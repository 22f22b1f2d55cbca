//! The clock that tests move, and what follows from the day.

use serde_json::{Value, json};
use upstream::Options;

use crate::client::{Client, VIEWS, quick, rows_of};

const HOUR_MS: u64 = 60 * 60 * 1000;
const DAY_MS: u64 = 24 * HOUR_MS;

fn forward(client: &Client, ms: u64) -> Value {
    let answer = client.control("POST", "/clock", &json!({ "forwardMs": ms }));
    assert_eq!(answer.status, 200, "{}", answer.text);
    answer.json()
}

fn late(client: &Client, setting: &Value) {
    let answer = client.control("POST", "/late", setting);
    assert_eq!(answer.status, 204, "{}", answer.text);
}

/// The UTC day so many days after the clock's.
fn day_after(client: &Client, days: u64) -> String {
    let now = client.read_control("/clock")["now"].as_u64().unwrap();
    let day = i64::try_from(now / DAY_MS + days).unwrap();
    client_day(day)
}

fn client_day(days: i64) -> String {
    // The fewest lines of calendar: from 1970 on, by whole years and months.
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
fn a_clock_that_is_moved_moves_today_and_never_back() {
    let client = Client::start(quick());
    let before = client.read_control("/clock");
    let moved = forward(&client, 40 * DAY_MS);
    let ms = |clock: &Value| clock["now"].as_u64().unwrap();
    assert!(ms(&moved) >= ms(&before) + 40 * DAY_MS);
    assert_eq!(moved["today"], json!(day_after(&client, 0)));
    for wrong in [
        json!({ "forwardMs": -1 }),
        json!({ "backMs": 1 }),
        json!({}),
    ] {
        assert_eq!(client.control("POST", "/clock", &wrong).status, 400);
    }
    assert!(ms(&client.read_control("/clock")) >= ms(&moved));
}

#[test]
fn an_open_range_ends_with_the_clocks_day() {
    let client = Client::start(Options {
        varying_days: true,
        ..quick()
    });
    for days in [0, 1, 30] {
        forward(&client, days * DAY_MS);
        let to = day_after(&client, 1);
        assert_eq!(
            client.report("views", ""),
            client.report("views", &format!("dateTo={to}"))
        );
    }
}

#[test]
fn limits_are_free_again_when_the_clock_has_moved_an_hour() {
    let client = Client::start(Options {
        analytics_limit: 1,
        ..quick()
    });
    assert_eq!(client.get(VIEWS).status, 200);
    assert_eq!(client.get(VIEWS).status, 429);
    forward(&client, HOUR_MS / 2);
    assert_eq!(client.get(VIEWS).status, 429);
    forward(&client, HOUR_MS / 2);
    assert_eq!(client.get(VIEWS).status, 200);
}

#[test]
fn jobs_end_when_the_clock_has_moved_on() {
    let client = Client::start(Options {
        job_duration_ms: HOUR_MS,
        ..quick()
    });
    let id = client.create("Fix the typos")["id"].clone();
    assert_eq!(client.job(&id)["status"], "active");
    forward(&client, HOUR_MS);
    assert_eq!(client.job(&id)["status"], "completed");
}

#[test]
fn days_vary_when_they_are_told_to_and_rows_without_views_are_left_out() {
    let counts = |varying_days: bool| {
        let client = Client::start(Options {
            pages: 2000,
            varying_days,
            ..quick()
        });
        let count = |day: u32| {
            let range = format!("dateFrom=2024-01-{day:02}&dateTo=2024-01-{:02}", day + 1);
            let report = client.whole_report("views", &range);
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
fn a_day_that_grew_has_more_in_every_range_with_it() {
    let client = Client::start(Options {
        varying_days: true,
        ..quick()
    });
    let total = |range: &str| {
        let report = client.whole_report("views", range);
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
    let visitors = client.whole_report("visitors", day);
    late(&client, &json!({ "day": "2024-01-03", "percent": 10 }));
    let after = (total(day), total(week), total(next));
    assert!(after.0 > before.0);
    assert_eq!(
        (after.1 - before.1, after.2),
        (after.0 - before.0, before.2)
    );
    assert_ne!(client.whole_report("visitors", day), visitors);
    client.control("DELETE", "/late", &Value::Null);
    assert_eq!((total(day), total(week), total(next)), before);
}

#[test]
fn the_last_days_are_counted_in_full_only_some_days_later() {
    let client = Client::start(quick());
    let today = day_after(&client, 0);
    let range = format!("dateFrom={today}&dateTo={}", day_after(&client, 1));
    let total = || {
        let report = client.whole_report("views", &range);
        report["totals"]["total"].as_u64().unwrap()
    };
    let whole = total();
    late(&client, &json!({ "afterDays": 2, "percent": 50 }));
    let part = total();
    assert!(part > 0 && part <= whole / 2);
    forward(&client, 2 * DAY_MS);
    assert_eq!(total(), part);
    forward(&client, DAY_MS);
    assert_eq!(total(), whole);
    late(&client, &json!({ "afterDays": 3, "percent": 100 }));
    assert_eq!(total(), 0);
}

#[test]
fn a_setting_of_what_comes_late_has_to_make_sense() {
    let client = Client::start(quick());
    for wrong in [
        json!({ "day": "2024-02-30", "percent": 1 }),
        json!({ "day": "2024-02-03" }),
        json!({ "afterDays": -1, "percent": 1 }),
        json!({ "percent": 1 }),
    ] {
        let answer = client.control("POST", "/late", &wrong);
        assert_eq!(answer.status, 400, "{wrong}");
    }
}

#[test]
fn a_page_in_a_hole_is_empty_goes_on_and_loses_no_row() {
    let client = Client::start(Options {
        pages: 600,
        searches: 600,
        ..quick()
    });
    let range = "dateFrom=2024-01-01&dateTo=2024-01-08&limit=250";
    let dig = json!({ "at": 250, "places": 250 });
    assert_eq!(client.control("POST", "/holes", &dig).status, 204);
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
        let whole = client.whole_report(report, range);
        assert_eq!(json!(rows_of(&pages, report)), whole[report]);
    }
    let range = "dateFrom=2024-01-01&dateTo=2024-01-08&limit=50";
    let pages = client.cursor_pages("searches", range);
    assert_eq!((pages.len(), &pages[5]["searches"]), (17, &json!([])));
    let whole = client.whole_report("searches", range);
    assert_eq!(json!(rows_of(&pages, "searches")), whole["searches"]);

    client.control("DELETE", "/holes", &Value::Null);
    assert_eq!(client.cursor_pages("searches", range).len(), 12);
}
