//! The clock of the simulator. All other code receives timestamps.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use crate::date::Day;

pub(crate) const DAY_MS: u64 = 24 * 60 * 60 * 1000;

/// A wall clock that never moves back and that tests can advance.
pub(crate) struct Clock {
    started: Instant,
    started_at: Timestamp,
    rate: u32,
    offset_ms: AtomicU64,
}

impl Clock {
    /// Starts a clock that runs `rate` times as fast as the system's.
    pub(crate) fn start(rate: u32) -> Self {
        let since_epoch = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        Self {
            started: Instant::now(),
            started_at: Timestamp(whole_ms(since_epoch)),
            rate,
            offset_ms: AtomicU64::new(0),
        }
    }

    pub(crate) fn now(&self) -> Timestamp {
        let offset_ms = self.offset_ms.load(Ordering::Relaxed);
        let elapsed = whole_ms(self.started.elapsed().saturating_mul(self.rate));
        self.started_at.plus(elapsed).plus(offset_ms)
    }

    /// Advances the clock by `ms`.
    pub(crate) fn advance(&self, ms: u64) {
        let add = |offset: u64| Some(offset.saturating_add(ms));
        let ordering = Ordering::Relaxed;
        let _ = self.offset_ms.fetch_update(ordering, ordering, add);
    }

    pub(crate) fn started_at(&self) -> Timestamp {
        self.started_at
    }
}

fn whole_ms(duration: std::time::Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// Milliseconds since the Unix epoch, displayed as an RFC 3339 date-time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Timestamp(pub(crate) u64);

impl Timestamp {
    /// The midnight that begins a day. Days before 1970 map to the epoch.
    pub(crate) fn start_of(day: Day) -> Self {
        Self(day.since(Day::from_epoch(0)).saturating_mul(DAY_MS))
    }

    pub(crate) fn plus(self, ms: u64) -> Self {
        Self(self.0.saturating_add(ms))
    }

    /// The milliseconds since `earlier`, or 0 if `earlier` is later.
    pub(crate) fn since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }

    pub(crate) fn day(self) -> Day {
        Day::from_epoch(i64::try_from(self.0 / DAY_MS).unwrap_or(i64::MAX))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of_day = self.0 % DAY_MS;
        let (hour, minute) = (of_day / 3_600_000, of_day / 60_000 % 60);
        let (second, ms) = (of_day / 1000 % 60, of_day % 1000);
        let day = self.day();
        write!(
            formatter,
            "{day}T{hour:02}:{minute:02}:{second:02}.{ms:03}Z"
        )
    }
}
