//! Generated page views and visitors.

use std::sync::Arc;

use serde::Serialize;

use super::daily_variation::DailyVariation;
use super::{Days, Range, demo, paths};
use crate::date::Day;
use crate::random::SplitMix64;

/// The number of pages that feedback, searches and conversations refer to.
const FIRST_PATHS: usize = 200;

/// Counts of people and of AI.
///
/// For views, the total is the sum. For visitors, it is lower if some are counted as both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Traffic {
    pub(crate) human: u64,
    pub(crate) ai: u64,
    pub(crate) total: u64,
}

impl Traffic {
    fn new(human: u64, ai: u64) -> Self {
        Self {
            human,
            ai,
            total: human + ai,
        }
    }

    /// Counts `percent` of the smaller count as both human and AI.
    fn deduplicate(human: u64, ai: u64, percent: u64) -> Self {
        Self {
            human,
            ai,
            total: human + ai - human.min(ai) * percent / 100,
        }
    }

    fn plus(self, other: Self) -> Self {
        Self {
            human: self.human + other.human,
            ai: self.ai + other.ai,
            total: self.total + other.total,
        }
    }

    fn max_with(self, other: Self) -> Self {
        Self {
            human: self.human.max(other.human),
            ai: self.ai.max(other.ai),
            total: self.total.max(other.total),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Row {
    pub(crate) path: String,
    #[serde(flatten)]
    pub(crate) traffic: Traffic,
}

/// The views or visitors of a project in a range, largest total first.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct TrafficReport {
    pub(crate) totals: Traffic,
    pub(crate) rows: Vec<Row>,
}

/// All pages of a site.
pub(crate) struct Pages {
    pages: Vec<Page>,
}

/// The daily variation of human and AI views.
struct Variations {
    human: DailyVariation,
    ai: DailyVariation,
}

/// A page and its views on a working day. The sum is at least 1.
struct Page {
    path: String,
    human: u64,
    ai: u64,
    visitors: VisitorShares,
    /// Without variations, every working day has the same views.
    variations: Option<Arc<Variations>>,
    /// The offset of the page within shared variations, so that pages differ from each other.
    week_offset: u64,
}

/// Shares in percent.
struct VisitorShares {
    /// Human visitors per human views.
    human: u64,
    /// AI visitors per AI views.
    ai: u64,
    /// Visitors counted as both human and AI.
    both: u64,
}

impl Variations {
    fn new(random: &mut SplitMix64) -> Self {
        Self {
            human: DailyVariation::new(random, 60),
            ai: DailyVariation::new(random, 100),
        }
    }

    fn demo(random: &mut SplitMix64, site: &[u64]) -> Self {
        Self {
            human: DailyVariation::trend(random, 45, site),
            ai: DailyVariation::trend(random, 90, site),
        }
    }
}

impl Pages {
    pub(crate) fn new(seed: u64, project: &str, count: u32, days: Days) -> Self {
        let mut random = SplitMix64::named(seed, project);
        let mut visitors = SplitMix64::named(seed, &format!("{project}/visitors"));
        let mut weeks = SplitMix64::named(seed, &format!("{project}/weeks"));
        if matches!(days, Days::Demo) {
            let site = DailyVariation::daily_percent(&mut weeks);
            let pages = demo::paths().zip(1..=u64::from(count));
            let pages = pages.map(|(path, rank)| Page {
                variations: Some(Arc::new(Variations::demo(&mut weeks, &site))),
                ..Page::new(path, 6000 / (rank + 5), &mut random, &mut visitors)
            });
            return Self {
                pages: pages.collect(),
            };
        }
        let mut ranks: Vec<u64> = (1..=u64::from(count)).collect();
        random.shuffle(&mut ranks);
        let variations =
            matches!(days, Days::Varying).then(|| Arc::new(Variations::new(&mut weeks)));
        let pages = paths::paths().zip(ranks).map(|(path, rank)| Page {
            variations: variations.clone(),
            week_offset: DailyVariation::random_week(&mut weeks),
            ..Page::new(path, 9000 / (rank + 1), &mut random, &mut visitors)
        });
        Self {
            pages: pages.collect(),
        }
    }

    /// The paths of the first pages.
    pub(crate) fn first_paths(&self) -> Vec<String> {
        let first = self.pages.iter().take(FIRST_PATHS);
        first.map(|page| page.path.clone()).collect()
    }

    pub(crate) fn views(&self, range: Range, growths: &[u64]) -> TrafficReport {
        if range.is_empty() {
            return TrafficReport::default();
        }
        let views = self.counted_views(range, growths);
        let rows = sort(views.map(|(page, views)| page.row(views)));
        let totals = rows
            .iter()
            .fold(Traffic::default(), |sum, row| sum.plus(row.traffic));
        TrafficReport { totals, rows }
    }

    /// Many visitors read several pages, so the totals are far below the sum of the rows.
    pub(crate) fn visitors(&self, range: Range, growths: &[u64]) -> TrafficReport {
        if range.is_empty() {
            return TrafficReport::default();
        }
        let views = self.counted_views(range, growths);
        let rows = sort(views.map(|(page, views)| page.row(page.visitors(views))));
        let all = rows.iter().map(|row| row.traffic);
        let sum = all.clone().fold(Traffic::default(), Traffic::plus);
        let max = all.fold(Traffic::default(), Traffic::max_with);
        let human = (sum.human * 45 / 100).max(max.human);
        let ai = (sum.ai * 20 / 100).max(max.ai);
        let union = Traffic::deduplicate(human, ai, 10);
        let totals = Traffic {
            total: union.total.min(sum.total),
            ..union
        };
        TrafficReport {
            totals: totals.max_with(max),
            rows,
        }
    }

    /// The pages with views in the range. Reports omit pages without views.
    fn counted_views(
        &self,
        range: Range,
        growths: &[u64],
    ) -> impl Iterator<Item = (&Page, Traffic)> {
        let views = move |page: &Page| {
            let grow = |views: Traffic, percent: &u64| page.grow(views, *percent);
            growths.iter().fold(page.views(range), grow)
        };
        let all = self.pages.iter().map(move |page| (page, views(page)));
        all.filter(|(_, views)| views.total > 0)
    }
}

/// Sorts by total, largest first, then by path.
fn sort(rows: impl Iterator<Item = Row>) -> Vec<Row> {
    let mut rows: Vec<Row> = rows.collect();
    rows.sort_unstable_by(|a, b| {
        (b.traffic.total.cmp(&a.traffic.total)).then_with(|| a.path.cmp(&b.path))
    });
    rows
}

impl Page {
    /// Generates a page. Few pages have many views, most have few. Some are read mostly by AI.
    fn new(
        path: String,
        expected: u64,
        random: &mut SplitMix64,
        visitors: &mut SplitMix64,
    ) -> Self {
        let total = (expected + random.below(expected / 4 + 1)).max(1);
        let ai_percent = match random.below(10) {
            0 => 85 + random.below(16),
            1..=3 => random.below(10),
            _ => 15 + random.below(45),
        };
        let ai = total * ai_percent / 100;
        Self {
            path,
            human: total - ai,
            ai,
            visitors: VisitorShares {
                human: 40 + visitors.below(50),
                ai: 5 + visitors.below(60),
                both: visitors.below(12),
            },
            variations: None,
            week_offset: 0,
        }
    }

    fn row(&self, traffic: Traffic) -> Row {
        Row {
            path: self.path.clone(),
            traffic,
        }
    }

    fn views(&self, range: Range) -> Traffic {
        match self.variations.as_deref() {
            None => Traffic::new(
                sum_over_days(range, self.human),
                self.ai * range.to.since(range.from),
            ),
            Some(Variations { human, ai }) => {
                let before = |daily_variation: &DailyVariation, day: Day, usual| {
                    daily_variation.count_before(day, self.week_offset, usual)
                };
                let count = |daily_variation, usual| {
                    before(daily_variation, range.to, usual)
                        - before(daily_variation, range.from, usual)
                };
                Traffic::new(count(human, self.human), count(ai, self.ai))
            }
        }
    }

    /// Adds a share of a usual working day to views.
    fn grow(&self, views: Traffic, percent: u64) -> Traffic {
        let more = |usual: u64| (usual * percent).div_ceil(100);
        Traffic::new(views.human + more(self.human), views.ai + more(self.ai))
    }

    /// The visitors who account for these views.
    fn visitors(&self, views: Traffic) -> Traffic {
        let shares = &self.visitors;
        let human = (views.human * shares.human).div_ceil(100);
        let ai = (views.ai * shares.ai).div_ceil(100);
        Traffic::deduplicate(human, ai, shares.both)
    }
}

/// The sum over the days of a range, with fewer on Saturdays and Sundays than on working days.
pub(crate) fn sum_over_days(range: Range, on_working_day: u64) -> u64 {
    let days = range.to.since(range.from);
    let weekend = range.to.weekend_days_before() - range.from.weekend_days_before();
    let weekend = u64::try_from(weekend).unwrap_or(0);
    // More than half of a working day, so that a longer range always has more.
    let on_weekend_day = on_working_day - on_working_day * 2 / 5;
    on_working_day * (days - weekend) + on_weekend_day * weekend
}
