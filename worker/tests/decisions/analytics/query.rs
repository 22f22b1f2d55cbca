//! Page view queries. Queries for the same project and an equivalent range share a cached list. A
//! response is fresh for a day if its range ended before yesterday in UTC. A time without a UTC
//! offset never ends a range.

use proptest::prelude::*;
use proptest::string::string_regex;
use quillgate::{Millis, Operation, ProjectId};
use quillgate_worker::analytics::query::ReportQuery;
use quillgate_worker::app::config::Config;
use quillgate_worker::http::content::RequestValues;
use quillgate_worker::http::problem::Problem;

use crate::fixtures::{NOW, configuration, configure, field_and_rule};

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
    views.map_err(|problem| problem.detail).unwrap().fresh_for.0
}

#[test]
fn list_name_has_the_range_in_one_order_and_no_page() {
    for (query, list) in [
        ("", ""),
        ("limit=5&offset=250", ""),
        ("limit=5&page=51", ""),
        ("dateFrom=2024-02-29", "?dateFrom=2024-02-29"),
        ("dateTo=2024-02-29", "?dateTo=2024-02-29"),
        (
            "dateTo=2024-03-01&offset=5&dateFrom=2024-02-29&limit=1",
            "?dateFrom=2024-02-29&dateTo=2024-03-01",
        ),
        (
            "%64ateFrom=2024%2D02-29&&dateTo=2024-03-01",
            "?dateFrom=2024-02-29&dateTo=2024-03-01",
        ),
        (
            "dateFrom=2024-02-29T12:00:00%2B01:00",
            "?dateFrom=2024-02-29T11%3A00%3A00.000Z",
        ),
    ] {
        assert_eq!(
            views(query).unwrap().list,
            format!("{LIST}{list}"),
            "{query}"
        );
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
fn omitted_parameters_select_the_first_page() {
    let page = |query| {
        let views = views(query).unwrap();
        (views.limit, views.offset)
    };
    assert_eq!(page(""), (50, 0));
    assert_eq!(page("limit=250"), (250, 0));
    assert_eq!(page("limit=1&offset=0"), (1, 0));
    assert_eq!(page("offset=251"), (50, 251));
    assert_eq!(page("page=3"), (50, 100));
    assert_eq!(page("page=3&limit=20"), (20, 40));
}

#[test]
fn projects_never_share_a_list() {
    let list = |project| {
        let views = views_by(
            &configuration(),
            project,
            "dateFrom=2024-01-01&dateTo=2024-01-02",
            NOW,
        );
        views.unwrap().list
    };
    let projects = [
        "demo-docs",
        "Demo-docs",
        "demo-docs ",
        "demo%2Ddocs",
        "demo%20docs",
        "demo docs",
        "demo+docs",
        "demo/docs",
        "demo-docs/views",
        "demo-docs/views?dateFrom=2024-01-01",
        "demo-docs#",
        "demo\u{2010}docs",
        "démo-docs",
        "de\u{301}mo-docs",
        "...",
    ];
    for (at, project) in projects.iter().enumerate() {
        for other in &projects[at + 1..] {
            assert_ne!(list(project), list(other), "{project} {other}");
        }
    }
}

#[test]
fn range_that_ended_before_yesterday_is_fresh_for_a_day() {
    for date_to in [
        "2025-06-13",
        "2025-06-12",
        "2025-05-31",
        "2024-12-31",
        "2025-06-13T00:00Z",
        "2025-06-13T23:59:59Z",
        "2025-06-13T23:59:59.999Z",
        "2025-06-13T23:59:59+00:00",
        "2025-06-13T23:59:59-00:00",
        "2025-06-14T01:59:59+02:00",
        "2025-06-14T13:59+14:00",
        "2025-06-14T23:58+23:59",
        "2025-06-13T18:59:59-05:00",
        "2025-06-13T11:59-12:00",
        "2025-06-13T18:29:59.999-05:30",
    ] {
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
    for date_to in [
        "2025-06-14",
        "2025-06-15",
        "2025-06-16",
        "2025-06-17",
        "2025-07-01",
        "2026-01-01",
        "9999-12-31",
        "2025-06-14T00:00Z",
        "2025-06-14T00:00:00.001Z",
        "2025-06-14T00:01Z",
        "2025-06-15T15:06:40Z",
        "2025-06-14T00:00:00-00:01",
        "2025-06-13T12:00:00-12:00",
        "2025-06-14T02:00:00.001+02:00",
        "2025-06-14T02:00:00+01:59",
        "2025-06-13T19:00:00.001-05:00",
        "2025-06-13T23:59:59-05:00",
        "2025-06-13T18:31-05:30",
    ] {
        let query = format!("dateFrom=2020-01-01&dateTo={date_to}");
        assert_eq!(fresh_for(&query, NOW), FRESH, "{date_to}");
    }
    for query in ["", "dateFrom=2020-01-01", "dateFrom=2020-01-01T00:00:00Z"] {
        assert_eq!(fresh_for(query, NOW), FRESH, "{query}");
    }
    let config = configure(&[("ANALYTICS_FRESH_SECONDS", Some("7"))]);
    let own = |query| {
        views_by(&config, "demo-docs", query, NOW)
            .unwrap()
            .fresh_for
            .0
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

/// Without `dateFrom`, the upstream chooses the start, which can change daily.
#[test]
fn range_that_ended_is_fresh_for_a_day_whatever_its_start() {
    for date_to in ["2025-06-13", "2025-06-12", "2020-01-01T00:00:00Z"] {
        let query = format!("dateTo={date_to}");
        assert_eq!(fresh_for(&query, NOW), DAY, "{date_to}");
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
fn month_and_year_boundaries_follow_the_calendar() {
    for (now, ended, goes_on) in [
        // 2024-02-29T12:00:00Z
        (1_709_208_000_000, "2024-02-27", "2024-02-28"),
        // 2024-03-01T00:00:00Z
        (1_709_251_200_000, "2024-02-28", "2024-02-29"),
        // 2024-03-02T00:00:00Z
        (1_709_337_600_000, "2024-02-29", "2024-03-01"),
        // 2023-03-02T00:00:00Z
        (1_677_715_200_000, "2023-02-28", "2023-03-01"),
        // 2025-01-01T23:59:59.999Z
        (1_735_775_999_999, "2024-12-30", "2024-12-31"),
        // 2025-01-02T00:00:00Z
        (1_735_776_000_000, "2024-12-31", "2025-01-01"),
    ] {
        let of = |date_to| {
            let query = format!("dateFrom=2020-01-01&dateTo={date_to}");
            fresh_for(&query, Millis(now))
        };
        assert_eq!((of(ended), of(goes_on)), (DAY, FRESH), "{now}");
    }
}

#[test]
fn freshness_never_panics_for_any_clock() {
    for now in [0, 1, DAY - 1, DAY, u64::MAX] {
        let of = |query| fresh_for(query, Millis(now));
        assert_eq!(of(""), FRESH);
        assert!([DAY, FRESH].contains(&of("dateFrom=1960-01-01&dateTo=1970-01-01")));
        assert!([DAY, FRESH].contains(&of("dateFrom=9999-12-30&dateTo=9999-12-31")));
    }
}

#[test]
fn offsets_beyond_the_safe_integer_range_are_rejected() {
    for (query, taken) in [
        ("offset=9007199254740941", true),
        ("offset=9007199254740942", false),
        ("offset=9007199254740991", false),
        ("offset=9007199254740990&limit=1", true),
        ("offset=9007199254740991&limit=1", false),
        ("offset=9007199254740741&limit=250", true),
        ("offset=9007199254740742&limit=250", false),
        ("page=36028797018963&limit=250", true),
        ("page=36028797018965&limit=250", false),
    ] {
        let read = views(query);
        assert_eq!(read.is_ok(), taken, "{query}");
        if let Err(problem) = read {
            let expected = ("offset".to_owned(), "offset".to_owned());
            assert_eq!(problem.status, 400);
            assert_eq!(field_and_rule(&problem), expected);
        }
    }
}

#[test]
fn page_is_requested_by_offset() {
    for (query, number, target) in [
        ("", 0, "?limit=250&offset=0"),
        ("", 3, "?limit=250&offset=750"),
        (
            "dateFrom=2024-01-01",
            1,
            "?dateFrom=2024-01-01&limit=250&offset=250",
        ),
    ] {
        let requested = views(query).unwrap().page_target(number);
        assert_eq!(requested, format!("{LIST}{target}"));
    }
}

#[test]
fn query_message_has_stable_property_names() {
    let query = views("dateTo=2025-06-16&limit=25&offset=75").unwrap();
    let expected = serde_json::json!({
        "operation": "analytics.views",
        "list": "/v1/analytics/demo-docs/views?dateTo=2025-06-16",
        "limit": 25,
        "offset": 75,
        "fresh_for": 300_000,
    });
    assert_eq!(serde_json::to_value(query).unwrap(), expected);
}

fn ranges() -> impl Strategy<Value = String> {
    let bound = |name: &'static str, years: &'static str| {
        let date = format!("{years}-(01|02)-(01|02)(T00:00(:00)?(Z|%2B00:00)?)?");
        let pair = string_regex(&format!("{name}={date}")).unwrap();
        prop_oneof![Just(String::new()), pair]
    };
    (
        bound("dateFrom", "(2019|2020)"),
        bound("dateTo", "(2021|2022)"),
    )
        .prop_map(|(from, to)| [from, to].join("&"))
}

proptest! {
    #[test]
    fn lists_are_equal_only_for_equal_projects_and_ranges(
        first in ("([a-c%?&=/#. +é-]|views|limit){1,4}", ranges()),
        second in ("([a-c%?&=/#. +é-]|views|limit){1,4}", ranges()),
        limit in 1..251_u64,
        offset in 0..10_000_u64,
    ) {
        let config = configuration();
        let list = |(project, range): &(String, String), rest: &str| {
            views_by(&config, project, &format!("{range}&{rest}"), NOW).map(|views| views.list)
        };
        let page = format!("offset={offset}&limit={limit}");
        let (Ok(one), Ok(two)) = (list(&first, ""), list(&second, "")) else {
            // Only the projects `.` and `..` are rejected, because they are dot segments.
            let dots = |project: &str| matches!(project, "." | "..");
            prop_assert!(dots(&first.0) || dots(&second.0));
            return Ok(());
        };
        // Normalizes times as the gateway does: `00:00:00` becomes `00:00`, and `+00:00` becomes
        // `Z`.
        let spell = |(project, range): &(String, String)| {
            let range = range.replace("00:00:00", "00:00").replace("%2B00:00", "Z");
            (project.clone(), range)
        };
        prop_assert_eq!(one == two, spell(&first) == spell(&second), "{} {}", one, two);
        prop_assert_eq!(list(&first, &page), Ok(one.clone()));
        for name in ["limit=", "offset="] {
            prop_assert!(!one.contains(name), "{}", one);
        }
    }
}
