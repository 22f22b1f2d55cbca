//! Generated search terms.

use serde::Serialize;

use super::daily_variation::DailyVariation;
use super::demo;
use super::paths::{TASKS, TOPICS, mixed};
use super::texts::SEARCHES;
use super::traffic::sum_over_days;
use super::typing;
use super::{DataSet, Range, pick};
use crate::clock::{DAY_MS, Timestamp};
use crate::random::SplitMix64;

/// A term in a range, as the API returns it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SearchTerm {
    pub(super) search_query: String,
    hits: u64,
    /// The click-through rate, from 0 to 100.
    ctr: f64,
    top_clicked_page: Option<String>,
    pub(super) last_searched_at: String,
}

/// The searches of a project in a range, most frequent term first.
#[derive(Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SearchReport {
    pub(crate) searches: Vec<SearchTerm>,
    pub(crate) total_searches: u64,
}

/// All search terms of a site.
pub(crate) struct Terms(Vec<Term>);

struct Term {
    text: String,
    /// At least one.
    hits_on_working_day: u64,
    /// Without a variation, every working day has the same hits.
    variation: Option<DailyVariation>,
    clicks: Option<Clicks>,
    /// The time of the last search on each day, in milliseconds.
    last_searched_ms: u64,
}

/// The clicks per number of hits, and the page with most clicks.
struct Clicks {
    count: u32,
    hits: u32,
    top_page: String,
}

impl Terms {
    pub(crate) fn new(
        data_set: DataSet,
        seed: u64,
        project: &str,
        count: u32,
        paths: &[String],
        is_live: bool,
    ) -> Self {
        let mut random = SplitMix64::named(seed, &format!("{project}/searches"));
        match data_set {
            DataSet::Test => Self::generate(count, paths, is_live, &mut random),
            DataSet::Demo => Self::demo(count, is_live, &mut random),
        }
    }

    fn demo(count: u32, is_live: bool, random: &mut SplitMix64) -> Self {
        let site = DailyVariation::daily_percent(random);
        let terms = demo::searches().zip(1..=u64::from(count));
        let terms = terms.map(|((text, page), rank)| Term {
            variation: Some(DailyVariation::trend(random, 40, &site)),
            clicks: page.map(|page| Clicks::usual(page, random)),
            ..Term::new(text.to_owned(), rank, &[], random)
        });
        let mut terms: Vec<_> = terms.collect();
        let texts: Vec<_> = terms.iter().map(|term| term.text.clone()).collect();
        let typed: Vec<_> = typing::texts(is_live, texts.into_iter()).collect();
        let is_new = |text: &String| !demo::searches().any(|(term, _)| term == text);
        let beginnings = typed.into_iter().filter(is_new);
        terms.extend(
            beginnings
                .zip(20..)
                .map(|(text, rank)| Term::new(text, rank, &[], random)),
        );
        Self(terms)
    }

    fn generate(count: u32, paths: &[String], is_live: bool, random: &mut SplitMix64) -> Self {
        let mut ranks: Vec<u64> = (1..=u64::from(count)).collect();
        random.shuffle(&mut ranks);
        let terms = typing::texts(is_live, texts())
            .zip(ranks)
            .map(|(text, rank)| Term::new(text, rank, paths, random));
        Self(terms.collect())
    }

    pub(crate) fn report(&self, range: Range) -> SearchReport {
        if range.is_empty() {
            return SearchReport::default();
        }
        let terms = self.0.iter().map(|term| term.over(range));
        let mut searches: Vec<_> = terms.filter(|term| term.hits > 0).collect();
        searches.sort_unstable_by(|a, b| {
            (b.hits.cmp(&a.hits)).then_with(|| a.search_query.cmp(&b.search_query))
        });
        SearchReport {
            total_searches: searches.iter().map(|term| term.hits).sum(),
            searches,
        }
    }
}

impl Term {
    fn new(text: String, rank: u64, paths: &[String], random: &mut SplitMix64) -> Self {
        let expected = 900 / (rank + 1);
        Self {
            text,
            variation: None,
            hits_on_working_day: (expected + random.below(expected / 4 + 1)).max(1),
            clicks: Clicks::new(paths, random),
            last_searched_ms: random.below(DAY_MS),
        }
    }

    fn hits(&self, range: Range) -> u64 {
        let usual = self.hits_on_working_day;
        match &self.variation {
            None => sum_over_days(range, usual),
            Some(variation) => {
                let before = |day| variation.count_before(day, 0, usual);
                before(range.to) - before(range.from)
            }
        }
    }

    fn over(&self, range: Range) -> SearchTerm {
        let last_day = Timestamp::start_of(range.to.plus(-1));
        SearchTerm {
            search_query: self.text.clone(),
            hits: self.hits(range),
            ctr: self.clicks.as_ref().map_or(0.0, Clicks::rate),
            top_clicked_page: self.clicks.as_ref().map(|clicks| clicks.top_page.clone()),
            last_searched_at: last_day.plus(self.last_searched_ms).to_string(),
        }
    }
}

impl Clicks {
    /// Most readers of the demo click a result.
    fn usual(page: &str, random: &mut SplitMix64) -> Self {
        Self {
            count: u32::try_from(45 + random.below(40)).unwrap_or(45),
            hits: 100,
            top_page: page.to_owned(),
        }
    }

    /// Returns `None` for one term in five, which has no clicks.
    fn new(paths: &[String], random: &mut SplitMix64) -> Option<Self> {
        let hits = u32::try_from(1 + random.below(40)).ok()?;
        let count = u32::try_from(1 + random.below(u64::from(hits))).ok()?;
        let is_clicked = random.below(5) > 0;
        let top_page = pick(paths, random)?.clone();
        is_clicked.then_some(Self {
            count,
            hits,
            top_page,
        })
    }

    /// Returns the percentage of searches with a click.
    fn rate(&self) -> f64 {
        100.0 * f64::from(self.count) / f64::from(self.hits)
    }
}

/// An endless sequence of unique terms.
fn texts() -> impl Iterator<Item = String> {
    let generated = (0..).map(|number| {
        let (prefix, topic, task) = mixed(number, &TOPICS, &TASKS);
        let (topic, task) = (topic.replace('-', " "), task.replace('-', " "));
        let term = format!("{topic} {task}");
        match prefix.strip_prefix('/') {
            None => term,
            Some(version) => format!("{term} {version}"),
        }
    });
    SEARCHES.into_iter().map(str::to_owned).chain(generated)
}
