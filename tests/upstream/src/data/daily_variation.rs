//! The variation of counts from day to day.

use crate::date::Day;
use crate::random::SplitMix64;

/// A cycle consists of whole weeks, so that weekends stay on Saturdays and Sundays.
const WEEKS: u64 = 131;
const CYCLE: u64 = WEEKS * 7;
/// The first day of a cycle, long before the first day that a range can have.
const FIRST_DAY: i64 = -1000 * 7 * 131;

/// The count of each day in percent of a usual working day. It repeats after a cycle.
pub(crate) struct DailyVariation {
    /// The sum of all days before each day of the cycle, and finally the sum of the cycle.
    before: Vec<u64>,
}

impl DailyVariation {
    /// Generates a cycle. One day in twelve is empty. Weekend days have `weekend_percent` of others.
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

    /// The count of all days before `day`, for a page with this offset and usual count.
    ///
    /// The count of a range is the difference of two such counts, so adjacent ranges add up.
    pub(crate) fn count_before(&self, day: Day, week_offset: u64, usual: u64) -> u64 {
        let day = day.since(Day::from_epoch(FIRST_DAY)) + week_offset * 7;
        let of_cycle = |day: u64| {
            let index = usize::try_from(day).unwrap_or(usize::MAX);
            self.before.get(index).copied().unwrap_or(0)
        };
        usual * (day / CYCLE * of_cycle(CYCLE) + of_cycle(day % CYCLE)) / 100
    }

    /// A random offset of a page within the cycle.
    pub(crate) fn random_week(random: &mut SplitMix64) -> u64 {
        random.below(WEEKS)
    }
}
