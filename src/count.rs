//! JSON numbers. [`Count`] is an exact integer, and [`Number`] can have a fraction.

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

/// A JSON number. It is never NaN or infinite.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(feature = "json", derive(Deserialize, Serialize), serde(transparent))]
pub struct Number(f64);

impl Number {
    /// Returns the number.
    #[must_use]
    pub const fn get(self) -> f64 {
        self.0
    }
}

/// Compares by `total_cmp`, because `Eq` requires a total equality.
impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        self.0.total_cmp(&other.0).is_eq()
    }
}

impl Eq for Number {}

impl HasJsonType for Number {
    const JSON_TYPE: JsonType = JsonType::Number;
}
