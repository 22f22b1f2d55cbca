//! Generated page views and visitors.

use std::sync::Arc;

use serde::Serialize;

use super::daily_variation::DailyVariation;
use super::late::Correction;
use super::{Days, Range, demo, paths};
use crate::date::Day;
use crate::holes::Holes;
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

impl TrafficReport {
    /// The rows of a page, and whether more rows follow.
    pub(crate) fn page(&self, offset: usize, limit: usize, holes: &Holes) -> (&[Row], bool) {
        let places = holes.places(self.rows.len());
        let start = offset.min(places);
        let end = start.saturating_add(limit).min(places);
        (&self.rows[holes.rows(start..end)], end < places)
    }
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
    /// Without, every working day has the same views.
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

    pub(crate) fn views(&self, range: Range, corrections: &[Correction]) -> TrafficReport {
        if range.is_empty() {
            return TrafficReport::default();
        }
        let views = self.counted_views(range, corrections);
        let rows = sort(views.map(|(page, views)| page.row(views)));
        let totals = rows
            .iter()
            .fold(Traffic::default(), |sum, row| sum.plus(row.traffic));
        TrafficReport { totals, rows }
    }

    /// Many visitors read several pages, so the totals are far below the sum of the rows.
    pub(crate) fn visitors(&self, range: Range, corrections: &[Correction]) -> TrafficReport {
        if range.is_empty() {
            return TrafficReport::default();
        }
        let views = self.counted_views(range, corrections);
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
}

impl Pages {
    /// The pages with views in the range. Reports omit pages without views.
    fn counted_views(
        &self,
        range: Range,
        corrections: &[Correction],
    ) -> impl Iterator<Item = (&Page, Traffic)> {
        let views = move |page: &Page| {
            let correct = |views: Traffic, correction: &Correction| page.correct(views, correction);
            corrections.iter().fold(page.views(range), correct)
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

    /// The views of a range with one of its days corrected.
    fn correct(&self, views: Traffic, correction: &Correction) -> Traffic {
        let Correction { day, more, less } = *correction;
        let only_it = Range {
            from: day,
            to: day.plus(1),
        };
        let on_day = self.views(only_it);
        let correct = |views: u64, on_day: u64, usual: u64| {
            let more = (usual * more).div_ceil(100);
            let less = ((on_day + more) * less).div_ceil(100);
            views + more - less
        };
        Traffic::new(
            correct(views.human, on_day.human, self.human),
            correct(views.ai, on_day.ai, self.ai),
        )
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

#[cfg(test)]
mod tests {
    use super::super::tests::range;
    use super::*;

    #[test]
    fn a_day_lists_every_page() {
        let pages = Pages::new(1, "demo-docs", 4000, Days::Uniform);
        let report = pages.views(range("2024-06-01", "2024-06-02"), &[]);
        assert_eq!(report.rows.len(), 4000);
        assert!(report.rows.iter().all(|row| row.traffic.total >= 1));
    }

    #[test]
    fn adjacent_ranges_add_up() {
        let pages = Pages::new(1, "demo-docs", 500, Days::Uniform);
        let first = pages.views(range("2024-05-28", "2024-06-02"), &[]).totals;
        let second = pages.views(range("2024-06-02", "2024-06-05"), &[]).totals;
        let both = pages.views(range("2024-05-28", "2024-06-05"), &[]).totals;
        assert_eq!(first.plus(second), both);
    }

    #[test]
    fn a_longer_range_always_has_more_views() {
        let pages = Pages::new(1, "demo-docs", 60, Days::Uniform);
        let monday = Day::parse("2024-01-01").expect("a date");
        let total = |from: i64, days: i64| {
            let from = monday.plus(from);
            let to = from.plus(days);
            pages.views(Range { from, to }, &[]).totals.total
        };
        for days in 1..15 {
            let max = (0..7).map(|from| total(from, days)).max();
            let min = (0..7).map(|from| total(from, days + 1)).min();
            assert!(max < min, "{days} days");
        }
    }

    #[test]
    fn data_depends_on_seed_and_project() {
        let week = range("2024-01-01", "2024-01-08");
        let views = |seed, project| Pages::new(seed, project, 100, Days::Uniform).views(week, &[]);
        let visitors =
            |seed, project| Pages::new(seed, project, 100, Days::Uniform).visitors(week, &[]);
        assert_eq!(views(1, "a"), views(1, "a"));
        assert_ne!(views(1, "a"), views(2, "a"));
        assert_ne!(views(1, "a"), views(1, "b"));
        assert_eq!(visitors(1, "a"), visitors(1, "a"));
        assert_ne!(visitors(1, "a"), visitors(1, "b"));
    }

    #[test]
    fn an_empty_range_has_no_views_and_no_visitors() {
        let none = range("2024-01-01", "2024-01-01");
        let pages = Pages::new(1, "demo-docs", 10, Days::Uniform);
        assert_eq!(pages.views(none, &[]), TrafficReport::default());
        assert_eq!(pages.visitors(none, &[]), TrafficReport::default());
    }

    #[test]
    fn a_page_has_at_most_as_many_visitors_as_views() {
        let pages = Pages::new(1, "demo-docs", 2000, Days::Uniform);
        let week = range("2024-01-01", "2024-01-08");
        for page in &pages.pages {
            let views = page.views(week);
            let visitors = page.visitors(views);
            assert!(visitors.human <= views.human && visitors.ai <= views.ai);
            assert!(visitors.total <= views.total && visitors.total >= 1);
        }
    }

    #[test]
    fn visitors_are_deduplicated_across_callers_and_pages() {
        let week = range("2024-01-01", "2024-01-08");
        for count in [1, 2, 30, 1000] {
            let report = Pages::new(1, "demo-docs", count, Days::Uniform).visitors(week, &[]);
            let is_union = |of: Traffic| {
                of.total <= of.human + of.ai && of.total >= of.human && of.total >= of.ai
            };
            assert!(is_union(report.totals));
            assert!(report.rows.iter().all(|row| is_union(row.traffic)));
            let sum: u64 = report.rows.iter().map(|row| row.traffic.total).sum();
            let max = report.rows.iter().map(|row| row.traffic.total).max();
            assert!(report.totals.total <= sum && Some(report.totals.total) >= max);
        }
        let report = Pages::new(1, "demo-docs", 1000, Days::Uniform).visitors(week, &[]);
        let overlaps = |row: &Row| row.traffic.total < row.traffic.human + row.traffic.ai;
        assert!(report.rows.iter().any(overlaps));
    }

    fn sum_of_rows(report: &TrafficReport) -> Traffic {
        let rows = report.rows.iter().map(|row| row.traffic);
        rows.fold(Traffic::default(), Traffic::plus)
    }

    /// Each day of the given number of weeks, beginning on 2024-01-01.
    fn days(weeks: i64) -> impl Iterator<Item = Range> {
        let monday = Day::parse("2024-01-01").expect("a date");
        (0..weeks * 7).map(move |day| Range {
            from: monday.plus(day),
            to: monday.plus(day + 1),
        })
    }

    #[test]
    fn varying_days_differ_and_add_up_page_by_page() {
        let pages = Pages::new(1, "demo-docs", 3000, Days::Varying);
        let mut sums = std::collections::HashMap::<String, Traffic>::new();
        let (mut totals, mut counts) = (Vec::new(), Vec::new());
        for day in days(3) {
            let report = pages.views(day, &[]);
            assert_eq!(report.totals, sum_of_rows(&report));
            assert!(report.rows.iter().all(|row| row.traffic.total > 0));
            totals.push(report.totals.total);
            counts.push(report.rows.len());
            for row in report.rows {
                let sum = sums.entry(row.path).or_default();
                *sum = sum.plus(row.traffic);
            }
        }
        let range = range("2024-01-01", "2024-01-22");
        let whole = pages.views(range, &[]);
        assert_eq!(whole.rows.len(), sums.len());
        assert!(whole.rows.iter().all(|row| sums[&row.path] == row.traffic));
        for mut each in [totals, counts.iter().map(|count| *count as u64).collect()] {
            each.sort_unstable();
            each.dedup();
            assert!(each.len() > 15, "{each:?}");
        }
        assert!(counts.iter().all(|count| (1500..3000).contains(count)));
    }

    #[test]
    fn varying_days_have_fewer_human_views_on_weekends_and_at_most_as_many_visitors_as_views() {
        let pages = Pages::new(1, "demo-docs", 500, Days::Varying);
        let (mut weekend, mut working) = (Traffic::default(), Traffic::default());
        for (number, day) in days(40).enumerate() {
            let views = pages.views(day, &[]).totals;
            let sum = if number % 7 >= 5 {
                &mut weekend
            } else {
                &mut working
            };
            *sum = sum.plus(views);
            let visitors = pages.visitors(day, &[]);
            assert!(visitors.totals.total <= views.total);
            assert!(visitors.rows.iter().all(|row| row.traffic.total > 0));
        }
        let percent = |weekend: u64, working: u64| weekend * 5 * 100 / (working * 2);
        assert!((50..70).contains(&percent(weekend.human, working.human)));
        assert!((85..115).contains(&percent(weekend.ai, working.ai)));
    }

    #[test]
    fn ranges_of_centuries_add_up_without_overflow() {
        let pages = Pages::new(1, "demo-docs", 5000, Days::Varying);
        let all = pages.views(range("0001-01-01", "9999-12-31"), &[]);
        let first = pages.views(range("0001-01-01", "1970-01-01"), &[]);
        let rest = pages.views(range("1970-01-01", "9999-12-31"), &[]);
        assert_eq!(first.totals.plus(rest.totals), all.totals);
    }

    #[test]
    fn a_correction_changes_its_day_and_every_range_that_contains_it() {
        for daily_variation in [Days::Uniform, Days::Varying] {
            let pages = Pages::new(1, "demo-docs", 300, daily_variation);
            let correction = |more, less| {
                let day = Day::parse("2024-01-03").expect("a date");
                [Correction { day, more, less }]
            };
            let (day, week) = (
                range("2024-01-03", "2024-01-04"),
                range("2024-01-01", "2024-01-08"),
            );
            let without = range("2024-01-01", "2024-01-03");
            let behind = range("2024-01-04", "2024-01-08");
            let rest = pages.views(without, &[]).totals;
            let rest = rest.plus(pages.views(behind, &[]).totals);
            let usual = pages.views(day, &[]).totals;
            for (more, less) in [(10, 0), (0, 20), (10, 20), (0, 100)] {
                let one = pages.views(day, &correction(more, less));
                let seven = pages.views(week, &correction(more, less));
                assert_eq!(one.totals, sum_of_rows(&one));
                assert_eq!(seven.totals, sum_of_rows(&seven));
                assert_eq!(rest.plus(one.totals), seven.totals);
                match (more, less) {
                    (_, 0) => assert!(one.totals.human > usual.human && one.rows.len() == 300),
                    (0, 100) => assert_eq!(one, TrafficReport::default()),
                    (0, _) => assert!(one.totals.human < usual.human),
                    _ => {}
                }
            }
        }
    }
}
