//! Durations and instants in the core, in milliseconds. The npm package passes them as numbers.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Milliseconds: a duration, or an instant since the Unix epoch.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize,
)]
pub struct Millis(pub u64);

impl Millis {
    /// Converts seconds to milliseconds. Saturates at 2^64 − 1 ms.
    #[must_use]
    pub const fn from_seconds(seconds: u64) -> Self {
        Self(seconds.saturating_mul(1000))
    }

    /// Adds a duration. Saturates at 2^64 − 1 ms.
    #[must_use]
    pub const fn plus(self, later: Self) -> Self {
        Self(self.0.saturating_add(later.0))
    }

    /// Returns the time since `earlier`, or zero if `earlier` is later.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Self {
        Self(self.0.saturating_sub(earlier.0))
    }

    /// Multiplies the duration by a factor between `low` and `high`. `random`, from 0 to 1, selects
    /// the factor.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        clippy::cast_sign_loss,
        reason = "lengths of time here are far below 2^53 ms, and a part of one is dropped"
    )]
    #[must_use]
    pub fn jitter(self, low: f64, high: f64, random: f64) -> Self {
        // A NaN factor would make the wait zero, so NaN counts as 0.
        let random = if random.is_nan() {
            0.0
        } else {
            random.clamp(0.0, 1.0)
        };
        let factor = low + (high - low) * random;
        Self((self.0 as f64 * factor) as u64)
    }
}

/// Truncates to whole milliseconds. Durations above 2^64 − 1 ms become that maximum.
impl From<Duration> for Millis {
    fn from(duration: Duration) -> Self {
        Self(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX))
    }
}

impl From<Millis> for Duration {
    fn from(millis: Millis) -> Self {
        Self::from_millis(millis.0)
    }
}
