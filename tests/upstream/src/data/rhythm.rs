//! How counts differ from day to day.

use crate::date::Day;
use crate::random::SplitMix64;

/// Whole weeks, so that every cycle has its weekends on Saturdays and Sundays.
const WEEKS: u64 = 131;
const CYCLE: u64 = WEEKS * 7;
/// A cycle begins on it, long before the first day that a range can have.
const FIRST_DAY: i64 = -1000 * 7 * 131;

/// What each day has of a usual working day's count, in a hundred; it comes again after a cycle.
pub(crate) struct Rhythm {
    /// The sum of the days before each day of the cycle, and at the end that of all.
    before: Vec<u64>,
}

impl Rhythm {
    /// One day in twelve has nothing at all; weekends have so much in a hundred of other days.
    pub(crate) fn new(random: &mut SplitMix64, weekend_percent: u64) -> Self {
        let mut sum = 0;
        let days = (0..CYCLE).map(|day| {
            let percent = match random.below(12) {
                0 => 0,
                _ => 40 + random.below(140),
            };
            // The first day is a Thursday.
            if matches!(day % 7, 2 | 3) {
                percent * weekend_percent / 100
            } else {
                percent
            }
        });
        let before = std::iter::once(0).chain(days.map(|percent| {
            sum += percent;
            sum
        }));
        Self {
            before: before.collect(),
        }
    }

    /// The count of all days before this one, of a page that is so many weeks ahead of the cycle
    /// and has so many on a usual working day. It grows by whole numbers: the sum over any days
    /// is a difference of two of these, so adjacent ranges add up.
    pub(crate) fn count_before(&self, day: Day, weeks_ahead: u64, usual: u64) -> u64 {
        let day = day.since(Day::from_epoch(FIRST_DAY)) + weeks_ahead * 7;
        let of_cycle = |day: u64| {
            let index = usize::try_from(day).unwrap_or(usize::MAX);
            self.before.get(index).copied().unwrap_or(0)
        };
        usual * (day / CYCLE * of_cycle(CYCLE) + of_cycle(day % CYCLE)) / 100
    }

    /// How many weeks ahead of the cycle a page can be.
    pub(crate) fn any_week(random: &mut SplitMix64) -> u64 {
        random.below(WEEKS)
    }
}
