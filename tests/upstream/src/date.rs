//! Calendar days and the date formats of the API.

use std::fmt;

/// A day of the UTC calendar, counted from 1970-01-01.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Day(i64);

impl Day {
    pub(crate) fn from_epoch(days: i64) -> Self {
        Self(days)
    }

    /// Parses `YYYY-MM-DD` or an ISO 8601 date-time.
    ///
    /// A date-time maps to its UTC day. Without a time zone it is UTC.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let Some((date, time)) = text.split_once(['T', 't']) else {
            return calendar_day(text);
        };
        let day = calendar_day(date)?;
        let minute = utc_minute(time)?;
        Some(day.plus(minute.div_euclid(24 * 60)))
    }

    pub(crate) fn plus(self, days: i64) -> Self {
        Self(self.0.saturating_add(days))
    }

    /// The days since `earlier`, or 0 if `earlier` is later.
    pub(crate) fn since(self, earlier: Self) -> u64 {
        u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0)
    }

    /// The number of Saturdays and Sundays between a fixed day and this day.
    pub(crate) fn weekend_days_before(self) -> i64 {
        // 1970-01-01 was a Thursday: two days before a Saturday.
        let from_saturday = self.0 - 2;
        from_saturday.div_euclid(7) * 2 + from_saturday.rem_euclid(7).min(2)
    }

    /// Year, month and day of the month in the Gregorian calendar.
    fn civil(self) -> (i64, i64, i64) {
        // Years are counted from March, so that a leap day comes last.
        let from_year_zero = self.0 + 719_468;
        let era = from_year_zero.div_euclid(146_097);
        let of_era = from_year_zero.rem_euclid(146_097);
        let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let month_from_march = (5 * of_year + 2) / 153;
        let day = of_year - (153 * month_from_march + 2) / 5 + 1;
        let month = (month_from_march + 2) % 12 + 1;
        let year = year_of_era + era * 400 + i64::from(month <= 2);
        (year, month, day)
    }

    fn from_civil(year: i64, month: i64, day: i64) -> Option<Self> {
        let from_march = if month > 2 { year } else { year - 1 };
        let (era, year_of_era) = (from_march.div_euclid(400), from_march.rem_euclid(400));
        let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
        let of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + of_year;
        let found = Self(era * 146_097 + of_era - 719_468);
        // A day that the month does not have results in another date.
        (found.civil() == (year, month, day)).then_some(found)
    }
}

impl fmt::Display for Day {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = self.civil();
        write!(formatter, "{year:04}-{month:02}-{day:02}")
    }
}

fn calendar_day(text: &str) -> Option<Day> {
    let (year, rest) = text.split_once('-')?;
    let (month, day) = rest.split_once('-')?;
    let (year, month, day) = (digits(year, 4)?, digits(month, 2)?, digits(day, 2)?);
    if year == 0 || !(1..=12).contains(&month) {
        return None;
    }
    Day::from_civil(year, month, day)
}

/// The minute of the UTC day. It is out of range if the time zone moves it to another day.
fn utc_minute(time: &str) -> Option<i64> {
    let (clock, offset) = split_zone(time)?;
    let (hour, rest) = clock.split_once(':')?;
    let (minute, seconds) = rest.split_once(':').unwrap_or((rest, "00"));
    let (second, fraction) = seconds.split_once('.').unwrap_or((seconds, "0"));
    let (hour, minute, second) = (digits(hour, 2)?, digits(minute, 2)?, digits(second, 2)?);
    digits(fraction, fraction.len().max(1))?;
    (hour < 24 && minute < 60 && second < 60).then_some(hour * 60 + minute - offset)
}

/// The time without its zone, and the zone's offset from UTC in minutes.
fn split_zone(time: &str) -> Option<(&str, i64)> {
    if let Some(clock) = time.strip_suffix(['Z', 'z']) {
        return Some((clock, 0));
    }
    let Some(at) = time.find(['+', '-']) else {
        return Some((time, 0));
    };
    let (clock, zone) = time.split_at(at);
    let (hours, minutes) = zone[1..]
        .split_once(':')
        .or(zone[1..].split_at_checked(2))?;
    let (hours, minutes) = (digits(hours, 2)?, digits(minutes, 2)?);
    if hours > 23 || minutes > 59 {
        return None;
    }
    let ahead = hours * 60 + minutes;
    Some((clock, if zone.starts_with('-') { -ahead } else { ahead }))
}

fn digits(text: &str, count: usize) -> Option<i64> {
    let all = text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit());
    // A fraction may overflow. Its value does not matter.
    all.then(|| text.parse().unwrap_or(i64::MAX))
}
