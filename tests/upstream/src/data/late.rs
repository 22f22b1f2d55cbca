//! Counts that are not final at the end of their day.

use std::collections::BTreeMap;

use super::Range;
use crate::date::Day;

/// The growth of each day, in percent of a usual working day.
#[derive(Default)]
pub(crate) struct LateCounts(BTreeMap<Day, u64>);

impl LateCounts {
    /// Sets the growth of a day, replacing an earlier one.
    pub(crate) fn add_growth(&mut self, day: Day, percent: u64) {
        self.0.insert(day, percent);
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// The growths of the days in a range.
    pub(crate) fn growths(&self, range: Range) -> Vec<u64> {
        if range.is_empty() {
            return Vec::new();
        }
        self.0
            .range(range.from..range.to)
            .map(|(_, percent)| *percent)
            .collect()
    }
}
