//! Events that are evenly spread over the years.

use super::Range;
use crate::clock::{DAY_MS, Timestamp};
use crate::date::Day;
use crate::random::SplitMix64;

/// 2015-01-01.
const FIRST_DAY: i64 = 16_436;
/// 2040-01-01, the day after the last event.
const END_DAY: i64 = 25_567;

/// One event in each step, at a random time within the step.
pub(crate) struct Timeline {
    seed: u64,
    name: String,
    /// The length of a step, or `None` if there are no events.
    step_ms: Option<u64>,
}

/// An event with its own random number generator.
pub(crate) struct Event {
    pub(crate) number: u64,
    pub(crate) timestamp: Timestamp,
    pub(crate) random: SplitMix64,
}

impl Timeline {
    pub(crate) fn new(seed: u64, name: String, in_thirty_days: u32) -> Self {
        Self {
            seed,
            name,
            step_ms: (30 * DAY_MS).checked_div(u64::from(in_thirty_days)),
        }
    }

    /// The events in a range, oldest first.
    pub(crate) fn events(&self, range: Range) -> impl DoubleEndedIterator<Item = Event> {
        let from = Timestamp::start_of(range.from.max(Day::from_epoch(FIRST_DAY)));
        let to = Timestamp::start_of(range.to.min(Day::from_epoch(END_DAY)));
        let numbers = self
            .step_ms
            .map_or(0..0, |step_ms| from.0 / step_ms..to.0.div_ceil(step_ms));
        numbers
            .filter_map(|number| self.event(number))
            .filter(move |event| event.timestamp >= from && event.timestamp < to)
    }

    /// The event in the step that contains this time.
    pub(crate) fn event_near(&self, timestamp: Timestamp) -> Option<Event> {
        self.event(timestamp.0.checked_div(self.step_ms?)?)
    }

    pub(crate) fn event(&self, number: u64) -> Option<Event> {
        let step_ms = self.step_ms?;
        let mut random = SplitMix64::named(self.seed, &format!("{}/{number}", self.name));
        let timestamp = Timestamp(number.checked_mul(step_ms)?).plus(random.below(step_ms));
        Some(Event {
            number,
            timestamp,
            random,
        })
    }
}
