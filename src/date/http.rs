//! HTTP dates and the `Retry-After` header field.

use super::calendar::{civil_from_days, days_from_civil};
use super::scan::{DAY, Fields, HOUR, MINUTE, MONTH, SECOND, YEAR, read};
use crate::millis::Millis;

/// Parses `Retry-After`: a number of seconds or an HTTP date (RFC 9110, sections 10.2.3 and 5.6.7).
///
/// Returns the time to wait, which is 0 for a date in the past. Waits saturate at 2^64 − 1 ms. Returns
/// `None` for an invalid value or a date before 1970.
///
/// A date counts from `sent`, the `Date` of the response, because the clocks of the server and of this
/// machine can differ. Without a valid `sent`, it counts from `now`.
///
/// ```
/// use quillgate::{Millis, date::parse_retry_after};
///
/// let now = Millis(784_111_777_000); // Sun, 06 Nov 1994 08:49:37 GMT
/// let later = "Sun, 06 Nov 1994 08:50:00 GMT";
/// assert_eq!(parse_retry_after("120", None, now), Some(Millis(120_000)));
/// assert_eq!(parse_retry_after(later, None, now), Some(Millis(23_000)));
/// assert_eq!(parse_retry_after(later, Some("Sun, 06 Nov 1994 08:49:00 GMT"), now), Some(Millis(60_000)));
/// assert_eq!(parse_retry_after("soon", None, now), None);
/// ```
#[must_use]
pub fn parse_retry_after(value: &str, sent: Option<&str>, now: Millis) -> Option<Millis> {
    let value = value.as_bytes().trim_ascii();
    if value.is_empty() || !value.iter().all(u8::is_ascii_digit) {
        let clock = sent.and_then(|sent| parse_http_date(sent, now));
        return read_http_date(value, now).map(|date| date.since(clock.unwrap_or(now)));
    }
    // Limit every step, because a value with many digits would overflow.
    let seconds = value.iter().fold(0, |seconds: u64, digit| {
        (seconds * 10 + u64::from(digit - b'0')).min(MAX_WAIT)
    });
    Some(if seconds == MAX_WAIT {
        Millis(u64::MAX)
    } else {
        Millis(seconds * 1000)
    })
}

/// The largest number of seconds that still fits in a `u64` when converted to milliseconds.
const MAX_WAIT: u64 = u64::MAX / 1000;

/// Parses an HTTP date in any of its three formats (RFC 9110, section 5.6.7). Returns `None` if it
/// is invalid or before 1970. The name of the weekday is ignored.
///
/// The two-digit year of an RFC 850 date is at most 50 more than the year of `now`. Months and days
/// are not compared, so the date can be almost 51 years ahead.
#[must_use]
pub fn parse_http_date(text: &str, now: Millis) -> Option<Millis> {
    read_http_date(text.as_bytes(), now)
}

fn read_http_date(text: &[u8], now: Millis) -> Option<Millis> {
    let fields = if let Some(comma) = text.iter().position(|byte| *byte == b',') {
        let date = &text[comma + 1..];
        read(b" 22 @@@ 0000 33:44:55 GMT", date)
            .or_else(|| Some(complete_year(read(b" 22-@@@-00 33:44:55 GMT", date)?, now)))
    } else {
        // asctime format: `Sun Nov  6 08:49:37 1994`
        let date = text.get(3..)?;
        read(b" @@@ 22 33:44:55 0000", date).or_else(|| read(b" @@@  2 33:44:55 0000", date))
    }?;
    let days = days_from_civil(fields[YEAR], fields[MONTH], fields[DAY])?;
    let (hour, minute, second) = (fields[HOUR], fields[MINUTE], fields[SECOND]);
    // Second 60 is a leap second.
    let exists = hour < 24 && minute < 60 && second <= 60;
    let seconds = days * 86_400 + hour * 3600 + minute * 60 + second;
    (exists && seconds >= 0).then(|| Millis(seconds.unsigned_abs() * 1000))
}

/// Adds the century to a two-digit year. The result is at most 49 years before and at most 50 years
/// after the year of `now`.
fn complete_year(mut fields: Fields, now: Millis) -> Fields {
    let (this_year, _, _) = civil_from_days(now.0.cast_signed() / super::DAY);
    let earliest = this_year - 49;
    fields[YEAR] = earliest + (fields[YEAR] - earliest).rem_euclid(100);
    fields
}
