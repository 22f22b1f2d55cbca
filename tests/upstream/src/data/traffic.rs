//! Pages, and how often and by how many they are read.

use serde::Serialize;

use super::Range;
use super::paths::paths;
use crate::random::SplitMix64;

/// The pages that feedback, searches and conversations are about.
const FIRST_PATHS: usize = 200;

/// Counts of people and of AI. Of views the total is the sum, of visitors it is less
/// when some came as both.
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

    /// Of the smaller of the two counts, so many in a hundred are in the other one too.
    fn deduplicate(human: u64, ai: u64, percent: u64) -> Self {
        Self {
            human,
            ai,
            total: human + ai - human.min(ai) * percent / 100,
        }
    }

    fn and(self, other: Self) -> Self {
        Self {
            human: self.human + other.human,
            ai: self.ai + other.ai,
            total: self.total + other.total,
        }
    }

    fn raise_to(self, other: Self) -> Self {
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

/// A project's views or visitors in a range: largest first.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct TrafficReport {
    pub(crate) totals: Traffic,
    pub(crate) rows: Vec<Row>,
}

impl TrafficReport {
    /// The rows of a page, and whether others follow.
    pub(crate) fn page(&self, offset: usize, limit: usize) -> (&[Row], bool) {
        let start = offset.min(self.rows.len());
        let end = start.saturating_add(limit).min(self.rows.len());
        (&self.rows[start..end], end < self.rows.len())
    }
}

/// All pages of a site.
pub(crate) struct Pages(Vec<Page>);

/// A page and its views on one working day; at least one in all.
struct Page {
    path: String,
    human: u64,
    ai: u64,
    visitors: VisitorShares,
}

/// In a hundred.
struct VisitorShares {
    /// Visitors, of views.
    human: u64,
    /// Visitors, of views.
    ai: u64,
    /// Those who are counted as both.
    both: u64,
}

impl Pages {
    pub(crate) fn new(seed: u64, project: &str, count: u32) -> Self {
        let mut random = SplitMix64::named(seed, project);
        let mut ranks: Vec<u64> = (1..=u64::from(count)).collect();
        random.shuffle(&mut ranks);
        let mut visitors = SplitMix64::named(seed, &format!("{project}/visitors"));
        let pages = paths()
            .zip(ranks)
            .map(|(path, rank)| Page::new(path, rank, &mut random, &mut visitors));
        Self(pages.collect())
    }

    /// The paths of the first pages.
    pub(crate) fn first_paths(&self) -> Vec<String> {
        let first = self.0.iter().take(FIRST_PATHS);
        first.map(|page| page.path.clone()).collect()
    }

    pub(crate) fn views(&self, range: Range) -> TrafficReport {
        if range.is_empty() {
            return TrafficReport::default();
        }
        let rows = sort(self.0.iter().map(|page| page.row(page.views(range))));
        let totals = rows
            .iter()
            .fold(Traffic::default(), |sum, row| sum.and(row.traffic));
        TrafficReport { totals, rows }
    }

    /// Many visit several pages: the totals are far below the sum of the rows.
    pub(crate) fn visitors(&self, range: Range) -> TrafficReport {
        if range.is_empty() {
            return TrafficReport::default();
        }
        let rows = sort(self.0.iter().map(|page| page.row(page.visitors(range))));
        let all = rows.iter().map(|row| row.traffic);
        let sum = all.clone().fold(Traffic::default(), Traffic::and);
        let most = all.fold(Traffic::default(), Traffic::raise_to);
        let human = (sum.human * 45 / 100).max(most.human);
        let ai = (sum.ai * 20 / 100).max(most.ai);
        let union = Traffic::deduplicate(human, ai, 10);
        let totals = Traffic {
            total: union.total.min(sum.total),
            ..union
        };
        TrafficReport {
            totals: totals.raise_to(most),
            rows,
        }
    }
}

/// By total, largest first, then by path.
fn sort(rows: impl Iterator<Item = Row>) -> Vec<Row> {
    let mut rows: Vec<Row> = rows.collect();
    rows.sort_unstable_by(|a, b| {
        (b.traffic.total.cmp(&a.traffic.total)).then_with(|| a.path.cmp(&b.path))
    });
    rows
}

impl Page {
    /// Few pages are read a lot, most of them hardly; some mostly by machines.
    fn new(path: String, rank: u64, random: &mut SplitMix64, visitors: &mut SplitMix64) -> Self {
        let expected = 9000 / (rank + 1);
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
        }
    }

    fn row(&self, traffic: Traffic) -> Row {
        Row {
            path: self.path.clone(),
            traffic,
        }
    }

    fn views(&self, range: Range) -> Traffic {
        Traffic::new(
            sum_over_days(range, self.human),
            self.ai * range.to.since(range.from),
        )
    }

    fn visitors(&self, range: Range) -> Traffic {
        let views = self.views(range);
        let shares = &self.visitors;
        let human = (views.human * shares.human).div_ceil(100);
        let ai = (views.ai * shares.ai).div_ceil(100);
        Traffic::deduplicate(human, ai, shares.both)
    }
}

/// The sum over a range's days, with so many on a working day and less on Saturdays
/// and Sundays.
pub(crate) fn sum_over_days(range: Range, on_working_day: u64) -> u64 {
    let days = range.to.since(range.from);
    let weekend = range.to.weekend_days_before() - range.from.weekend_days_before();
    let weekend = u64::try_from(weekend).unwrap_or(0);
    // More than half of a working day's: any longer range has more.
    let on_weekend_day = on_working_day - on_working_day * 2 / 5;
    on_working_day * (days - weekend) + on_weekend_day * weekend
}

#[cfg(test)]
mod tests {
    use super::super::tests::range;
    use super::*;
    use crate::date::Day;

    #[test]
    fn a_day_lists_every_page() {
        let pages = Pages::new(1, "demo-docs", 4000);
        let report = pages.views(range("2024-06-01", "2024-06-02"));
        assert_eq!(report.rows.len(), 4000);
        assert!(report.rows.iter().all(|row| row.traffic.total >= 1));
    }

    #[test]
    fn adjacent_ranges_add_up() {
        let pages = Pages::new(1, "demo-docs", 500);
        let first = pages.views(range("2024-05-28", "2024-06-02")).totals;
        let second = pages.views(range("2024-06-02", "2024-06-05")).totals;
        let both = pages.views(range("2024-05-28", "2024-06-05")).totals;
        assert_eq!(first.and(second), both);
    }

    #[test]
    fn a_longer_range_has_more_views_wherever_it_lies() {
        let pages = Pages::new(1, "demo-docs", 60);
        let monday = Day::parse("2024-01-01").expect("a date");
        let total = |from: i64, days: i64| {
            let from = monday.plus(from);
            let to = from.plus(days);
            pages.views(Range { from, to }).totals.total
        };
        for days in 1..15 {
            let most = (0..7).map(|from| total(from, days)).max();
            let least = (0..7).map(|from| total(from, days + 1)).min();
            assert!(most < least, "{days} days");
        }
    }

    #[test]
    fn seeds_and_projects_differ() {
        let week = range("2024-01-01", "2024-01-08");
        let views = |seed, project| Pages::new(seed, project, 100).views(week);
        let visitors = |seed, project| Pages::new(seed, project, 100).visitors(week);
        assert_eq!(views(1, "a"), views(1, "a"));
        assert_ne!(views(1, "a"), views(2, "a"));
        assert_ne!(views(1, "a"), views(1, "b"));
        assert_eq!(visitors(1, "a"), visitors(1, "a"));
        assert_ne!(visitors(1, "a"), visitors(1, "b"));
    }

    #[test]
    fn no_days_means_no_views_and_no_visitors() {
        let none = range("2024-01-01", "2024-01-01");
        let pages = Pages::new(1, "demo-docs", 10);
        assert_eq!(pages.views(none), TrafficReport::default());
        assert_eq!(pages.visitors(none), TrafficReport::default());
    }

    #[test]
    fn a_page_has_at_most_as_many_visitors_as_views() {
        let pages = Pages::new(1, "demo-docs", 2000);
        let week = range("2024-01-01", "2024-01-08");
        for page in &pages.0 {
            let (views, visitors) = (page.views(week), page.visitors(week));
            assert!(visitors.human <= views.human && visitors.ai <= views.ai);
            assert!(visitors.total <= views.total && visitors.total >= 1);
        }
    }

    #[test]
    fn visitors_are_counted_once_though_they_come_as_both_and_on_many_pages() {
        let week = range("2024-01-01", "2024-01-08");
        for count in [1, 2, 30, 1000] {
            let report = Pages::new(1, "demo-docs", count).visitors(week);
            let is_union = |of: Traffic| {
                of.total <= of.human + of.ai && of.total >= of.human && of.total >= of.ai
            };
            assert!(is_union(report.totals));
            assert!(report.rows.iter().all(|row| is_union(row.traffic)));
            let sum: u64 = report.rows.iter().map(|row| row.traffic.total).sum();
            let most = report.rows.iter().map(|row| row.traffic.total).max();
            assert!(report.totals.total <= sum && Some(report.totals.total) >= most);
        }
        let report = Pages::new(1, "demo-docs", 1000).visitors(week);
        let overlaps = |row: &Row| row.traffic.total < row.traffic.human + row.traffic.ai;
        assert!(report.rows.iter().any(overlaps));
    }
}
