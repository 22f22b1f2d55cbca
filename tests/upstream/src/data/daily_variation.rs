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
    /// Generates a cycle. About one day in twelve is empty. Weekend days have `weekend_percent` of
    /// others.
    pub(crate) fn new(random: &mut SplitMix64, weekend_percent: u64) -> Self {
        Self::sum(weekend_percent, |_| match random.below(12) {
            0 => 0,
            _ => 40 + random.below(140),
        })
    }

    /// Generates a cycle in which interest rises and falls over months. `daily_percent` has the
    /// interest in the whole site on each day.
    pub(crate) fn trend(
        random: &mut SplitMix64,
        weekend_percent: u64,
        daily_percent: &[u64],
    ) -> Self {
        // Whole waves, so that a cycle ends as it begins. One takes two to four months.
        let wave_days = CYCLE / (7 + random.below(8));
        let start = random.below(wave_days);
        let height = 20 + random.below(70);
        let peak = (random.below(4) == 0).then(|| random.below(wave_days));
        let mut site = daily_percent.iter().cycle();
        Self::sum(weekend_percent, |day| {
            let place = (day + start) % wave_days;
            let slope = (2 * place).abs_diff(wave_days) * height / wave_days;
            let launch = peak.map_or(0, |peak| 200 / (1 + place.abs_diff(peak)));
            let percent = 100 - height / 2 + slope + launch;
            let noise = 88 + random.below(25);
            percent * noise * site.next().unwrap_or(&100) / 10_000
        })
    }

    /// The interest in a whole site on each day of a cycle, with a high every 131 days.
    pub(crate) fn daily_percent(random: &mut SplitMix64) -> Vec<u64> {
        let wave_days = CYCLE / 7;
        let wave = |day: u64| (2 * (day % wave_days)).abs_diff(wave_days) * 16 / wave_days;
        let days = (0..CYCLE).map(|day| 84 + wave(day) + random.below(25));
        days.collect()
    }

    fn sum(weekend_percent: u64, mut percent_of: impl FnMut(u64) -> u64) -> Self {
        let mut sum = 0;
        let days = (0..CYCLE).map(|day| {
            let percent = percent_of(day);
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
