//! Generated feedback of readers.

use std::collections::BTreeMap;

use serde::Serialize;

use super::demo::{Kind, REMARKS, Remark};
use super::texts::{COMMENTS, CONTACTS, SNIPPETS};
use super::timeline::{Event, Timeline};
use super::{DataSet, Range, pick};
use crate::random::SplitMix64;

/// The sources of feedback.
const SOURCES: [&str; 4] = ["code_snippet", "contextual", "agent", "thumbs_only"];
const CODE_SNIPPET: &str = SOURCES[0];
const CONTEXTUAL: &str = SOURCES[1];
const AGENT: &str = SOURCES[2];
const THUMBS_ONLY: &str = SOURCES[3];
/// Most demo feedback is still open.
const DEMO_STATUSES: [&str; 6] = [
    "pending",
    "pending",
    "pending",
    "in_progress",
    "resolved",
    "dismissed",
];
const STATUSES: [&str; 4] = ["pending", "in_progress", "resolved", "dismissed"];

const DEMO_CONTACTS: [&str; 3] = [
    "sam@customer.example",
    "priya@partner.example",
    "dev@startup.example",
];

/// An entry as the API returns it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Entry {
    pub(super) id: String,
    pub(super) path: String,
    comment: Option<&'static str>,
    pub(super) created_at: Option<String>,
    source: &'static str,
    status: &'static str,
    #[serde(flatten)]
    details: Details,
}

/// The fields that depend on the source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
enum Details {
    Page {
        helpful: bool,
        contact: Option<&'static str>,
    },
    Snippet {
        code: &'static str,
        filename: Option<&'static str>,
        lang: Option<&'static str>,
    },
    Base {},
}

impl Entry {
    /// Whether the entry has the given source and one of the given statuses, if any.
    ///
    /// `statuses` is separated by commas.
    pub(crate) fn matches(&self, source: Option<&str>, statuses: Option<&str>) -> bool {
        let has_status = |statuses: &str| statuses.split(',').any(|status| status == self.status);
        source.is_none_or(|source| source == self.source) && statuses.is_none_or(has_status)
    }
}

/// All feedback of a site.
pub(crate) struct Feedback {
    data_set: DataSet,
    timeline: Timeline,
    paths: Vec<String>,
}

impl Feedback {
    pub(crate) fn new(
        data_set: DataSet,
        seed: u64,
        project: &str,
        in_thirty_days: u32,
        paths: Vec<String>,
    ) -> Self {
        Self {
            data_set,
            timeline: Timeline::new(seed, format!("{project}/feedback"), in_thirty_days),
            paths,
        }
    }

    /// Newest first.
    pub(crate) fn entries(&self, range: Range) -> Vec<Entry> {
        let events = self.timeline.events(range).rev();
        let entry = |event| match self.data_set {
            DataSet::Test => self.entry(event),
            DataSet::Demo => self.demo_entry(event),
        };
        events.map(entry).collect()
    }

    /// Two remarks in order, then a thumb without a comment.
    fn demo_entry(&self, mut event: Event) -> Entry {
        let (number, timestamp) = (event.number, event.timestamp);
        let random = &mut event.random;
        let remark = match number % 3 {
            2 => None,
            place => cycle(&REMARKS, number / 3 * 2 + place),
        };
        let path = self.path(random);
        Entry {
            id: random.uuid(),
            path: remark.map_or(path, |remark| remark.path.to_owned()),
            comment: remark.map(|remark| remark.comment),
            created_at: Some(timestamp.to_string()),
            source: remark.map_or(THUMBS_ONLY, Remark::source),
            status: pick(&DEMO_STATUSES, random).copied().unwrap_or("pending"),
            details: remark.map_or(Details::Base {}, |remark| remark.details(random)),
        }
    }

    /// Sources alternate with every entry, statuses with every fourth entry.
    ///
    /// Sixteen entries in a row have every combination of both.
    fn entry(&self, mut event: Event) -> Entry {
        let (number, timestamp) = (event.number, event.timestamp);
        let random = &mut event.random;
        let source = cycle(&SOURCES, number).copied().unwrap_or(THUMBS_ONLY);
        let status = cycle(&STATUSES, number / 4).copied().unwrap_or("pending");
        let has_comment = source != THUMBS_ONLY && random.below(4) > 0;
        Entry {
            id: random.uuid(),
            path: self.path(random),
            comment: pick(&COMMENTS, random).copied().filter(|_| has_comment),
            created_at: (random.below(40) > 0).then(|| timestamp.to_string()),
            source,
            status,
            details: Details::of(source, random),
        }
    }

    /// Picks a path. The first pages get more feedback than the others.
    fn path(&self, random: &mut SplitMix64) -> String {
        let count = u64::try_from(self.paths.len()).unwrap_or(0);
        let end = usize::try_from(random.below(count)).unwrap_or(0) + 1;
        let first = self.paths.get(..end).unwrap_or_default();
        pick(first, random).map_or_else(|| "/".to_owned(), String::clone)
    }
}

impl Details {
    fn of(source: &'static str, random: &mut SplitMix64) -> Self {
        match source {
            CONTEXTUAL => Self::Page {
                helpful: random.below(3) > 0,
                contact: pick(&CONTACTS, random)
                    .copied()
                    .filter(|_| random.below(2) == 0),
            },
            CODE_SNIPPET => {
                pick(&SNIPPETS, random).map_or(Self::Base {}, |&(code, filename, lang)| {
                    Self::Snippet {
                        code,
                        filename,
                        lang,
                    }
                })
            }
            _ => Self::Base {},
        }
    }
}

impl Remark {
    fn source(&self) -> &'static str {
        match self.kind {
            Kind::Helpful | Kind::NotHelpful => CONTEXTUAL,
            Kind::Snippet(..) => CODE_SNIPPET,
            Kind::Agent => AGENT,
        }
    }

    fn details(&self, random: &mut SplitMix64) -> Details {
        match self.kind {
            Kind::Helpful | Kind::NotHelpful => Details::Page {
                helpful: matches!(self.kind, Kind::Helpful),
                contact: pick(&DEMO_CONTACTS, random)
                    .copied()
                    .filter(|_| random.below(3) == 0),
            },
            Kind::Snippet(code, filename, lang) => Details::Snippet {
                code,
                filename,
                lang: Some(lang),
            },
            Kind::Agent => Details::Base {},
        }
    }
}

/// Returns the items in order, again from the first one after the last one.
fn cycle<T>(items: &[T], number: u64) -> Option<&T> {
    let count = u64::try_from(items.len()).ok()?;
    items.get(usize::try_from(number.checked_rem(count)?).ok()?)
}

/// The amount of feedback for a page.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PageFeedback {
    path: String,
    thumbs_up: u64,
    thumbs_down: u64,
    code: u64,
    total: u64,
}

/// The pages with feedback, most feedback first, then by path.
pub(crate) fn count_by_page(entries: &[Entry]) -> Vec<PageFeedback> {
    let mut pages = BTreeMap::<&str, PageFeedback>::new();
    for entry in entries {
        let page = pages.entry(&entry.path).or_insert_with(|| PageFeedback {
            path: entry.path.clone(),
            ..PageFeedback::default()
        });
        page.total += 1;
        match entry.details {
            Details::Page { helpful: true, .. } => page.thumbs_up += 1,
            Details::Page { helpful: false, .. } => page.thumbs_down += 1,
            Details::Snippet { .. } => page.code += 1,
            Details::Base {} => {}
        }
    }
    let mut pages: Vec<_> = pages.into_values().collect();
    // The sort is stable, so pages with the same total stay sorted by path.
    pages.sort_by_key(|page| std::cmp::Reverse(page.total));
    pages
}
