use std::cmp::Ordering;

use quillgate::{DateBound, DateRange, Day, Millis, Rule};

pub const DAY: u64 = 86_400_000;

pub fn bound(text: &str) -> DateBound {
    DateBound::new("dateFrom", text).unwrap()
}

fn rule(text: &str) -> Rule {
    let error = DateBound::new("dateTo", text).expect_err(text);
    assert_eq!(error.field, "dateTo");
    error.rule
}

/// The oracle: a calendar that advances one day at a time.
#[derive(Clone, Copy)]
pub struct Calendar {
    pub year: u32,
    pub month: u32,
    pub day: u32,
}

impl Calendar {
    pub fn from_year(year: u32) -> Self {
        Self {
            year,
            month: 1,
            day: 1,
        }
    }

    pub fn last_day_of_month(self) -> u32 {
        const COMMON: [u32; 12] = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
        const NO_LEAP_DAY: [u32; 8] = [1500, 1700, 1800, 1900, 2100, 2200, 2300, 2500];
        let leap_day =
            self.month == 2 && self.year.is_multiple_of(4) && !NO_LEAP_DAY.contains(&self.year);
        COMMON[self.month as usize - 1] + u32::from(leap_day)
    }

    pub fn next(self) -> Self {
        let Self { year, month, day } = self;
        if day < self.last_day_of_month() {
            Self {
                year,
                month,
                day: day + 1,
            }
        } else if month < 12 {
            Self {
                year,
                month: month + 1,
                day: 1,
            }
        } else {
            Self::from_year(year + 1)
        }
    }

    pub fn text(self) -> String {
        format!("{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

#[test]
fn every_day_of_four_centuries_is_valid_and_precedes_the_next() {
    // The calendar repeats after 400 years.
    let mut today = Calendar::from_year(1800);
    while today.year < 2200 {
        let tomorrow = today.next();
        let (day, next) = (bound(&today.text()), bound(&tomorrow.text()));
        assert_eq!(day.compare(&next), Some(Ordering::Less), "{}", today.text());

        // 23:00 at UTC-1 is midnight UTC, so the days touch.
        let end = bound(&format!("{}T23:00:00-01:00", today.text()));
        let start = bound(&format!("{}T00:00Z", tomorrow.text()));
        let expected = Some(Ordering::Equal);
        assert_eq!(end.compare(&start), expected, "{}", today.text());
        today = tomorrow;
    }
}

#[test]
fn instants_are_formatted_with_the_day_they_fall_on() {
    let mut today = Calendar::from_year(1970);
    let mut days = 0;
    // The calendar repeats after 400 years.
    while today.year < 2370 {
        let midnight = Millis(days * DAY);
        let first = DateBound::from_instant(midnight);
        let last = DateBound::from_instant(midnight.plus(Millis(DAY - 1)));
        let day = today.text();
        assert_eq!(first.as_str(), format!("{day}T00:00:00.000Z"));
        assert_eq!(last.as_str(), format!("{day}T23:59:59.999Z"));
        assert_eq!(first, bound(first.as_str()));
        today = today.next();
        days += 1;
    }
    assert_eq!(days, 146_097);
}

#[test]
fn an_instant_after_the_year_9999_is_clamped_to_its_last_millisecond() {
    for instant in [253_402_300_800_000, u64::MAX / 2, u64::MAX] {
        let bound = DateBound::from_instant(Millis(instant));
        assert_eq!(bound.as_str(), "9999-12-31T23:59:59.999Z");
        assert_eq!(bound, DateBound::from_instant(Millis(253_402_300_799_999)));
    }
}

#[test]
fn date_times_accept_every_optional_part() {
    for text in [
        "2024-02-29T00:00",
        "2024-02-29T23:59:59",
        "2024-02-29T23:59:59.999999999",
        "2024-02-29T23:59Z",
        "2024-02-29T23:59:59.123Z",
        "2024-02-29T23:59+00:00",
        "2024-02-29T23:59:59+23:59",
        "2024-02-29T23:59:59.5-23:59",
        "0000-02-29",
        "9999-12-31T23:59:59.999-12:00",
    ] {
        assert_eq!(bound(text).as_str(), text, "{text:?}");
    }
    let endless = format!("2024-02-29T23:59:59.{}Z", "9".repeat(100_000));
    let found = bound(&endless).compare(&bound("2024-02-29T23:59:59.999Z"));
    assert_eq!(found, Some(Ordering::Equal));
}

#[test]
fn impossible_times_and_offsets_are_rejected() {
    let texts = "2024-02-29T24:00 2024-02-29T99:00 2024-02-29T23:60 2024-02-29T23:59:60Z \
        2024-02-29T00:00+24:00 2024-02-29T00:00-00:60 2024-02-30T00:00:00Z \
        2023-02-29T12:00:00.5+02:00 2024-13-01T00:00Z";
    for text in texts.split(' ') {
        assert_eq!(rule(text), Rule::CalendarDate, "{text}");
    }
}

#[test]
fn dates_in_other_formats_are_rejected() {
    for text in [
        "",
        "2024",
        "2024-2-29",
        "20240229",
        "2024/02/29",
        "2024-02-29 ",
        " 2024-02-29",
        "2024-02-290",
        "+2024-02-29",
        "2024-02-29T",
        "2024-02-29T10:00:0",
        "2024-02-29T10:00:00.Z",
        "2024-02-29T10:00:00,5Z",
        "2024-02-29T10:00:000",
        "2024-02-29t10:00z",
        "2024-02-29T10:00Z ",
        "2024-02-29T10:00+02",
        "2024-02-29T10:00+0200",
        "2024-02-29T10:00+02:000",
        "2024-02-29T10:00−02:00",
        "2024-02-29T10:00[Europe/Paris]",
        "2024-02-29Z",
        "٢٠٢٤-٠٢-٢٩",
        "2024-02-3x",
    ] {
        assert_eq!(rule(text), Rule::DateFormat, "{text:?}");
    }
    assert_eq!(rule(&"2".repeat(1_000_000)), Rule::DateFormat);
}

#[test]
fn instants_with_different_offsets_are_ordered_by_time() {
    for text in [
        "2024-01-01T00:00Z = 2024-01-01T00:00:00.000+00:00",
        "2024-01-01T00:00Z = 2024-01-01T00:00-00:00",
        "2024-01-01T02:00+02:00 = 2023-12-31T19:00-05:00",
        "2024-03-01T00:30+01:00 = 2024-02-29T23:30Z",
        "2024-01-01T00:00Z < 2024-01-01T00:00:00.001Z",
        "2024-01-01T00:00+00:01 < 2024-01-01T00:00Z",
        "1969-12-31T23:59:59.999Z < 1970-01-01T00:00Z",
    ] {
        let [a, sign, b] = *text.split(' ').collect::<Vec<_>>() else {
            panic!("{text}");
        };
        let order = if sign == "=" {
            Ordering::Equal
        } else {
            Ordering::Less
        };
        assert_eq!(bound(a).compare(&bound(b)), Some(order), "{text}");
        assert_eq!(bound(b).compare(&bound(a)), Some(order.reverse()), "{text}");
    }
}

#[test]
fn fractions_of_different_lengths_compare_by_value() {
    for (shorter, longer) in [
        (".5", ".500"),
        (".05", ".050"),
        (".005", ".0059"),
        (".12", ".120999"),
    ] {
        let at = |fraction| bound(&format!("2024-01-01T00:00:00{fraction}Z"));
        let found = at(shorter).compare(&at(longer));
        assert_eq!(found, Some(Ordering::Equal), "{shorter} {longer}");
    }
    let written = DateBound::from_instant(Millis(1_704_067_200_050));
    let expected = Some(Ordering::Equal);
    assert_eq!(written.compare(&bound("2024-01-01T00:00:00.05Z")), expected);
}

#[test]
fn days_local_times_and_instants_do_not_compare_with_each_other() {
    let kinds = [
        bound("2024-01-01"),
        bound("2024-01-01T00:00"),
        bound("2024-01-01T00:00Z"),
    ];
    for (at, one) in kinds.iter().enumerate() {
        for (other, two) in kinds.iter().enumerate() {
            let expected = (at == other).then_some(Ordering::Equal);
            assert_eq!(one.compare(two), expected, "{one:?} {two:?}");
        }
    }
}

#[test]
fn a_range_of_one_day_or_one_millisecond_is_accepted() {
    for (from, to) in [
        ("2024-02-28", "2024-02-29"),
        ("2023-12-31", "2024-01-01"),
        ("2024-01-01T00:00:00.000Z", "2024-01-01T00:00:00.001Z"),
        ("2024-01-01T00:00", "2024-01-01T00:01"),
    ] {
        let range = DateRange::new(Some(bound(from)), Some(bound(to))).unwrap();
        assert_eq!(range.from().unwrap().as_str(), from, "{from:?}");
        assert_eq!(range.to().unwrap().as_str(), to, "{from:?}");
    }
}

#[test]
fn normalizing_gives_every_spelling_of_a_date_the_same_form() {
    for (spellings, normal) in [
        (vec!["2024-02-29"], "2024-02-29"),
        (
            vec![
                "2024-02-29T12:34Z",
                "2024-02-29T12:34:00Z",
                "2024-02-29T12:34:00.00000000000000000000000000000000000000000Z",
                "2024-02-29T12:34:00.0009999Z",
                "2024-02-29T12:34:00-00:00",
                "2024-02-29T23:59+11:25",
                "2024-02-28T23:34-13:00",
            ],
            "2024-02-29T12:34:00.000Z",
        ),
        (
            vec!["2024-02-29T12:34", "2024-02-29T12:34:00.000000"],
            "2024-02-29T12:34:00.000",
        ),
        (
            vec!["1969-12-31T23:59:59.999Z", "1970-01-01T01:59:59.9999+02:00"],
            "1969-12-31T23:59:59.999Z",
        ),
        (
            vec![
                "0000-01-01T00:00Z",
                "0000-01-01T00:00+23:59",
                "0000-01-01T05:00+05:01",
            ],
            "0000-01-01T00:00:00.000Z",
        ),
        (
            vec!["9999-12-31T23:59:59.999Z", "9999-12-31T23:59-23:59"],
            "9999-12-31T23:59:59.999Z",
        ),
    ] {
        for spelling in spellings {
            let normalized = bound(spelling).normalize();
            assert_eq!(normalized.as_str(), normal, "{spelling}");
            assert_eq!(normalized, bound(normal), "{spelling}");
        }
    }
}

fn day(text: &str) -> Day {
    Day::from_text(text).unwrap()
}

#[test]
fn days_are_parsed_formatted_and_counted() {
    for text in ["1970-01-01", "2024-02-29", "2026-11-22", "9999-12-31"] {
        assert_eq!(day(text).to_text(), text);
    }
    for text in [
        "",
        "1969-12-31",
        "2024-02-30",
        "2024-2-1",
        "2024-02-29T00:00Z",
    ] {
        assert_eq!(Day::from_text(text), None, "{text}");
    }
    assert_eq!(day("2024-03-01").since(day("2024-02-01")), 29);
    assert_eq!(day("2024-02-01").since(day("2024-03-01")), 0);
    let days: Vec<_> = day("2024-02-28").until(day("2024-03-01")).collect();
    assert_eq!(days, [day("2024-02-28"), day("2024-02-29")]);
    assert_eq!(day("2024-03-01").until(day("2024-02-01")).count(), 0);
    assert_eq!(DateBound::from(day("2024-02-29")), bound("2024-02-29"));
    assert_eq!(day("9999-12-31").next(), day("9999-12-31"));
    assert_eq!(Day::from_number(u64::MAX), day("9999-12-31"));
    assert_eq!(day("2024-12-31").begin_of_next_month(), day("2025-01-01"));
    assert_eq!(day("2024-02-29").begin_of_next_month(), day("2024-03-01"));
    assert_eq!(day("2026-11-23").begin_of_week(), day("2026-11-23"));
    assert_eq!(day("2026-11-22").begin_of_week(), day("2026-11-16"));
}
