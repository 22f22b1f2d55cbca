//! Counts that are not final when their day ends.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::Range;
use crate::date::Day;

/// What is not counted at once.
#[derive(Default)]
pub(crate) struct Late {
    recent: Option<Recent>,
    grown: BTreeMap<Day, u64>,
}

/// The last days, whose counts are lower than they will be.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Recent {
    /// So many days after its end a day's counts are final.
    after_days: u8,
    /// In a hundred of its views, those that are not counted until then.
    percent: u8,
}

/// A day that has grown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Growth {
    pub(crate) day: Day,
    /// In a hundred of a usual working day's views, those that came late.
    pub(crate) percent: u64,
}

/// A day whose counts are not those that follow from the seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Correction {
    pub(crate) day: Day,
    /// Of a usual working day, in a hundred: views that came late.
    pub(crate) more: u64,
    /// Of the day with those, in a hundred: views that are not counted yet.
    pub(crate) less: u64,
}

impl Late {
    /// Counts more on a day from now on, instead of what was said of it before.
    pub(crate) fn grow(&mut self, growth: Growth) {
        self.grown.insert(growth.day, growth.percent);
    }

    /// Counts less on the last days, instead of what was said of them before.
    pub(crate) fn hold_back(&mut self, recent: Recent) {
        self.recent = Some(recent);
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    /// The days of a range that are to be corrected, oldest first.
    pub(crate) fn corrections(&self, range: Range, today: Day) -> Vec<Correction> {
        if range.is_empty() {
            return Vec::new();
        }
        let mut found = BTreeMap::new();
        for (&day, &more) in self.grown.range(range.from..range.to) {
            found.insert(day, Correction { day, more, less: 0 });
        }
        if let Some(Recent {
            after_days,
            percent,
        }) = self.recent
        {
            let days = (0..=i64::from(after_days)).map(|ago| today.plus(-ago));
            for day in days.filter(|day| (range.from..range.to).contains(day)) {
                let usual = Correction {
                    day,
                    more: 0,
                    less: 0,
                };
                found.entry(day).or_insert(usual).less = u64::from(percent.min(100));
            }
        }
        found.into_values().collect()
    }
}
