//! Calendar days in UTC.

use super::calendar::{civil_from_days, days_from_civil};
use super::{DateBound, Point, read_point};
use crate::millis::Millis;

const MILLIS: u64 = 86_400_000;

/// A calendar day in UTC, from 1970-01-01 to 9999-12-31.
///
/// ```
/// use quillgate::{Day, Millis};
///
/// let day = Day::from_text("2024-02-29").unwrap();
/// assert_eq!(day.next().to_text(), "2024-03-01");
/// assert_eq!(Day::of(Millis(1_709_210_096_789)), day);
/// assert_eq!(Day::from_text("2024-02-29T12:00"), None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Day(u32);

impl Day {
    /// The number of days from 1970-01-01 to 9999-12-31, the last day with a four-digit year.
    const LAST: u32 = 2_932_896;

    /// Returns the day that is `days` after 1970-01-01. Saturates at 9999-12-31.
    #[must_use]
    pub fn from_number(days: u64) -> Self {
        Self(u32::try_from(days).map_or(Self::LAST, |days| days.min(Self::LAST)))
    }

    /// Returns the number of days since 1970-01-01.
    #[must_use]
    pub const fn number(self) -> u32 {
        self.0
    }

    /// Returns the day of an instant. Saturates at 9999-12-31.
    #[must_use]
    pub fn of(instant: Millis) -> Self {
        Self::from_number(instant.0 / MILLIS)
    }

    /// Parses `YYYY-MM-DD`. Returns `None` for anything else, including date-times and days before
    /// 1970.
    #[must_use]
    pub fn from_text(text: &str) -> Option<Self> {
        match read_point(text.as_bytes()) {
            Ok(Point::Day(day)) => u64::try_from(day).ok().map(Self::from_number),
            _ => None,
        }
    }

    /// Formats the day as `YYYY-MM-DD`.
    #[must_use]
    pub fn to_text(self) -> String {
        let mut text = DateBound::from_instant(self.begin()).text;
        text.truncate(10);
        text
    }

    /// Returns the day's first instant, midnight UTC.
    #[must_use]
    pub const fn begin(self) -> Millis {
        Millis(self.0 as u64 * MILLIS)
    }

    /// Returns the next day. Saturates at 9999-12-31.
    #[must_use]
    pub fn next(self) -> Self {
        self.plus(1)
    }

    /// Returns the day that is `days` later. Saturates at 9999-12-31.
    #[must_use]
    pub fn plus(self, days: u32) -> Self {
        Self(self.0.saturating_add(days).min(Self::LAST))
    }

    /// Returns the day that is `days` earlier. Saturates at 1970-01-01.
    #[must_use]
    pub const fn minus(self, days: u32) -> Self {
        Self(self.0.saturating_sub(days))
    }

    /// Returns the number of days since `earlier`, or 0 if `earlier` is later.
    #[must_use]
    pub const fn since(self, earlier: Self) -> u32 {
        self.0.saturating_sub(earlier.0)
    }

    /// Iterates over the days from this one to `end`, exclusive.
    pub fn until(self, end: Self) -> impl Iterator<Item = Self> {
        (self.0..end.0).map(Self)
    }

    /// Returns the Monday of the day's week (ISO 8601). Saturates at 1970-01-01, a Thursday.
    ///
    /// ```
    /// use quillgate::Day;
    ///
    /// let monday = Day::from_text("2024-03-03").map(Day::begin_of_week);
    /// assert_eq!(monday, Day::from_text("2024-02-26"));
    /// ```
    #[must_use]
    pub const fn begin_of_week(self) -> Self {
        // 1970-01-01 was a Thursday.
        self.minus((self.0 + 3) % 7)
    }

    /// Returns the first day of the day's month.
    ///
    /// ```
    /// use quillgate::Day;
    ///
    /// let first = Day::from_text("2024-02-29").map(Day::begin_of_month);
    /// assert_eq!(first, Day::from_text("2024-02-01"));
    /// ```
    #[must_use]
    pub fn begin_of_month(self) -> Self {
        let (_, _, day) = civil_from_days(self.0.into());
        u32::try_from(day - 1).map_or(self, |earlier| self.minus(earlier))
    }

    /// Returns the first day of the next month. In December 9999, returns 9999-12-31.
    #[must_use]
    pub fn begin_of_next_month(self) -> Self {
        let (year, month, _) = civil_from_days(self.0.into());
        let (year, month) = if month == 12 {
            (year + 1, 1)
        } else {
            (year, month + 1)
        };
        let days = days_from_civil(year, month, 1).and_then(|days| u64::try_from(days).ok());
        days.map_or(self, Self::from_number)
    }
}

impl From<Day> for DateBound {
    fn from(day: Day) -> Self {
        Self {
            text: day.to_text(),
            point: Point::Day(day.0.into()),
        }
    }
}
