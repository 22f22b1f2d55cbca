use quillgate::{Call, DateBound, DateRange, ListPageViews, Millis, Operation, Rule};
use serde_json::json;

use super::{assert_rejected, query, rejection};
use crate::date::DAY;

const DATE: &str = "must be a date as YYYY-MM-DD or an ISO 8601 date-time";

#[test]
fn strings_that_are_not_dates_are_rejected_from_every_source() {
    let put_t = "; put T between the date and the time";
    for (text, hint) in [
        ("yesterday", ""),
        ("", ""),
        ("2024-2-9", ""),
        ("01/02/2024", "; start with the year"),
        ("1.2.2024", "; start with the year"),
        ("2024-02-01 12:00:00", put_t),
    ] {
        for field in ["dateFrom", "dateTo"] {
            let message = format!("{field} {DATE}, found \"{text}\"{hint}");
            for error in [
                rejection::<ListPageViews>(&query(&[(field, text)])),
                rejection::<ListPageViews>(&json!({ field: text })),
                DateBound::new(field, text).unwrap_err(),
            ] {
                assert_rejected(&error, field, Rule::DateFormat, &message);
            }
        }
    }
}

#[test]
fn an_empty_range_is_rejected_from_every_source() {
    let exclusive = "; dateTo is exclusive";
    let one_day = "; dateTo is exclusive, so one day ends at 2024-03-01";
    for (from, to, hint) in [
        ("2024-02-29", "2024-02-29", one_day),
        ("9999-12-31", "9999-12-31", "; dateTo is exclusive"),
        ("2024-03-01", "2024-02-29", ""),
        ("2024-01-01T00:00:00Z", "2024-01-01T00:00Z", exclusive),
        ("2024-01-01T00:00+01:00", "2023-12-31T23:00Z", exclusive),
        ("2024-01-01T00:00:00.001", "2024-01-01T00:00", ""),
    ] {
        let found = format!("dateFrom must be before dateTo, found \"{from}\"");
        let message = found + hint;
        let bound = |field, text: &str| Some(DateBound::new(field, text).unwrap());
        for error in [
            rejection::<ListPageViews>(&query(&[("dateFrom", from), ("dateTo", to)])),
            rejection::<ListPageViews>(&json!({"dateFrom": from, "dateTo": to})),
            DateRange::new(bound("dateFrom", from), bound("dateTo", to)).unwrap_err(),
        ] {
            assert_rejected(&error, "dateFrom", Rule::BeforeDateTo, &message);
        }
    }
}

fn list(params: &serde_json::Value) -> Call {
    Call::parse(Operation::ListPageViews.declaration(), params).unwrap()
}

fn list_from(from: &serde_json::Value) -> Call {
    list(&json!({"dateFrom": from, "limit": 7, "offset": 3}))
}

#[test]
fn an_open_end_is_frozen_to_the_last_multiple_of_five_minutes() {
    for (now, end) in [
        (1_709_210_096_789, "2024-02-29T12:30:00.000Z"),
        (1_709_209_800_000, "2024-02-29T12:30:00.000Z"),
        (1_709_210_099_999, "2024-02-29T12:30:00.000Z"),
        (1_709_210_100_000, "2024-02-29T12:35:00.000Z"),
    ] {
        for from in [
            json!(null),
            json!("2024-02-29"),
            json!("2024-02-29T12:29:59.999Z"),
            json!("2024-02-29T12:29:59"),
        ] {
            let list = list_from(&from);
            let frozen = list.clone().freeze(Millis(now)).unwrap();
            assert_eq!(frozen.text("dateTo"), Some(end), "{from}");
            for name in ["dateFrom", "limit", "offset"] {
                assert_eq!(frozen.text(name), list.text(name));
            }
            let range = list.range().unwrap().freeze(Millis(now)).unwrap();
            assert_eq!(frozen.range().unwrap(), range);
        }
    }
}

#[test]
fn a_range_that_began_within_five_minutes_is_frozen_to_the_current_time() {
    for from in [
        "2024-02-29T12:30:00Z",
        "2024-02-29T12:30",
        "2024-02-29T12:34:56.788Z",
        "2024-03-01",
    ] {
        let frozen = list_from(&json!(from)).freeze(Millis(1_709_210_096_789));
        let end = "2024-02-29T12:34:56.789Z";
        assert_eq!(frozen.unwrap().text("dateTo"), Some(end), "{from}");
    }
}

#[test]
fn a_range_of_the_current_day_is_the_same_for_all_calls_of_its_first_five_minutes() {
    let midnight = 1_709_164_800_000;
    for (now, end) in [
        (midnight, "2024-02-29T00:00:01.000Z"),
        (midnight + 299_999, "2024-02-29T00:00:01.000Z"),
        (midnight + 300_000, "2024-02-29T00:05:00.000Z"),
    ] {
        let frozen = list_from(&json!("2024-02-29")).freeze(Millis(now));
        assert_eq!(frozen.unwrap().text("dateTo"), Some(end), "{now}");
    }
}

#[test]
fn freezing_rejects_a_start_that_is_in_the_future_in_every_time_zone() {
    // In the earliest time zone, UTC+14, March 2 begins on March 1 at 10:00 UTC.
    let begin = 1_709_287_200_000;
    for from in ["2024-03-02", "2024-03-02T00:00"] {
        let list = list_from(&json!(from));
        let message = format!("dateFrom must be before dateTo, found \"{from}\"");
        for now in [0, begin - DAY, begin] {
            for error in [
                list.clone().freeze(Millis(now)).unwrap_err(),
                list.range().unwrap().freeze(Millis(now)).unwrap_err(),
            ] {
                assert_rejected(&error, "dateFrom", Rule::BeforeDateTo, &message);
            }
        }
        assert!(list.freeze(Millis(begin + 1)).is_ok(), "{from}");
    }
}
