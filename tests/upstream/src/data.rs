//! The page views of each project.

use std::collections::HashMap;
use std::sync::Arc;

use serde::Serialize;

use crate::Options;
use crate::date::Day;
use crate::random::SplitMix64;

/// Paths that are troublesome in CSV, in addresses or in a spreadsheet, after
/// the two that every site has.
const FIRST_PATHS: [&str; 22] = [
    "/",
    "/quickstart",
    "/guides/über-die-api",
    "/ガイド/はじめに",
    "/guides/caf%C3%A9-menu",
    "/guides/100%-coverage",
    "/guides/tables,lists-and-columns",
    "/guides/the-\"quoted\"-page",
    "/guides/a,\"b\",c",
    "/guides/it's-complicated",
    "=SUM(1,2)",
    "=HYPERLINK(\"https://example.test\",\"open\")",
    "+1-555-0100",
    "-negative-numbers",
    "@mentions",
    "/guides/semi;colon",
    "/guides/two words",
    "/guides/lift-off-🚀",
    "/guides/العربية",
    "/guides/back\\slash",
    "/guides/decomposed-e\u{301}",
    "/search?q=webhooks&lang=en",
];

const TOPICS: [&str; 16] = [
    "authentication",
    "billing",
    "branding",
    "caching",
    "custom-domains",
    "deployment",
    "editor",
    "embeds",
    "exports",
    "navigation",
    "permissions",
    "previews",
    "search",
    "translations",
    "versioning",
    "webhooks",
];
const TASKS: [&str; 12] = [
    "overview",
    "getting-started",
    "configure",
    "migrate",
    "monitor",
    "test-locally",
    "automate",
    "best-practices",
    "limits",
    "faq",
    "examples",
    "troubleshooting",
];
const RESOURCES: [&str; 12] = [
    "agents",
    "analytics",
    "assets",
    "comments",
    "deployments",
    "domains",
    "events",
    "members",
    "pages",
    "projects",
    "redirects",
    "tokens",
];
const ACTIONS: [&str; 10] = [
    "create", "get", "list", "update", "delete", "archive", "restore", "search", "batch", "watch",
];
const LANGUAGES: [&str; 8] = [
    "go",
    "java",
    "javascript",
    "php",
    "python",
    "ruby",
    "rust",
    "swift",
];
const LOCALES: [&str; 6] = ["", "/es", "/fr", "/de", "/ja", "/pt-br"];

/// Days from its start to its end, which is not in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Range {
    pub(crate) from: Day,
    pub(crate) to: Day,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Views {
    pub(crate) human: u64,
    pub(crate) ai: u64,
    pub(crate) total: u64,
}

impl Views {
    fn new(human: u64, ai: u64) -> Self {
        Self {
            human,
            ai,
            total: human + ai,
        }
    }

    fn and(self, other: Self) -> Self {
        Self::new(self.human + other.human, self.ai + other.ai)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Row {
    pub(crate) path: String,
    #[serde(flatten)]
    pub(crate) views: Views,
}

/// A project's views in a range: most viewed first.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Report {
    pub(crate) totals: Views,
    #[serde(rename = "views")]
    pub(crate) rows: Vec<Row>,
}

/// The sites of all projects, made when first asked for.
pub(crate) struct Sites {
    seed: u64,
    pages: u32,
    made: HashMap<String, Site>,
    last: Option<(String, Range, Arc<Report>)>,
}

impl Sites {
    pub(crate) fn new(options: &Options) -> Self {
        Self {
            seed: options.seed,
            pages: options.pages,
            made: HashMap::new(),
            last: None,
        }
    }

    /// The report of a range; the last one is kept, as paging asks again.
    pub(crate) fn report(&mut self, project: &str, range: Range) -> Arc<Report> {
        if let Some((of, over, report)) = &self.last
            && (of.as_str(), *over) == (project, range)
        {
            return Arc::clone(report);
        }
        let report = Arc::new(self.site(project).report(range));
        self.last = Some((project.to_owned(), range, Arc::clone(&report)));
        report
    }

    fn site(&mut self, project: &str) -> &Site {
        let pages = if project.starts_with("empty-") {
            0
        } else {
            self.pages
        };
        let seed = self.seed;
        self.made
            .entry(project.to_owned())
            .or_insert_with(|| Site::new(seed, project, pages))
    }
}

struct Site {
    pages: Vec<Page>,
}

/// A page and its views on one working day; at least one in all.
struct Page {
    path: String,
    human: u64,
    ai: u64,
}

impl Site {
    fn new(seed: u64, project: &str, pages: u32) -> Self {
        let mut random = SplitMix64::named(seed, project);
        let mut ranks: Vec<u64> = (1..=u64::from(pages)).collect();
        random.shuffle(&mut ranks);
        let pages = paths()
            .zip(ranks)
            .map(|(path, rank)| Page::new(path, rank, &mut random));
        Self {
            pages: pages.collect(),
        }
    }

    fn report(&self, range: Range) -> Report {
        if range.from >= range.to {
            return Report {
                totals: Views::default(),
                rows: Vec::new(),
            };
        }
        let mut rows: Vec<Row> = self.pages.iter().map(|page| page.row(range)).collect();
        rows.sort_unstable_by(|a, b| {
            (b.views.total.cmp(&a.views.total)).then_with(|| a.path.cmp(&b.path))
        });
        let totals = rows
            .iter()
            .fold(Views::default(), |sum, row| sum.and(row.views));
        Report { totals, rows }
    }
}

impl Page {
    /// Few pages are read a lot, most of them hardly; some mostly by machines.
    fn new(path: String, rank: u64, random: &mut SplitMix64) -> Self {
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
        }
    }

    fn row(&self, range: Range) -> Row {
        let days = range.to.since(range.from);
        let weekend = range.to.weekend_days_before() - range.from.weekend_days_before();
        let weekend = u64::try_from(weekend).unwrap_or(0);
        // More than half of a working day's: any longer range has more views.
        let human_on_weekend_day = self.human - self.human * 2 / 5;
        let human = self.human * (days - weekend) + human_on_weekend_day * weekend;
        Row {
            path: self.path.clone(),
            views: Views::new(human, self.ai * days),
        }
    }
}

/// All paths a site could have, no two the same.
fn paths() -> impl Iterator<Item = String> {
    FIRST_PATHS
        .into_iter()
        .map(str::to_owned)
        .chain((0..).flat_map(round))
}

/// One path of each section.
fn round(number: usize) -> [String; 6] {
    let (guide, guide_topic, guide_task) = mixed(number, &TOPICS, &TASKS);
    let (api, resource, action) = mixed(number, &RESOURCES, &ACTIONS);
    let (sdk, language, sdk_topic) = mixed(number, &LANGUAGES, &TOPICS);
    let (integration, with, integration_task) = mixed(number, &RESOURCES, &TASKS);
    let week = i64::try_from(number).unwrap_or(i64::MAX).saturating_mul(-7);
    let released = Day::from_epoch(20_000).plus(week);
    [
        format!("{guide}/guides/{guide_topic}/{guide_task}"),
        format!("{api}/api-reference/{resource}/{action}"),
        format!("{sdk}/sdks/{language}/{sdk_topic}"),
        format!("{integration}/integrations/{with}/{integration_task}"),
        format!("/errors/e{number:04}"),
        format!("/changelog/{released}"),
    ]
}

/// The number written with the two lists as digits; what is left over is a
/// locale or, when these are used up too, an old version.
fn mixed(
    number: usize,
    high: &[&'static str],
    low: &[&'static str],
) -> (String, &'static str, &'static str) {
    let rest = number / low.len();
    let over = rest / high.len();
    let prefix = LOCALES
        .get(over)
        .map_or_else(|| format!("/v{over}"), |locale| (*locale).to_owned());
    (prefix, high[rest % high.len()], low[number % low.len()])
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn range(from: &str, to: &str) -> Range {
        Range {
            from: Day::parse(from).expect("a date"),
            to: Day::parse(to).expect("a date"),
        }
    }

    #[test]
    fn no_two_paths_are_the_same() {
        let some: Vec<String> = paths().take(30_000).collect();
        assert_eq!(some.iter().collect::<HashSet<_>>().len(), some.len());
    }

    #[test]
    fn a_day_lists_every_page() {
        let report = Site::new(1, "demo-docs", 4000).report(range("2024-06-01", "2024-06-02"));
        assert_eq!(report.rows.len(), 4000);
        assert!(report.rows.iter().all(|row| row.views.total >= 1));
    }

    #[test]
    fn adjacent_ranges_add_up() {
        let site = Site::new(1, "demo-docs", 500);
        let first = site.report(range("2024-05-28", "2024-06-02")).totals;
        let second = site.report(range("2024-06-02", "2024-06-05")).totals;
        let both = site.report(range("2024-05-28", "2024-06-05")).totals;
        assert_eq!(first.and(second), both);
    }

    #[test]
    fn a_longer_range_has_more_views_wherever_it_lies() {
        let site = Site::new(1, "demo-docs", 60);
        let monday = Day::parse("2024-01-01").expect("a date");
        let total = |from: i64, days: i64| {
            let from = monday.plus(from);
            site.report(Range {
                from,
                to: from.plus(days),
            })
            .totals
            .total
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
        let report = |seed, project| Site::new(seed, project, 100).report(week);
        assert_eq!(report(1, "a"), report(1, "a"));
        assert_ne!(report(1, "a"), report(2, "a"));
        assert_ne!(report(1, "a"), report(1, "b"));
    }

    #[test]
    fn no_days_means_no_views() {
        let report = Site::new(1, "demo-docs", 10).report(range("2024-01-01", "2024-01-01"));
        assert_eq!((report.rows.len(), report.totals.total), (0, 0));
    }
}
