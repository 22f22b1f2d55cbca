//! `Retry-After` and the three forms of an HTTP date (RFC 9110, sections 5.6.7 and 10.2.3).

use quillgate::Millis;
use quillgate::date::{parse_http_date, parse_retry_after};

/// Sun, 06 Nov 1994 08:49:37 GMT, the example in the RFC.
const EXAMPLE: Millis = Millis(784_111_777_000);

#[test]
fn the_three_forms_of_the_rfc_example_parse_to_one_instant() {
    for text in [
        "Sun, 06 Nov 1994 08:49:37 GMT",
        "Sunday, 06-Nov-94 08:49:37 GMT",
        "Sun Nov  6 08:49:37 1994",
    ] {
        assert_eq!(parse_http_date(text, EXAMPLE), Some(EXAMPLE), "{text}");
    }
}

#[test]
fn a_two_digit_year_means_the_year_within_fifty_years() {
    for (this_year, two_digits, expected) in [
        (1994, 94, 1994),
        (1994, 44, 2044),
        (2026, 94, 1994),
        (2026, 26, 2026),
        (2026, 76, 2076),
        (2026, 77, 1977),
        (2049, 99, 2099),
        (2049, 0, 2000),
        (2099, 0, 2100),
        (1999, 0, 2000),
        (1999, 49, 2049),
        (2101, 99, 2099),
    ] {
        let instant = |year: u32, two_digits: u32| {
            let imf = format!("Mon, 01 Jan {year:04} 00:00:00 GMT");
            let old = format!("Monday, 01-Jan-{two_digits:02} 00:00:00 GMT");
            (imf, old)
        };
        let (now, _) = instant(this_year, 0);
        let (imf, old) = instant(expected, two_digits);
        let now = parse_http_date(&now, Millis(0)).unwrap();
        let expected = parse_http_date(&imf, now).unwrap();
        assert_eq!(parse_http_date(&old, now), Some(expected), "{old}");
    }
}

#[test]
fn a_leap_second_parses_as_the_next_second() {
    let now = Millis(0);
    let found = parse_http_date("Sat, 31 Dec 2016 23:59:60 GMT", now);
    assert_eq!(found, parse_http_date("Sun, 01 Jan 2017 00:00:00 GMT", now));
    assert!(parse_http_date("Sat, 31 Dec 2016 23:59:60 GMT", now).is_some());
}

#[test]
fn a_string_that_is_not_an_http_date_does_not_parse() {
    let with_trailing_space = "Sun, 06 Nov 1994 08:49:37 GMT ";
    assert_eq!(parse_http_date(with_trailing_space, EXAMPLE), None);
    for text in [
        "",
        "2024-02-29T00:00:00Z",
        "Sun, 06 Nov 1994 08:49:37",
        "Sun, 06 Nov 1994 08:49:37 UTC",
        "Sun, 6 Nov 1994 08:49:37 GMT",
        "Sun, 06 nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 8:49:37 GMT",
        "Sun, 06 Nov 1994 24:00:00 GMT",
        "Sun, 06 Nov 1994 08:49:61 GMT",
        "Sun, 31 Nov 1994 08:49:37 GMT",
        "Sun, 00 Nov 1994 08:49:37 GMT",
        "Wed, 29 Feb 2023 00:00:00 GMT",
        "Wed, 31 Dec 1969 23:59:59 GMT",
        "Sunday, 06-Nov-1994 08:49:37 GMT",
        "Sun Nov 6 08:49:37 1994",
        "Sun Nov  6 08:49:37 94",
        "Sun, 06 Nov 1994 08:49:37 ＧＭＴ",
    ] {
        assert_eq!(parse_http_date(text, EXAMPLE), None, "{text:?}");
        assert_eq!(parse_retry_after(text, None, EXAMPLE), None, "{text:?}");
    }
}

#[test]
fn retry_after_in_seconds_does_not_depend_on_the_clock() {
    for now in [Millis(0), EXAMPLE, Millis(u64::MAX)] {
        for (text, wait) in [
            ("0", 0),
            ("1", 1_000),
            ("120", 120_000),
            ("0030", 30_000),
            (" 5\t", 5_000),
        ] {
            let expected = Some(Millis(wait));
            assert_eq!(parse_retry_after(text, None, now), expected, "{text:?}");
        }
    }
}

#[test]
fn an_overflowing_retry_after_saturates() {
    for text in [
        "18446744073709551615",
        "18446744073709552",
        "99999999999999999999999999",
    ] {
        let expected = Some(Millis(u64::MAX));
        assert_eq!(parse_retry_after(text, None, EXAMPLE), expected, "{text}");
    }
}

#[test]
fn retry_after_as_a_date_is_the_time_until_that_date() {
    let before = Millis(EXAMPLE.0 - 23_456);
    for text in [
        "Sun, 06 Nov 1994 08:49:37 GMT",
        "  Sun, 06 Nov 1994 08:49:37 GMT  ",
    ] {
        let expected = Some(Millis(23_456));
        assert_eq!(parse_retry_after(text, None, before), expected, "{text}");
    }
}

#[test]
fn retry_after_as_a_date_counts_from_the_date_of_its_response() {
    let until = "Sun, 06 Nov 1994 08:49:40 GMT";
    let sent = "Sun, 06 Nov 1994 08:49:37 GMT";
    for now in [
        0,
        EXAMPLE.0 - 600_000,
        EXAMPLE.0,
        EXAMPLE.0 + 600_000,
        u64::MAX,
    ] {
        let wait = parse_retry_after(until, Some(sent), Millis(now));
        assert_eq!(wait, Some(Millis(3_000)), "{now}");
    }
    for sent in ["", "0", "today"] {
        let wait = parse_retry_after(until, Some(sent), EXAMPLE);
        assert_eq!(wait, Some(Millis(3_000)), "{sent}");
    }
    let expected = Some(Millis(5_000));
    assert_eq!(parse_retry_after("5", Some(sent), EXAMPLE), expected);
}
