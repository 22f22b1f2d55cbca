//! Counts that are not final at the end of their day.

use std::collections::BTreeMap;

use super::Range;
use crate::date::Day;

/// The growth of each day, in percent of a usual working day.
#[derive(Default)]
pub(crate) struct LateCounts(BTreeMap<Day, u64>);

/// A day with more views than were generated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Correction {
    pub(crate) day: Day,
    /// The additional views in percent of a usual working day.
    pub(crate) more: u64,
}

impl LateCounts {
    /// Sets the growth of a day, replacing an earlier one.
    pub(crate) fn add_growth(&mut self, day: Day, percent: u64) {
        self.0.insert(day, percent);
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// The corrections of the days in a range, oldest first.
    pub(crate) fn corrections(&self, range: Range) -> Vec<Correction> {
        if range.is_empty() {
            return Vec::new();
        }
        let growth = self.0.range(range.from..range.to);
        growth
            .map(|(&day, &more)| Correction { day, more })
            .collect()
    }
}
