//! Calendar dates, instants and HTTP dates.
//!
//! The platform takes `YYYY-MM-DD` and ISO 8601 (docs/platform.md, 4.2). This module reads
//! just what those need, since a whole calendar library would outweigh the rest of
//! the package many times over.

use std::cmp::Ordering;

use crate::error::{Rule, ValidationError};
use crate::millis::Millis;
use crate::text::{format_integer, quote};

/// To what an open end is rounded down: five minutes.
const FREEZE_STEP: Millis = Millis::from_seconds(300);

/// A bound of a range of dates: `YYYY-MM-DD` or an ISO 8601 date-time, sent as it was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DateBound {
    text: String,
    point: Point,
}

/// What a bound says, as far as two bounds can be compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Point {
    /// A calendar day, in days since 1970-01-01.
    Day(i64),
    /// A date-time without an offset, in milliseconds as if it were UTC.
    Local(i64),
    /// A date-time with an offset, in milliseconds since the Unix epoch.
    Instant(i64),
}

impl DateBound {
    /// Reads a bound; `field` is the parameter's name for the error.
    ///
    /// A date-time is `YYYY-MM-DDThh:mm`, with optional seconds, a fraction of a
    /// second, and `Z` or an offset `±hh:mm`.
    ///
    /// # Errors
    /// [`Rule::DateFormat`] when the text is neither, [`Rule::CalendarDate`] when no
    /// calendar has that day or no day has that time.
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
            Err(rule) => Err(ValidationError::new(field, rule, quote(&text))),
        }
    }

    /// The bound at an instant, in UTC with milliseconds.
    ///
    /// An instant past the year 9999 is taken as the last one of that year.
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

    fn in_utc(millis: i64) -> Self {
        let millis = millis.clamp(FIRST, LAST);
        let mut text = write_date_time(millis);
        text.push('Z');
        Self {
            text,
            point: Point::Instant(millis),
        }
    }

    /// The same bound in its one spelling: a day as it is, a date-time with milliseconds and, when
    /// it has an offset, in UTC. What is finer than a millisecond is dropped.
    ///
    /// An instant that in UTC is not within the years 0000 to 9999 is taken as the first or the
    /// last of them.
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

    /// The bound as it was given.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// How two bounds are ordered, when they are of one kind: two days, two instants
    /// or two date-times without an offset. What a day or a date-time without an
    /// offset means as an instant is the upstream's to say.
    #[must_use]
    pub fn compare(&self, other: &Self) -> Option<Ordering> {
        match (self.point, other.point) {
            (Point::Day(a), Point::Day(b))
            | (Point::Local(a), Point::Local(b))
            | (Point::Instant(a), Point::Instant(b)) => Some(a.cmp(&b)),
            _ => None,
        }
    }

    /// Whether the bound is before an instant, where a day begins at midnight UTC and a date-time
    /// without an offset is one in UTC.
    pub(crate) fn is_before_in_utc(&self, instant: Millis) -> bool {
        let millis = match self.point {
            Point::Day(day) => day * DAY,
            Point::Local(millis) | Point::Instant(millis) => millis,
        };
        i64::try_from(instant.0).is_ok_and(|instant| millis < instant)
    }
}

/// A range of dates: `dateFrom` counts, `dateTo` does not any more (docs/platform.md, 4.2).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DateRange {
    from: Option<DateBound>,
    to: Option<DateBound>,
}

impl DateRange {
    /// The range between two bounds, either of which may be open.
    ///
    /// # Errors
    /// [`Rule::BeforeDateTo`] when both can be compared and `from` is not before `to`:
    /// such a range can hold nothing.
    pub fn new(from: Option<DateBound>, to: Option<DateBound>) -> Result<Self, ValidationError> {
        if let (Some(from), Some(to)) = (&from, &to)
            && matches!(from.compare(to), Some(Ordering::Equal | Ordering::Greater))
        {
            return Err(ValidationError::new(
                "dateFrom",
                Rule::BeforeDateTo,
                quote(&from.text),
            ));
        }
        Ok(Self { from, to })
    }

    /// The same range with an end, where it was open, so that every page of one run comes from one
    /// range: `now`, rounded down to five minutes, so that runs of the same five minutes are
    /// answered from one cache. A range that began within them ends at `now` itself.
    ///
    /// # Errors
    /// [`Rule::BeforeDateTo`] when the range does not begin before `now`.
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
        let rounded = Millis(now.0 / FREEZE_STEP.0 * FREEZE_STEP.0);
        let from = self.from.as_ref();
        let has_begun = from.is_none_or(|from| from.is_before_in_utc(rounded));
        let end = DateBound::from_instant(if has_begun { rounded } else { now });
        Self::new(self.from, Some(end))
    }

    /// The same range with each bound in its one spelling: see [`DateBound::normalize`].
    #[must_use]
    pub fn normalize(&self) -> Self {
        Self {
            from: self.from.as_ref().map(DateBound::normalize),
            to: self.to.as_ref().map(DateBound::normalize),
        }
    }

    /// The first day or instant that counts.
    #[must_use]
    pub const fn from(&self) -> Option<&DateBound> {
        self.from.as_ref()
    }

    /// The first day or instant that does not count any more.
    #[must_use]
    pub const fn to(&self) -> Option<&DateBound> {
        self.to.as_ref()
    }
}

const DAY: i64 = 86_400_000;
/// 0000-01-01T00:00:00.000Z, the first instant that four digits of a year can spell.
const FIRST: i64 = -62_167_219_200_000;
/// 9999-12-31T23:59:59.999Z, the last.
const LAST: i64 = 253_402_300_799_999;

/// Writes a date-time of the years 0000 to 9999 with milliseconds and without an offset.
fn write_date_time(millis: i64) -> String {
    let (year, month, day) = civil_from_days(millis.div_euclid(DAY));
    let of_day = millis.rem_euclid(DAY);
    let mut text = String::with_capacity(24);
    let mut field = |separator: &str, value: i64, width: usize| {
        let digits = format_integer(value.unsigned_abs());
        text.push_str(separator);
        for _ in digits.len()..width {
            text.push('0');
        }
        text.push_str(&digits);
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

/// Reads fixed-width fields off the front of a text.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn digits(&mut self, count: usize) -> Option<i64> {
        let (digits, rest) = self.0.split_at_checked(count)?;
        let mut value = 0;
        for digit in digits {
            value = value * 10 + i64::from(digit.checked_sub(b'0').filter(|digit| *digit < 10)?);
        }
        self.0 = rest;
        Some(value)
    }

    fn take(&mut self, expected: u8) -> bool {
        let found = self.0.first() == Some(&expected);
        if found {
            self.0 = &self.0[1..];
        }
        found
    }

    fn literal(&mut self, expected: &[u8]) -> Option<()> {
        self.0 = self.0.strip_prefix(expected)?;
        Some(())
    }
}

fn read_point(text: &[u8]) -> Result<Point, Rule> {
    let mut reader = Reader(text);
    let (year, month, day) = read_date(&mut reader).ok_or(Rule::DateFormat)?;
    let days = || days_from_civil(year, month, day).ok_or(Rule::CalendarDate);
    if reader.0.is_empty() {
        return days().map(Point::Day);
    }
    let (time, zone) = read_time(&mut reader).ok_or(Rule::DateFormat)?;
    if !reader.0.is_empty() {
        return Err(Rule::DateFormat);
    }
    let local = days()? * DAY + time.millis().ok_or(Rule::CalendarDate)?;
    match zone {
        None => Ok(Point::Local(local)),
        Some(zone) => Ok(Point::Instant(
            local - zone.millis().ok_or(Rule::CalendarDate)?,
        )),
    }
}

fn read_date(reader: &mut Reader<'_>) -> Option<(i64, i64, i64)> {
    let year = reader.digits(4)?;
    reader.literal(b"-")?;
    let month = reader.digits(2)?;
    reader.literal(b"-")?;
    Some((year, month, reader.digits(2)?))
}

/// A time of day as written, not yet checked.
struct Time {
    hour: i64,
    minute: i64,
    second: i64,
    millisecond: i64,
}

impl Time {
    fn millis(&self) -> Option<i64> {
        let exists = self.hour < 24 && self.minute < 60 && self.second < 60;
        exists.then_some(
            self.hour * 3_600_000 + self.minute * 60_000 + self.second * 1000 + self.millisecond,
        )
    }
}

/// An offset from UTC as written, not yet checked.
struct Zone {
    sign: i64,
    hour: i64,
    minute: i64,
}

impl Zone {
    fn millis(&self) -> Option<i64> {
        let exists = self.hour < 24 && self.minute < 60;
        exists.then_some(self.sign * (self.hour * 3_600_000 + self.minute * 60_000))
    }
}

fn read_time(reader: &mut Reader<'_>) -> Option<(Time, Option<Zone>)> {
    reader.literal(b"T")?;
    let hour = reader.digits(2)?;
    reader.literal(b":")?;
    let minute = reader.digits(2)?;
    let (mut second, mut millisecond) = (0, 0);
    if reader.take(b':') {
        second = reader.digits(2)?;
        if reader.take(b'.') {
            millisecond = read_fraction(reader)?;
        }
    }
    let time = Time {
        hour,
        minute,
        second,
        millisecond,
    };
    let zone = if reader.0.is_empty() {
        None
    } else {
        Some(read_zone(reader)?)
    };
    Some((time, zone))
}

/// One digit or more after the point; what is finer than a millisecond is dropped.
fn read_fraction(reader: &mut Reader<'_>) -> Option<i64> {
    let mut millisecond = reader.digits(1)? * 100;
    let mut weight = 10;
    while let Some(digit) = reader.digits(1) {
        millisecond += digit * weight;
        weight /= 10;
    }
    Some(millisecond)
}

/// Reads an offset from UTC: `Z` or `±hh:mm`.
fn read_zone(reader: &mut Reader<'_>) -> Option<Zone> {
    if reader.take(b'Z') {
        return Some(Zone {
            sign: 1,
            hour: 0,
            minute: 0,
        });
    }
    let sign = if reader.take(b'-') {
        -1
    } else {
        reader.literal(b"+")?;
        1
    };
    let hour = reader.digits(2)?;
    reader.literal(b":")?;
    let minute = reader.digits(2)?;
    Some(Zone { sign, hour, minute })
}

/// Days from 1970-01-01 to a day of the proleptic Gregorian calendar, when it exists.
fn days_from_civil(year: i64, month: i64, day: i64) -> Option<i64> {
    let leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    let length = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        _ => return None,
    };
    if !(1..=length).contains(&day) {
        return None;
    }
    // Counted from March, a leap day is the last day of its year.
    let (year, month) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * month + 2) / 5 + day - 1;
    Some(era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468)
}

/// The day of the proleptic Gregorian calendar that is `days` after 1970-01-01.
fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let (month, carry) = if month < 10 {
        (month + 3, 0)
    } else {
        (month - 9, 1)
    };
    (year + era * 400 + carry, month, day)
}

/// How long `Retry-After` asks to wait: seconds, or an HTTP date (RFC 9110,
/// sections 10.2.3 and 5.6.7), of which `now` is needed to make a length.
///
/// A date that has passed asks for no wait; anything else that is neither is no answer.
///
/// ```
/// use quillgate::{Millis, date::parse_retry_after};
///
/// let now = Millis(784_111_777_000); // Sun, 06 Nov 1994 08:49:37 GMT
/// assert_eq!(parse_retry_after("120", now), Some(Millis(120_000)));
/// assert_eq!(parse_retry_after("Sun, 06 Nov 1994 08:50:00 GMT", now), Some(Millis(23_000)));
/// assert_eq!(parse_retry_after("soon", now), None);
/// ```
#[must_use]
pub fn parse_retry_after(value: &str, now: Millis) -> Option<Millis> {
    let value = value.as_bytes().trim_ascii();
    if !value.is_empty() && value.iter().all(u8::is_ascii_digit) {
        let seconds = |number: u64, digit: &u8| {
            number
                .saturating_mul(10)
                .saturating_add(u64::from(digit - b'0'))
        };
        return Some(Millis::from_seconds(value.iter().fold(0, seconds)));
    }
    read_http_date(value, now).map(|date| date.since(now))
}

/// An HTTP date in any of its three forms (RFC 9110, section 5.6.7), none before 1970.
///
/// The two-digit year of an RFC 850 date is taken to be at most 50 years after `now`.
#[must_use]
pub fn parse_http_date(text: &str, now: Millis) -> Option<Millis> {
    read_http_date(text.as_bytes(), now)
}

fn read_http_date(text: &[u8], now: Millis) -> Option<Millis> {
    let comma = text.iter().position(|byte| *byte == b',');
    let seconds = if let Some(comma) = comma {
        let mut reader = Reader(text.get(comma + 1..)?);
        reader.literal(b" ")?;
        let day = reader.digits(2)?;
        let (year, month) = if reader.take(b'-') {
            let month = read_month(&mut reader)?;
            reader.literal(b"-")?;
            (full_year(reader.digits(2)?, now), month)
        } else {
            reader.literal(b" ")?;
            let month = read_month(&mut reader)?;
            reader.literal(b" ")?;
            (reader.digits(4)?, month)
        };
        reader.literal(b" ")?;
        let time = read_clock(&mut reader)?;
        reader.literal(b" GMT")?;
        reader.0.is_empty().then_some(())?;
        days_from_civil(year, month, day)? * 86_400 + time
    } else {
        // asctime: `Sun Nov  6 08:49:37 1994`
        let mut reader = Reader(text.get(3..)?);
        reader.literal(b" ")?;
        let month = read_month(&mut reader)?;
        reader.literal(b" ")?;
        let day = if reader.take(b' ') {
            reader.digits(1)?
        } else {
            reader.digits(2)?
        };
        reader.literal(b" ")?;
        let time = read_clock(&mut reader)?;
        reader.literal(b" ")?;
        let year = reader.digits(4)?;
        reader.0.is_empty().then_some(())?;
        days_from_civil(year, month, day)? * 86_400 + time
    };
    u64::try_from(seconds).ok().map(Millis::from_seconds)
}

fn read_month(reader: &mut Reader<'_>) -> Option<i64> {
    const NAMES: &[u8] = b"JanFebMarAprMayJunJulAugSepOctNovDec";
    let (name, rest) = reader.0.split_at_checked(3)?;
    let at = NAMES.chunks_exact(3).position(|month| month == name)?;
    reader.0 = rest;
    i64::try_from(at + 1).ok()
}

/// `hh:mm:ss` in seconds; a leap second is allowed.
fn read_clock(reader: &mut Reader<'_>) -> Option<i64> {
    let hour = reader.digits(2)?;
    reader.literal(b":")?;
    let minute = reader.digits(2)?;
    reader.literal(b":")?;
    let second = reader.digits(2)?;
    let exists = hour < 24 && minute < 60 && second <= 60;
    exists.then_some(hour * 3600 + minute * 60 + second)
}

fn full_year(two_digits: i64, now: Millis) -> i64 {
    let (this_year, _, _) = civil_from_days(now.0.cast_signed() / DAY);
    let earliest = this_year - 49;
    earliest + (two_digits - earliest).rem_euclid(100)
}
