//! Instants in results.

use std::fmt;

use super::{Timestamp, read_utc};
use crate::schema::{HasJsonType, JsonType};
use crate::text::cut;

/// An instant in a result, as the server sent it.
///
/// A server may send a string that is not a date-time. It does not make the result invalid, but
/// [`Self::timestamp`] returns `None`.
///
/// ```
/// use quillgate::{Instant, Timestamp};
///
/// let created = Instant::from("2024-02-29 12:34:56");
/// assert_eq!(created.to_string(), "2024-02-29T12:34:56.000Z");
/// assert_eq!(created.timestamp(), Some(Timestamp::from_millis(1_709_210_096_000)));
/// assert_eq!(Instant::from("yesterday").timestamp(), None);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "json", derive(serde::Deserialize, serde::Serialize))]
#[cfg_attr(feature = "json", serde(transparent))]
pub struct Instant(String);

impl Instant {
    /// Returns the server's string.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the instant, or `None` if the string is not a date-time or is before 1970. A missing
    /// zone means UTC, and a space can replace the `T`.
    #[must_use]
    pub fn timestamp(&self) -> Option<Timestamp> {
        let millis = u64::try_from(read_time(&self.0)?).ok()?;
        Some(Timestamp::from_millis(millis))
    }
}

/// Prints the instant in UTC (RFC 3339), or the server's string if it is not a date-time.
impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.timestamp() {
            Some(timestamp) => timestamp.fmt(f),
            None => f.write_str(&self.0),
        }
    }
}

impl From<&str> for Instant {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl HasJsonType for Instant {
    const JSON_TYPE: JsonType = JsonType::String;
}

/// Reads a time of a result in milliseconds since the Unix epoch. A space can replace the `T`, and a
/// missing zone means UTC.
pub(crate) fn read_time(time: &str) -> Option<i64> {
    read_utc(time).or_else(|| {
        let (day, clock) = cut(time, b' ');
        read_utc(&[day, "T", clock?].concat())
    })
}
