//! Instants, in milliseconds since the Unix epoch.

use std::fmt;
use std::str::FromStr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::{DateBound, LAST, Point, read_point};
use crate::error::{Rule, ValidationError};
use crate::millis::Millis;
use crate::text::quote;

/// An instant, in milliseconds since 1970-01-01T00:00:00Z. An instant after the year 9999 is
/// formatted as the last millisecond of that year.
///
/// ```
/// use quillgate::Timestamp;
///
/// let created: Timestamp = "2024-02-29T13:34:56.789+01:00".parse()?;
/// assert_eq!(created.to_string(), "2024-02-29T12:34:56.789Z");
/// assert_eq!(created.as_millis(), 1_709_210_096_789);
/// assert!("2024-02-29".parse::<Timestamp>().is_err(), "a day is not an instant");
/// # Ok::<(), quillgate::ValidationError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(u64);

impl Timestamp {
    /// Creates an instant from milliseconds since the Unix epoch.
    #[must_use]
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis)
    }

    /// Returns the milliseconds since the Unix epoch.
    #[must_use]
    pub const fn as_millis(self) -> u64 {
        self.0
    }

    /// Returns the time since `earlier`, or zero if `earlier` is later.
    #[must_use]
    pub const fn duration_since(self, earlier: Self) -> Duration {
        Duration::from_millis(self.0.saturating_sub(earlier.0))
    }
}

/// Parses an ISO 8601 date-time with `Z` or an offset.
///
/// # Errors
/// [`Rule::DateFormat`] for another format, a date-time without an offset, or an instant before 1970
/// or after 9999. [`Rule::CalendarDate`] if the day or the time does not exist.
impl FromStr for Timestamp {
    type Err = ValidationError;

    fn from_str(text: &str) -> Result<Self, ValidationError> {
        let rule = match read_point(text.as_bytes()) {
            Ok(Point::Instant(millis @ 0..=LAST)) => return Ok(Self(millis.unsigned_abs())),
            Ok(_) => Rule::DateFormat,
            Err(rule) => rule,
        };
        Err(ValidationError::new("timestamp", rule, quote(text)))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(DateBound::from(*self).as_str())
    }
}

impl From<Timestamp> for DateBound {
    fn from(instant: Timestamp) -> Self {
        Self::from_instant(Millis(instant.0))
    }
}

/// Instants before 1970 become 1970-01-01T00:00:00Z.
impl From<SystemTime> for Timestamp {
    fn from(time: SystemTime) -> Self {
        let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
        Self(Millis::from(since).0)
    }
}

impl From<Timestamp> for SystemTime {
    fn from(instant: Timestamp) -> Self {
        UNIX_EPOCH + Duration::from_millis(instant.0)
    }
}

impl From<Timestamp> for Millis {
    fn from(instant: Timestamp) -> Self {
        Self(instant.0)
    }
}
