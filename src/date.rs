//! Calendar dates, instants and HTTP dates.
//!
//! The platform takes `YYYY-MM-DD` and ISO 8601 (docs/platform.md, 4.2). This module reads
//! just what those need, since a whole calendar library would outweigh the rest of
//! the package many times over.

mod calendar;
mod day;
mod http;
mod scan;

use std::cmp::Ordering;

pub use self::day::Day;
pub use self::http::{parse_http_date, parse_retry_after};

use self::calendar::{civil_from_days, days_from_civil};
use self::scan::{Fields, scan};
use crate::error::{Rule, ValidationError};
use crate::millis::Millis;
use crate::text::{push_integer, quote};

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

    /// Whether this is before an instant, where a day begins at midnight UTC and a date-time
    /// without an offset is one in UTC.
    fn is_before_in_utc(self, instant: Millis) -> bool {
        let millis = match self {
            Self::Day(day) => day * DAY,
            Self::Local(millis) | Self::Instant(millis) => millis,
        };
        i64::try_from(instant.0).is_ok_and(|instant| millis < instant)
    }
}

/// Checks that a text is a bound.
///
/// # Errors
/// The rule that it breaks, as [`DateBound::new`] says.
pub(crate) fn check_date(text: &str) -> Result<(), Rule> {
    read_point(text.as_bytes()).map(drop)
}

/// Checks that a range, either end of which may be open, does not end before it begins; as
/// [`DateRange::new`] does.
pub(crate) fn check_order(from: Option<&str>, to: Option<&str>) -> Result<(), ValidationError> {
    let (Some(from), Some(to)) = (from, to) else {
        return Ok(());
    };
    let (Ok(begin), Ok(end)) = (read_point(from.as_bytes()), read_point(to.as_bytes())) else {
        return Ok(());
    };
    if matches!(
        begin.compare(end),
        Some(Ordering::Equal | Ordering::Greater)
    ) {
        return Err(ValidationError::new(
            "dateFrom",
            Rule::BeforeDateTo,
            quote(from),
        ));
    }
    Ok(())
}

/// The end of a range that is open: see [`DateRange::freeze`].
pub(crate) fn freeze_end(from: Option<&str>, now: Millis) -> String {
    let rounded = Millis(now.0 / FREEZE_STEP.0 * FREEZE_STEP.0);
    let begin = from.and_then(|from| read_point(from.as_bytes()).ok());
    let has_begun = begin.is_none_or(|begin| begin.is_before_in_utc(rounded));
    DateBound::from_instant(if has_begun { rounded } else { now }).text
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
        check_order(
            from.as_ref().map(DateBound::as_str),
            to.as_ref().map(DateBound::as_str),
        )?;
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
        let end = freeze_end(self.from.as_ref().map(DateBound::as_str), now);
        let end = DateBound::new("dateTo", end)?;
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

/// The form of a bound, with the millisecond and the sign of the offset, where it has one.
enum Form {
    Day,
    Local(i64),
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

/// Reads one digit or more as milliseconds; what is finer than one is dropped.
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
