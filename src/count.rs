//! JSON numbers. [`Count`] is an exact integer, and [`Percentage`] can have a fraction.

use std::fmt;

use serde::Deserialize;
#[cfg(feature = "json")]
use serde::Serialize;
use serde::de::{Deserializer, Unexpected, Visitor};

use crate::schema::{HasJsonType, JsonType};
use crate::text::{MAX_SAFE_INTEGER, to_exact_integer};

/// A count from 0 to 2^53 − 1, the largest integer that every JSON parser reads exactly.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "json", derive(Serialize))]
pub struct Count(u64);

impl Count {
    /// Returns the number.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl HasJsonType for Count {
    const JSON_TYPE: JsonType = JsonType::SafeInteger;
}

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Integer;
        impl Visitor<'_> for Integer {
            type Value = Count;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an integer from 0 to 9007199254740991")
            }
            fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<Count, E> {
                if number <= MAX_SAFE_INTEGER {
                    return Ok(Count(number));
                }
                Err(E::invalid_value(Unexpected::Unsigned(number), &self))
            }
            // JSON and JavaScript do not distinguish 1, 1.0 and 1e0.
            fn visit_f64<E: serde::de::Error>(self, number: f64) -> Result<Count, E> {
                match to_exact_integer(number).map(u64::try_from) {
                    Some(Ok(number)) => Ok(Count(number)),
                    _ => Err(E::invalid_value(Unexpected::Float(number), &self)),
                }
            }
        }
        deserializer.deserialize_any(Integer)
    }
}

/// A percentage from 0 to 100, which can have a fraction: 40 means 40 %.
///
/// It is never NaN or infinite. A number outside the range is passed through unchanged, because one
/// odd row must not invalidate a report.
///
/// ```
/// # #[cfg(feature = "json")]
/// # {
/// let rate: quillgate::Percentage = serde_json::from_str("12.5")?;
/// assert_eq!(rate.get(), 12.5);
/// # }
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
#[cfg_attr(feature = "json", derive(Deserialize, Serialize), serde(transparent))]
pub struct Percentage(f64);

impl Percentage {
    /// Returns the percentage: 40.0 for 40 %.
    #[must_use]
    pub const fn get(self) -> f64 {
        self.0
    }
}

/// Compares by `total_cmp`, because `Eq` requires a total equality.
impl PartialEq for Percentage {
    fn eq(&self, other: &Self) -> bool {
        self.0.total_cmp(&other.0).is_eq()
    }
}

impl Eq for Percentage {}

impl HasJsonType for Percentage {
    const JSON_TYPE: JsonType = JsonType::Percentage;
}
