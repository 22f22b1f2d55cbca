//! Calendar dates, instants and HTTP dates.
//!
//! Mintlify accepts `YYYY-MM-DD` and ISO 8601 date-times (docs/mintlify/analytics.md, 4.2). This
//! module parses only these formats and HTTP dates, because a calendar library would be many times
//! larger than the rest of the package.

mod calendar;
mod day;
mod http;
mod instant;
mod scan;
mod timestamp;

use std::cmp::Ordering;

pub use self::day::Day;
pub use self::http::{parse_http_date, parse_retry_after};
pub use self::instant::Instant;
pub(crate) use self::instant::read_time;
pub use self::timestamp::Timestamp;

use self::calendar::{civil_from_days, days_from_civil};
use self::scan::{Fields, scan};
use crate::error::{Rule, ValidationError};
use crate::millis::Millis;
use crate::text::{push_integer, quote};

/// The granularity of a `dateTo` set by [`DateRange::freeze`]: five minutes, in milliseconds.
const FREEZE_STEP: i64 = 300_000;
/// The length of a day's range before its first [`FREEZE_STEP`] has passed, so that all callers
/// share it: one second, in milliseconds.
const SHORTEST_DAY: i64 = 1000;
/// The largest offset from UTC of a time zone: 14 hours, in milliseconds.
const EARLIEST_OFFSET: i64 = 14 * 3_600_000;

/// A bound of a date range: `YYYY-MM-DD` or an ISO 8601 date-time. It is sent unchanged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DateBound {
    text: String,
    point: Point,
}

/// The value of a bound. Only two bounds of the same variant can be compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Point {
    /// A calendar day, in days since 1970-01-01.
    Day(i64),
    /// A date-time without an offset, in milliseconds since 1970-01-01T00:00 as if it were UTC.
    Local(i64),
    /// A date-time with an offset, in milliseconds since the Unix epoch.
    Instant(i64),
}

impl DateBound {
    /// Parses a bound. `field` is the parameter's name, used in errors.
    ///
    /// A date-time is `YYYY-MM-DDThh:mm`, optionally followed by seconds, a fraction of a second,
    /// and `Z` or an offset `±hh:mm`.
    ///
    /// # Errors
    /// [`Rule::DateFormat`] if the format is wrong, [`Rule::CalendarDate`] if the day or the time
    /// does not exist.
    ///
    /// # Example
    /// ```
    /// use quillgate::{DateBound, Rule};
    ///
    /// assert!(DateBound::new("dateFrom", "2024-02-29").is_ok());
    /// assert_eq!(DateBound::new("dateFrom", "2024-02-30").unwrap_err().rule, Rule::CalendarDate);
    /// assert_eq!(DateBound::new("dateFrom", "yesterday").unwrap_err().rule, Rule::DateFormat);
    /// ```
    pub fn new(field: &'static str, text: impl Into<String>) -> Result<Self, ValidationError> {
        let text = text.into();
        match read_point(text.as_bytes()) {
            Ok(point) => Ok(Self { text, point }),
            Err(rule) => {
                let error = ValidationError::new(field, rule, quote(&text));
                #[cfg(feature = "gateway")]
                let error = add_format_hint(error, &text);
                Err(error)
            }
        }
    }

    /// Creates a bound from an instant, in UTC with milliseconds.
    ///
    /// Instants after the year 9999 become the last millisecond of that year.
    ///
    /// ```
    /// use quillgate::{DateBound, Millis};
    ///
    /// let bound = DateBound::from_instant(Millis(1_709_210_096_789));
    /// assert_eq!(bound.as_str(), "2024-02-29T12:34:56.789Z");
    /// ```
    #[must_use]
    pub fn from_instant(instant: Millis) -> Self {
        let millis = i64::try_from(instant.0).unwrap_or(LAST);
        Self::in_utc(millis)
    }

    pub(crate) fn in_utc(millis: i64) -> Self {
        let millis = millis.clamp(FIRST, LAST);
        let mut text = write_date_time(millis);
        text.push('Z');
        Self {
            text,
            point: Point::Instant(millis),
        }
    }

    /// Returns the bound in a canonical form.
    ///
    /// Days stay unchanged. Date-times get milliseconds, and those with an offset are converted to
    /// UTC. Digits beyond milliseconds are dropped. Instants outside the years 0000 to 9999 in UTC
    /// become the nearest instant in that range.
    ///
    /// ```
    /// use quillgate::DateBound;
    ///
    /// let bound = DateBound::new("dateTo", "2024-02-29T13:34:56.7890001+01:00")?;
    /// assert_eq!(bound.normalize().as_str(), "2024-02-29T12:34:56.789Z");
    /// # Ok::<(), quillgate::ValidationError>(())
    /// ```
    #[must_use]
    pub fn normalize(&self) -> Self {
        match self.point {
            Point::Day(_) => self.clone(),
            Point::Local(millis) => Self {
                text: write_date_time(millis),
                point: self.point,
            },
            Point::Instant(millis) => Self::in_utc(millis),
        }
    }

    /// Returns the string that is sent.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Compares two days, two instants or two date-times without an offset.
    ///
    /// Returns `None` for bounds of different kinds, because only the server knows which instant a
    /// day or a local date-time means.
    #[must_use]
    pub fn compare(&self, other: &Self) -> Option<Ordering> {
        self.point.compare(other.point)
    }
}

impl Point {
    fn compare(self, other: Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Day(a), Self::Day(b))
            | (Self::Local(a), Self::Local(b))
            | (Self::Instant(a), Self::Instant(b)) => Some(a.cmp(&b)),
            _ => None,
        }
    }
}

/// Checks that a string is a valid bound.
///
/// # Errors
/// The rules of [`DateBound::new`].
pub(crate) fn check_date(text: &str) -> Result<(), Rule> {
    read_point(text.as_bytes()).map(drop)
}

/// Adds the correction of two common other formats.
#[cfg(feature = "gateway")]
#[cold]
pub(crate) fn add_format_hint(error: ValidationError, text: &str) -> ValidationError {
    if error.rule != Rule::DateFormat {
        return error;
    }
    if scan(b"0000-11-22 ", text.as_bytes(), &mut Fields::default()).is_some() {
        return error.with_hint("put T between the date and the time");
    }
    if text.starts_with(is_digit) && !text.chars().take(4).all(is_digit) {
        return error.with_hint("start with the year");
    }
    error
}

#[cfg(feature = "gateway")]
const fn is_digit(character: char) -> bool {
    character.is_ascii_digit()
}

/// Returns the milliseconds since the Unix epoch of a date-time, or of the start of a day. A time
/// without an offset is UTC. Returns `None` for anything else.
pub(crate) fn read_utc(text: &str) -> Option<i64> {
    match read_point(text.as_bytes()).ok()? {
        Point::Day(day) => Some(day * DAY),
        Point::Local(millis) | Point::Instant(millis) => Some(millis),
    }
}

/// Checks that `from` is before `to` if both are present, valid and comparable.
pub(crate) fn check_order(from: Option<&str>, to: Option<&str>) -> Result<(), ValidationError> {
    let (Some(from), Some(to)) = (from, to) else {
        return Ok(());
    };
    let (Ok(begin), Ok(end)) = (read_point(from.as_bytes()), read_point(to.as_bytes())) else {
        return Ok(());
    };
    check_points(begin, end, from)
}

/// Checks that `begin` is before `end` if they are comparable. `from` is `begin` as text.
fn check_points(begin: Point, end: Point, from: &str) -> Result<(), ValidationError> {
    match begin.compare(end) {
        Some(Ordering::Equal | Ordering::Greater) => {
            let error = reversed_range(from);
            #[cfg(feature = "gateway")]
            let error = add_end_hint(error, begin, end);
            Err(error)
        }
        Some(Ordering::Less) | None => Ok(()),
    }
}

/// Explains the end of a range whose bounds are equal.
#[cfg(feature = "gateway")]
#[cold]
fn add_end_hint(error: ValidationError, begin: Point, end: Point) -> ValidationError {
    if begin != end {
        return error;
    }
    let mut hint = String::from("dateTo is exclusive");
    if let Point::Day(day) = begin
        && day * DAY + DAY <= LAST
        && let Some(next) = write_date_time(day * DAY + DAY).get(..10)
    {
        hint.push_str(", so one day ends at ");
        hint.push_str(next);
    }
    error.with_hint(hint)
}

#[cold]
#[inline(never)]
fn reversed_range(from: &str) -> ValidationError {
    ValidationError::new("dateFrom", Rule::BeforeDateTo, quote(from))
}

/// Returns the end for a range without `dateTo`; see [`DateRange::freeze`].
pub(crate) fn freeze_end(from: Option<&str>, now: Millis) -> Result<String, ValidationError> {
    let now = i64::try_from(now.0).unwrap_or(LAST);
    let mut end = now - now % FREEZE_STEP;
    if let Some(from) = from
        && let Ok(begin) = read_point(from.as_bytes())
    {
        let (start, tolerance) = match begin {
            Point::Instant(millis) => (millis, 0),
            Point::Local(millis) => (millis, EARLIEST_OFFSET),
            Point::Day(day) => (day * DAY, EARLIEST_OFFSET),
        };
        if start >= end {
            if start - tolerance >= now {
                return Err(reversed_range(from));
            }
            end = match begin {
                Point::Day(_) if start <= now => start + SHORTEST_DAY,
                _ => now,
            };
        }
    }
    Ok(DateBound::in_utc(end).text)
}

/// A date range from `dateFrom` (inclusive) to `dateTo` (exclusive), as defined in
/// docs/mintlify/analytics.md, 4.2.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DateRange {
    from: Option<DateBound>,
    to: Option<DateBound>,
}

impl DateRange {
    /// Creates a range. A bound that is `None` is open.
    ///
    /// # Errors
    /// [`Rule::BeforeDateTo`] if `from` and `to` can be compared and `from` is not before `to`.
    pub fn new(from: Option<DateBound>, to: Option<DateBound>) -> Result<Self, ValidationError> {
        if let (Some(begin), Some(end)) = (&from, &to) {
            check_points(begin.point, end.point, &begin.text)?;
        }
        Ok(Self { from, to })
    }

    /// Sets a missing `dateTo` to `now`, so that all pages of a list come from one range.
    ///
    /// The end is rounded down to five minutes, so that requests in the same five minutes share a
    /// cache entry. If the start, read as UTC, is not before the rounded end, the range ends at
    /// `now` instead, or one second after midnight if it starts with the current day. Ranges with
    /// `dateTo` stay unchanged.
    ///
    /// # Errors
    /// [`Rule::BeforeDateTo`] if `dateFrom` is not before `now`. For a day or a date-time without an
    /// offset, only if this is so in every time zone.
    ///
    /// # Example
    /// ```
    /// use quillgate::{DateBound, DateRange, Millis};
    ///
    /// let range = DateRange::default().freeze(Millis(1_709_210_096_789))?;
    /// assert_eq!(range.to().map(DateBound::as_str), Some("2024-02-29T12:30:00.000Z"));
    /// # Ok::<(), quillgate::ValidationError>(())
    /// ```
    pub fn freeze(self, now: Millis) -> Result<Self, ValidationError> {
        if self.to.is_some() {
            return Ok(self);
        }
        let end = freeze_end(self.from.as_ref().map(DateBound::as_str), now)?;
        let end = DateBound::new("dateTo", end)?;
        Self::new(self.from, Some(end))
    }

    /// Returns the range with both bounds in canonical form; see [`DateBound::normalize`].
    #[must_use]
    pub fn normalize(&self) -> Self {
        Self {
            from: self.from.as_ref().map(DateBound::normalize),
            to: self.to.as_ref().map(DateBound::normalize),
        }
    }

    /// Returns the inclusive start, or `None` if it is open.
    #[must_use]
    pub const fn from(&self) -> Option<&DateBound> {
        self.from.as_ref()
    }

    /// Returns the exclusive end, or `None` if it is open.
    #[must_use]
    pub const fn to(&self) -> Option<&DateBound> {
        self.to.as_ref()
    }
}

const DAY: i64 = 86_400_000;
/// 0000-01-01T00:00:00.000Z, the first instant with a four-digit year, in milliseconds since the
/// Unix epoch.
pub(crate) const FIRST: i64 = -62_167_219_200_000;
/// 9999-12-31T23:59:59.999Z, the last instant with a four-digit year, in milliseconds since the
/// Unix epoch.
const LAST: i64 = 253_402_300_799_999;

/// Formats a date-time in the years 0000 to 9999, with milliseconds and without an offset.
fn write_date_time(millis: i64) -> String {
    let (year, month, day) = civil_from_days(millis.div_euclid(DAY));
    let of_day = millis.rem_euclid(DAY);
    let mut text = String::with_capacity(24);
    let mut field = |separator: &str, value: i64, width: usize| {
        text.push_str(separator);
        push_integer(&mut text, value.unsigned_abs(), width);
    };
    field("", year, 4);
    field("-", month, 2);
    field("-", day, 2);
    field("T", of_day / 3_600_000, 2);
    field(":", of_day / 60_000 % 60, 2);
    field(":", of_day / 1000 % 60, 2);
    field(".", of_day % 1000, 3);
    text
}

fn read_point(text: &[u8]) -> Result<Point, Rule> {
    let scanned = scan_point(text).ok_or(Rule::DateFormat)?;
    let (fields, form) = scanned;
    let day = days_from_civil(fields[scan::YEAR], fields[scan::MONTH], fields[scan::DAY]);
    let day = day.ok_or(Rule::CalendarDate)?;
    let (hour, minute, second) = (
        fields[scan::HOUR],
        fields[scan::MINUTE],
        fields[scan::SECOND],
    );
    let (zone_hour, zone_minute) = (fields[scan::ZONE_HOUR], fields[scan::ZONE_MINUTE]);
    if hour.max(zone_hour) > 23 || minute.max(second).max(zone_minute) > 59 {
        return Err(Rule::CalendarDate);
    }
    let local =
        |millisecond| day * DAY + hour * 3_600_000 + minute * 60_000 + second * 1000 + millisecond;
    Ok(match form {
        Form::Day => Point::Day(day),
        Form::Local(millisecond) => Point::Local(local(millisecond)),
        Form::Instant(millisecond, sign) => Point::Instant(
            local(millisecond) - sign * (zone_hour * 3_600_000 + zone_minute * 60_000),
        ),
    })
}

/// The format of a bound.
enum Form {
    Day,
    /// Has the milliseconds of the second.
    Local(i64),
    /// Has the milliseconds of the second, and the sign of the offset: -1, 0 or 1.
    Instant(i64, i64),
}

fn scan_point(text: &[u8]) -> Option<(Fields, Form)> {
    let mut fields = Fields::default();
    let mut rest = scan(b"0000-11-22", text, &mut fields)?;
    if rest.is_empty() {
        return Some((fields, Form::Day));
    }
    rest = scan(b"T33:44", rest, &mut fields)?;
    let mut millisecond = 0;
    if let [b':', ..] = rest {
        rest = scan(b":55", rest, &mut fields)?;
        if let [b'.', fraction @ ..] = rest {
            (millisecond, rest) = scan_fraction(fraction)?;
        }
    }
    let form = match rest {
        [] => Form::Local(millisecond),
        [b'Z'] => Form::Instant(millisecond, 0),
        [sign @ (b'+' | b'-'), zone @ ..] => {
            let sign = if *sign == b'-' { -1 } else { 1 };
            scan(b"66:77", zone, &mut fields)?
                .is_empty()
                .then_some(())?;
            Form::Instant(millisecond, sign)
        }
        _ => return None,
    };
    Some((fields, form))
}

/// Reads one or more digits of a fraction as milliseconds. Further digits are dropped.
fn scan_fraction(text: &[u8]) -> Option<(i64, &[u8])> {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (fraction, rest) = text.split_at(digits);
    let mut millisecond = 0;
    for at in 0..3 {
        let digit = fraction.get(at).map_or(0, |digit| digit - b'0');
        millisecond = millisecond * 10 + i64::from(digit);
    }
    (digits > 0).then_some((millisecond, rest))
}
