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

#[cfg(test)]
mod tests {
    use super::super::tests::range;
    use super::*;

    fn timestamps(timeline: &Timeline, from: &str, to: &str) -> Vec<Timestamp> {
        let events = timeline.events(range(from, to));
        events.map(|event| event.timestamp).collect()
    }

    fn timeline(in_thirty_days: u32) -> Timeline {
        Timeline::new(1, "a".to_owned(), in_thirty_days)
    }

    #[test]
    fn any_thirty_days_have_the_configured_number_of_events() {
        for (from, to) in [("2024-01-01", "2024-01-31"), ("2023-02-14", "2023-03-16")] {
            let count = timestamps(&timeline(300), from, to).len();
            assert!((299..=301).contains(&count), "{from}: {count}");
        }
        assert_eq!(timestamps(&timeline(0), "2024-01-01", "2025-01-01"), []);
    }

    #[test]
    fn adjacent_ranges_add_up_in_order() {
        let timeline = timeline(300);
        let mut both = timestamps(&timeline, "2024-01-01", "2024-01-05");
        both.extend(timestamps(&timeline, "2024-01-05", "2024-01-20"));
        assert_eq!(both, timestamps(&timeline, "2024-01-01", "2024-01-20"));
        assert!(both.is_sorted());
        assert_eq!(both[0].day(), Day::parse("2024-01-01").expect("a date"));
    }

    #[test]
    fn there_are_no_events_before_2015_or_after_2039() {
        let timeline = timeline(30);
        let all = timestamps(&timeline, "0001-01-01", "9999-12-31");
        assert!(all.len() > 9000);
        assert_eq!(all, timestamps(&timeline, "2015-01-01", "2040-01-01"));
        assert_eq!(timestamps(&timeline, "0001-01-01", "2015-01-01"), []);
        assert_eq!(timestamps(&timeline, "2024-01-02", "2024-01-01"), []);
    }

    #[test]
    fn an_event_is_found_by_its_timestamp() {
        let timeline = timeline(300);
        for event in timeline.events(range("2024-01-01", "2024-01-05")) {
            let found = timeline.event_near(event.timestamp).expect("an event");
            assert_eq!(
                (found.number, found.timestamp),
                (event.number, event.timestamp)
            );
        }
    }
}
