use quillgate::{Millis, Operation, ProjectId};
use quillgate_worker::analytics::query::ReportQuery;
use quillgate_worker::app::config::Config;
use quillgate_worker::http::content::RequestValues;
use quillgate_worker::http::problem::Problem;

use crate::fixtures::{NOW, configuration, configure};

const VIEWS: Operation = Operation::ListPageViews;
const LIST: &str = "/v1/analytics/demo-docs/views";
const DAY: u64 = 86_400_000;
/// The freshness lifetime of open or recent ranges, in milliseconds.
const FRESH: u64 = 300_000;
/// 2025-06-15T00:00:00Z, the midnight before [`NOW`].
const MIDNIGHT: Millis = Millis(1_749_945_600_000);

fn views_by(
    config: &Config,
    project: &str,
    query: &str,
    now: Millis,
) -> Result<ReportQuery, Problem> {
    let values = RequestValues::from_path(VIEWS, vec![("projectId", "demo-docs")])?;
    let (call, range) = values.with_query(Some(query))?.parse()?.normalize()?;
    let fresh_for = config.analytics.freshness(&range, now);
    ReportQuery::new(VIEWS, &call, &ProjectId::new(project)?, fresh_for)
}

fn views(query: &str) -> Result<ReportQuery, Problem> {
    views_by(&configuration(), "demo-docs", query, NOW)
}

#[track_caller]
fn fresh_for(query: &str, now: Millis) -> u64 {
    let query = query.replace('+', "%2B");
    let views = views_by(&configuration(), "demo-docs", &query, now);
    views.unwrap().fresh_for.0
}

#[test]
fn list_name_has_the_range_in_one_order_and_no_page() {
    let range = "?dateFrom=2024-02-29&dateTo=2024-03-01";
    let time = "?dateFrom=2024-02-29T11%3A00%3A00.000Z";
    for (query, list) in [
        ("", ""),
        ("limit=5&offset=250", ""),
        ("limit=5&page=51", ""),
        ("dateFrom=2024-02-29", "?dateFrom=2024-02-29"),
        ("dateTo=2024-02-29", "?dateTo=2024-02-29"),
        (
            "dateTo=2024-03-01&offset=5&dateFrom=2024-02-29&limit=1",
            range,
        ),
        ("%64ateFrom=2024%2D02-29&&dateTo=2024-03-01", range),
        ("dateFrom=2024-02-29T12:00:00%2B01:00", time),
    ] {
        let expected = format!("{LIST}{list}");
        assert_eq!(views(query).unwrap().list, expected, "{query}");
    }
}

#[test]
fn equivalent_ranges_name_the_same_list() {
    let list = |from: &str, to: &str| {
        let query = format!("dateFrom={from}&dateTo={to}").replace('+', "%2B");
        views(&query).unwrap().list
    };
    let zeros = "0".repeat(2_000);
    let one = list("2024-02-29T00:00Z", "2024-03-01T00:00:00Z");
    for (from, to) in [
        ("2024-02-29T00:00:00Z", "2024-03-01T00:00Z"),
        ("2024-02-29T00:00:00.000Z", "2024-03-01T00:00:00.0000009Z"),
        ("2024-02-29T01:00+01:00", "2024-02-29T14:30:00-09:30"),
        (
            &format!("2024-02-29T00:00:00.{zeros}Z"),
            &format!("2024-03-01T00:00:00.{zeros}9+00:00"),
        ),
    ] {
        assert_eq!(list(from, to), one, "{from} {to}");
    }
    for (from, to) in [
        ("2024-02-29", "2024-03-01"),
        ("2024-02-29T00:00", "2024-03-01T00:00"),
        ("2024-02-29T00:00Z", "2024-03-01"),
        ("2024-02-29T00:00Z", "2024-03-01T00:00:00.001Z"),
    ] {
        assert_ne!(list(from, to), one, "{from} {to}");
    }
}

#[test]
fn projects_never_share_a_list() {
    let list = |project| {
        let query = "dateFrom=2024-01-01&dateTo=2024-01-02";
        let views = views_by(&configuration(), project, query, NOW);
        views.unwrap().list
    };
    let projects = [
        "demo-docs",
        "Demo-docs",
        "demo%2Ddocs",
        "demo docs",
        "demo/docs",
        "demo-docs/views",
        "demo-docs/views?dateFrom=2024-01-01",
        "démo-docs",
        "de\u{301}mo-docs",
    ];
    for (at, project) in projects.iter().enumerate() {
        for other in &projects[at + 1..] {
            assert_ne!(list(project), list(other), "{project} {other}");
        }
    }
}

#[test]
fn range_that_ended_before_yesterday_is_fresh_for_a_day() {
    let ends = "2025-06-13 2025-06-13T00:00Z 2025-06-13T23:59:59.999Z 2025-06-14T13:59+14:00 \
        2025-06-14T23:58+23:59 2025-06-13T11:59-12:00";
    for date_to in ends.split(' ') {
        let query = format!("dateFrom=2020-01-01T00:00:00Z&dateTo={date_to}");
        assert_eq!(fresh_for(&query, NOW), DAY, "{date_to}");
    }
    // The two bounds of a range can have different formats.
    for query in [
        "dateFrom=2020-01-01&dateTo=2025-06-13",
        "dateFrom=2020-01-01&dateTo=2025-06-13T23:59:59Z",
        "dateFrom=2020-01-01T00:00&dateTo=2025-06-13",
    ] {
        assert_eq!(fresh_for(query, NOW), DAY, "{query}");
    }
}

#[test]
fn open_or_recent_range_is_fresh_for_the_configured_time() {
    let ends = "2025-06-14 2025-06-15 9999-12-31 2025-06-14T00:00Z 2025-06-14T00:00:00.001Z \
        2025-06-14T00:00:00-00:01 2025-06-13T12:00:00-12:00 2025-06-14T02:00:00+01:59";
    for date_to in ends.split(' ') {
        let query = format!("dateFrom=2020-01-01&dateTo={date_to}");
        assert_eq!(fresh_for(&query, NOW), FRESH, "{date_to}");
    }
    for query in ["", "dateFrom=2020-01-01", "dateFrom=2020-01-01T00:00:00Z"] {
        assert_eq!(fresh_for(query, NOW), FRESH, "{query}");
    }
    let config = configure(&[("ANALYTICS_FRESH_SECONDS", Some("7"))]);
    let own = |query| {
        let views = views_by(&config, "demo-docs", query, NOW);
        views.unwrap().fresh_for.0
    };
    assert_eq!(own(""), 7000);
    assert_eq!(own("dateFrom=2025-01-01&dateTo=2025-06-14"), 7000);
    assert_eq!(own("dateFrom=2025-01-01&dateTo=2025-06-13"), DAY);
}

#[test]
fn time_without_an_offset_never_ends_a_range() {
    for date_to in [
        "2025-06-15T00:00",
        "2025-06-14T00:00:00",
        "2020-01-02T00:00:00.000",
    ] {
        let query = format!("dateFrom=2020-01-01&dateTo={date_to}");
        assert_eq!(fresh_for(&query, NOW), FRESH, "{date_to}");
    }
}

#[test]
fn day_changes_at_midnight_utc() {
    for (now, today, tomorrow) in [
        (MIDNIGHT, DAY, FRESH),
        (Millis(MIDNIGHT.0 + DAY - 1), DAY, FRESH),
        (Millis(MIDNIGHT.0 - 1), FRESH, FRESH),
        (Millis(MIDNIGHT.0 + DAY), DAY, DAY),
    ] {
        let of = |date_to| fresh_for(&format!("dateFrom=2020-01-01&dateTo={date_to}"), now);
        assert_eq!(of("2025-06-13"), today, "{now:?}");
        assert_eq!(of("2025-06-13T23:59:59Z"), today, "{now:?}");
        assert_eq!(of("2025-06-14"), tomorrow, "{now:?}");
        assert_eq!(of("2025-06-14T23:59:59Z"), tomorrow, "{now:?}");
    }
}

#[test]
fn page_is_requested_by_offset() {
    let from = "dateFrom=2024-01-01";
    for (query, number, target) in [
        ("", 0, "?limit=250&offset=0"),
        ("", 3, "?limit=250&offset=750"),
        (from, 1, "?dateFrom=2024-01-01&limit=250&offset=250"),
    ] {
        let requested = views(query).unwrap().page_target(number);
        assert_eq!(requested, format!("{LIST}{target}"));
    }
}
