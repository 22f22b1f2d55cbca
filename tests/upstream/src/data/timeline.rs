//! Events that are spread over the years, as many in any thirty days.

use super::Range;
use crate::clock::{DAY_MS, Moment};
use crate::date::Day;
use crate::random::SplitMix64;

/// 2015-01-01.
const FIRST_DAY: i64 = 16_436;
/// 2040-01-01: from then on nothing happens.
const END: i64 = 25_567;

/// One event in each step of time, at a random moment of it.
pub(crate) struct Timeline {
    seed: u64,
    name: String,
    /// `None` when nothing ever happens.
    step_ms: Option<u64>,
}

/// An event, with the source of all that is random about it.
pub(crate) struct Event {
    pub(crate) number: u64,
    pub(crate) moment: Moment,
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

    /// The events of a range, oldest first.
    pub(crate) fn events(&self, range: Range) -> impl DoubleEndedIterator<Item = Event> {
        let from = Moment::start_of(range.from.max(Day::from_epoch(FIRST_DAY)));
        let to = Moment::start_of(range.to.min(Day::from_epoch(END)));
        let numbers = self
            .step_ms
            .map_or(0..0, |step_ms| from.0 / step_ms..to.0.div_ceil(step_ms));
        numbers
            .filter_map(|number| self.event(number))
            .filter(move |event| event.moment >= from && event.moment < to)
    }

    /// The only event that can happen at the moment.
    pub(crate) fn event_near(&self, moment: Moment) -> Option<Event> {
        self.event(moment.0.checked_div(self.step_ms?)?)
    }

    pub(crate) fn event(&self, number: u64) -> Option<Event> {
        let step_ms = self.step_ms?;
        let mut random = SplitMix64::named(self.seed, &format!("{}/{number}", self.name));
        let moment = Moment(number.checked_mul(step_ms)?).plus(random.below(step_ms));
        Some(Event {
            number,
            moment,
            random,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::range;
    use super::*;

    fn moments(timeline: &Timeline, from: &str, to: &str) -> Vec<Moment> {
        let events = timeline.events(range(from, to));
        events.map(|event| event.moment).collect()
    }

    fn timeline(in_thirty_days: u32) -> Timeline {
        Timeline::new(1, "a".to_owned(), in_thirty_days)
    }

    #[test]
    fn as_many_happen_in_any_thirty_days_give_or_take_one() {
        for (from, to) in [("2024-01-01", "2024-01-31"), ("2023-02-14", "2023-03-16")] {
            let count = moments(&timeline(300), from, to).len();
            assert!((299..=301).contains(&count), "{from}: {count}");
        }
        assert_eq!(moments(&timeline(0), "2024-01-01", "2025-01-01"), []);
    }

    #[test]
    fn adjacent_ranges_add_up_in_order() {
        let timeline = timeline(300);
        let mut both = moments(&timeline, "2024-01-01", "2024-01-05");
        both.extend(moments(&timeline, "2024-01-05", "2024-01-20"));
        assert_eq!(both, moments(&timeline, "2024-01-01", "2024-01-20"));
        assert!(both.is_sorted());
        assert_eq!(both[0].day(), Day::parse("2024-01-01").expect("a date"));
    }

    #[test]
    fn nothing_happens_before_2015_and_from_2040_on() {
        let timeline = timeline(30);
        let all = moments(&timeline, "0001-01-01", "9999-12-31");
        assert!(all.len() > 9000);
        assert_eq!(all, moments(&timeline, "2015-01-01", "2040-01-01"));
        assert_eq!(moments(&timeline, "0001-01-01", "2015-01-01"), []);
        assert_eq!(moments(&timeline, "2024-01-02", "2024-01-01"), []);
    }

    #[test]
    fn an_event_is_found_by_its_moment() {
        let timeline = timeline(300);
        for event in timeline.events(range("2024-01-01", "2024-01-05")) {
            let found = timeline.event_near(event.moment).expect("an event");
            assert_eq!((found.number, found.moment), (event.number, event.moment));
        }
    }
}
