//! The data of each project, generated from the seed, the project and a range of days.

mod conversations;
mod daily_variation;
mod demo;
mod feedback;
mod late;
mod paths;
mod searches;
mod texts;
mod thread;
mod timeline;
mod traffic;
mod typing;

use std::collections::HashMap;
use std::sync::Arc;

use crate::date::Day;
use crate::options::{DataSet, Options};
use crate::random::SplitMix64;

pub(crate) use conversations::{CallerStats, Conversation};
pub(crate) use feedback::{Entry, PageFeedback, count_by_page};
pub(crate) use searches::SearchReport;
pub(crate) use thread::Thread;
pub(crate) use traffic::TrafficReport;

use conversations::Conversations;
use feedback::Feedback;
use late::LateCounts;
use searches::Terms;
use traffic::Pages;

/// A half-open range of days.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Range {
    pub(crate) from: Day,
    pub(crate) to: Day,
}

impl Range {
    pub(crate) fn is_empty(self) -> bool {
        self.from >= self.to
    }
}

/// The sites of all projects, generated on first use.
pub(crate) struct Sites {
    seed: u64,
    /// The sizes of every project with data.
    sizes: Sizes,
    /// The late counts of all projects.
    pub(crate) late: LateCounts,
    by_project: HashMap<String, Site>,
    views: CachedReport<TrafficReport>,
    visitors: CachedReport<TrafficReport>,
    feedback: CachedReport<Vec<Entry>>,
    searches: CachedReport<SearchReport>,
    conversations: CachedReport<Vec<Conversation>>,
}

/// How counts differ from day to day.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum Days {
    /// All working days have the same counts.
    #[default]
    Uniform,
    /// Each day has other counts.
    Varying,
    /// Interest in each page rises and falls over months.
    Demo,
}

/// The amount of data of a project.
#[derive(Clone, Copy, Debug, Default)]
struct Sizes {
    data_set: DataSet,
    pages: u32,
    days: Days,
    /// Entries per thirty days.
    feedback: u32,
    /// Distinct terms.
    searches: u32,
    is_live: bool,
    /// Questions per thirty days.
    conversations: u32,
}

impl Sites {
    pub(crate) fn new(options: &Options) -> Self {
        Self {
            seed: options.seed,
            sizes: Sizes {
                data_set: options.data,
                pages: options.pages,
                days: match options.data {
                    DataSet::Demo => Days::Demo,
                    DataSet::Test if options.varying_days => Days::Varying,
                    DataSet::Test => Days::Uniform,
                },
                feedback: options.feedback,
                searches: options.searches,
                is_live: options.profile.is_live(),
                conversations: options.conversations,
            },
            late: LateCounts::default(),
            by_project: HashMap::new(),
            views: CachedReport::default(),
            visitors: CachedReport::default(),
            feedback: CachedReport::default(),
            searches: CachedReport::default(),
            conversations: CachedReport::default(),
        }
    }

    /// The page views, most viewed first.
    pub(crate) fn views(&mut self, project: &str, range: Range) -> Arc<TrafficReport> {
        let site = site(&mut self.by_project, self.seed, self.sizes, project);
        let growths = self.late.growths(range);
        let compute = |growths: &[u64]| site.pages.views(range, growths);
        self.views.grow(project, range, growths, compute)
    }

    /// The visitors, most visited first.
    pub(crate) fn visitors(&mut self, project: &str, range: Range) -> Arc<TrafficReport> {
        let site = site(&mut self.by_project, self.seed, self.sizes, project);
        let growths = self.late.growths(range);
        let compute = |growths: &[u64]| site.pages.visitors(range, growths);
        self.visitors.grow(project, range, growths, compute)
    }

    /// Feedback, newest first.
    pub(crate) fn feedback(&mut self, project: &str, range: Range) -> Arc<Vec<Entry>> {
        let site = site(&mut self.by_project, self.seed, self.sizes, project);
        self.feedback
            .get(project, range, || site.feedback.entries(range))
    }

    /// Search terms, most frequent first.
    pub(crate) fn searches(&mut self, project: &str, range: Range) -> Arc<SearchReport> {
        let site = site(&mut self.by_project, self.seed, self.sizes, project);
        self.searches
            .get(project, range, || site.terms.report(range))
    }

    /// The conversations with the assistant, one row per turn, newest first.
    pub(crate) fn conversations(&mut self, project: &str, range: Range) -> Arc<Vec<Conversation>> {
        let site = site(&mut self.by_project, self.seed, self.sizes, project);
        self.conversations.get(project, range, || {
            let mut turns = site.conversations.turns(range);
            if self.sizes.is_live {
                site.conversations.share_ids(&mut turns);
            }
            turns
        })
    }

    /// The thread of the turn with this id.
    pub(crate) fn thread(&mut self, project: &str, id: &str) -> Option<Thread> {
        let site = site(&mut self.by_project, self.seed, self.sizes, project);
        site.conversations.thread(id)
    }
}

fn site<'a>(
    by_project: &'a mut HashMap<String, Site>,
    seed: u64,
    sizes: Sizes,
    project: &str,
) -> &'a Site {
    let sizes = if project.starts_with("empty-") {
        Sizes::default()
    } else {
        sizes
    };
    by_project
        .entry(project.to_owned())
        .or_insert_with(|| Site::new(seed, project, sizes))
}

struct Site {
    pages: Pages,
    feedback: Feedback,
    terms: Terms,
    conversations: Conversations,
}

impl Site {
    fn new(seed: u64, project: &str, sizes: Sizes) -> Self {
        let set = sizes.data_set;
        let pages = Pages::new(seed, project, sizes.pages, sizes.days);
        let paths = pages.first_paths();
        Self {
            feedback: Feedback::new(set, seed, project, sizes.feedback, paths.clone()),
            terms: Terms::new(set, seed, project, sizes.searches, &paths, sizes.is_live),
            conversations: Conversations::new(set, seed, project, sizes.conversations, paths),
            pages,
        }
    }
}

/// The last computed report. Paging requests the same report repeatedly.
struct CachedReport<T>(Option<(String, Range, Vec<u64>, Arc<T>)>);

impl<T> Default for CachedReport<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T> CachedReport<T> {
    fn get(&mut self, project: &str, range: Range, compute: impl FnOnce() -> T) -> Arc<T> {
        self.grow(project, range, Vec::new(), |_| compute())
    }

    /// The report with late counts.
    fn grow(
        &mut self,
        project: &str,
        range: Range,
        growths: Vec<u64>,
        compute: impl FnOnce(&[u64]) -> T,
    ) -> Arc<T> {
        if let Some((of, over, with, report)) = &self.0
            && (of.as_str(), *over, with) == (project, range, &growths)
        {
            return Arc::clone(report);
        }
        let report = Arc::new(compute(&growths));
        self.0 = Some((project.to_owned(), range, growths, Arc::clone(&report)));
        report
    }
}

/// A random item, or `None` if there are no items.
fn pick<'a, T>(items: &'a [T], random: &mut SplitMix64) -> Option<&'a T> {
    let end = u64::try_from(items.len()).ok()?;
    items.get(usize::try_from(random.below(end)).ok()?)
}
