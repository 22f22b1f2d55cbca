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
