//! The one clock; everything else is told the moment.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use crate::date::Day;

pub(crate) const DAY_MS: u64 = 24 * 60 * 60 * 1000;

/// Wall-clock time that never steps back, and that tests can move forward.
pub(crate) struct Clock {
    started: Instant,
    started_at: Moment,
    forward_ms: AtomicU64,
}

impl Clock {
    pub(crate) fn start() -> Self {
        let since_epoch = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        Self {
            started: Instant::now(),
            started_at: Moment(whole_ms(since_epoch)),
            forward_ms: AtomicU64::new(0),
        }
    }

    pub(crate) fn now(&self) -> Moment {
        let forward_ms = self.forward_ms.load(Ordering::Relaxed);
        let elapsed = self.started_at.plus(whole_ms(self.started.elapsed()));
        elapsed.plus(forward_ms)
    }

    /// Moves the clock, for all that is told the moment from now on.
    pub(crate) fn forward(&self, ms: u64) {
        let add = |forward: u64| Some(forward.saturating_add(ms));
        let ordering = Ordering::Relaxed;
        let _ = self.forward_ms.fetch_update(ordering, ordering, add);
    }

    pub(crate) fn started_at(&self) -> Moment {
        self.started_at
    }
}

fn whole_ms(duration: std::time::Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// Milliseconds since the Unix epoch; shown as an RFC 3339 date-time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Moment(pub(crate) u64);

impl Moment {
    /// Midnight at the beginning of the day; days before 1970 begin with the epoch.
    pub(crate) fn start_of(day: Day) -> Self {
        Self(day.since(Day::from_epoch(0)).saturating_mul(DAY_MS))
    }

    pub(crate) fn plus(self, ms: u64) -> Self {
        Self(self.0.saturating_add(ms))
    }

    /// Milliseconds from `earlier` to this.
    pub(crate) fn since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }

    pub(crate) fn day(self) -> Day {
        Day::from_epoch(i64::try_from(self.0 / DAY_MS).unwrap_or(i64::MAX))
    }
}

impl fmt::Display for Moment {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_goes_on_from_where_it_was_moved_to() {
        let clock = Clock::start();
        let before = clock.now();
        clock.forward(40 * DAY_MS);
        clock.forward(DAY_MS);
        assert!(clock.now().since(before) >= 41 * DAY_MS);
        assert!(clock.started_at() <= before);
        clock.forward(u64::MAX);
        assert_eq!(clock.now(), Moment(u64::MAX));
    }

    #[test]
    fn a_moment_is_shown_as_a_date_time() {
        assert_eq!(Moment(0).to_string(), "1970-01-01T00:00:00.000Z");
        assert_eq!(
            Moment(1_709_210_096_789).to_string(),
            "2024-02-29T12:34:56.789Z"
        );
    }
}
