//! Counts that are not final at the end of their day.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::Range;
use crate::date::Day;

/// The counts that arrive late.
#[derive(Default)]
pub(crate) struct LateCounts {
    delay: Option<ReportingDelay>,
    growth: BTreeMap<Day, u64>,
}

/// A delay after which the counts of a day are final.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ReportingDelay {
    /// The number of days after which the counts of a day are final.
    after_days: u8,
    /// The percentage of views that are not counted until then.
    percent: u8,
}

/// A day whose counts differ from the generated counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Correction {
    pub(crate) day: Day,
    /// The additional views in percent of a usual working day.
    pub(crate) more: u64,
    /// The views that are not counted yet, in percent of the day including additional views.
    pub(crate) less: u64,
}

impl LateCounts {
    /// Sets the growth of a day, replacing an earlier one.
    pub(crate) fn add_growth(&mut self, day: Day, percent: u64) {
        self.growth.insert(day, percent);
    }

    /// Sets the reporting delay, replacing an earlier one.
    pub(crate) fn set_delay(&mut self, delay: ReportingDelay) {
        self.delay = Some(delay);
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    /// The corrections of the days in a range, oldest first.
    pub(crate) fn corrections(&self, range: Range, today: Day) -> Vec<Correction> {
        if range.is_empty() {
            return Vec::new();
        }
        let mut found = BTreeMap::new();
        for (&day, &more) in self.growth.range(range.from..range.to) {
            found.insert(day, Correction { day, more, less: 0 });
        }
        if let Some(ReportingDelay {
            after_days,
            percent,
        }) = self.delay
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
