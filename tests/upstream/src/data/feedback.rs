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
    fn demo_entry(&self, event: Event) -> Entry {
        let Event {
            number,
            timestamp,
            mut random,
        } = event;
        let remark = match number % 3 {
            2 => None,
            place => cycle(&REMARKS, number / 3 * 2 + place),
        };
        let path = self.path(&mut random);
        Entry {
            id: random.uuid(),
            path: remark.map_or(path, |remark| remark.path.to_owned()),
            comment: remark.map(|remark| remark.comment),
            created_at: Some(timestamp.to_string()),
            source: remark.map_or(THUMBS_ONLY, Remark::source),
            status: pick(&DEMO_STATUSES, &mut random)
                .copied()
                .unwrap_or("pending"),
            details: remark.map_or(Details::Base {}, |remark| remark.details(&mut random)),
        }
    }

    /// Sources alternate with every entry, statuses with every fourth entry.
    ///
    /// Sixteen entries in a row have every combination of both.
    fn entry(&self, event: Event) -> Entry {
        let Event {
            number,
            timestamp,
            mut random,
        } = event;
        let source = cycle(&SOURCES, number).copied().unwrap_or(THUMBS_ONLY);
        let status = cycle(&STATUSES, number / 4).copied().unwrap_or("pending");
        let has_comment = source != THUMBS_ONLY && random.below(4) > 0;
        Entry {
            id: random.uuid(),
            path: self.path(&mut random),
            comment: pick(&COMMENTS, &mut random)
                .copied()
                .filter(|_| has_comment),
            created_at: (random.below(40) > 0).then(|| timestamp.to_string()),
            source,
            status,
            details: Details::of(source, &mut random),
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
        let page = pages.entry(&entry.path).or_default();
        page.total += 1;
        match entry.details {
            Details::Page { helpful: true, .. } => page.thumbs_up += 1,
            Details::Page { helpful: false, .. } => page.thumbs_down += 1,
            Details::Snippet { .. } => page.code += 1,
            Details::Base {} => {}
        }
    }
    let mut pages: Vec<PageFeedback> = pages
        .into_iter()
        .map(|(path, page)| PageFeedback {
            path: path.to_owned(),
            ..page
        })
        .collect();
    // The sort is stable, so pages with the same total stay sorted by path.
    pages.sort_by_key(|page| std::cmp::Reverse(page.total));
    pages
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use serde_json::{Value, json};

    use super::super::tests::range;
    use super::*;

    fn entries(in_thirty_days: u32, from: &str, to: &str) -> Vec<Entry> {
        let paths = ["/", "/a", "/b"].map(str::to_owned).to_vec();
        Feedback::new(DataSet::Test, 1, "demo-docs", in_thirty_days, paths).entries(range(from, to))
    }

    #[test]
    fn sixteen_entries_combine_every_source_with_every_status() {
        let some = entries(300, "2024-01-01", "2024-01-31");
        let both: HashSet<_> = some[..16]
            .iter()
            .map(|entry| (entry.source, entry.status))
            .collect();
        assert_eq!(both.len(), 16);
    }

    #[test]
    fn each_source_has_its_own_fields() {
        let base = ["comment", "createdAt", "id", "path", "source", "status"];
        for entry in entries(300, "2024-01-01", "2024-01-31") {
            let own: &[&str] = match entry.source {
                CONTEXTUAL => &["helpful", "contact"],
                CODE_SNIPPET => &["code", "filename", "lang"],
                "agent" | THUMBS_ONLY => &[],
                other => panic!("{other}"),
            };
            let shown = json!(entry);
            let names: HashSet<&str> = shown
                .as_object()
                .expect("an object")
                .keys()
                .map(String::as_str)
                .collect();
            let expected: HashSet<&str> = base.iter().chain(own).copied().collect();
            assert_eq!(names, expected);
        }
    }

    #[test]
    fn nullable_fields_are_sometimes_null() {
        let all = json!(entries(300, "2024-01-01", "2024-03-31"));
        let all = all.as_array().expect("a list");
        for name in ["comment", "createdAt", "contact", "filename", "lang"] {
            let values = || all.iter().filter_map(|entry| entry.get(name));
            assert!(values().any(Value::is_null), "{name} is never null");
            assert!(values().any(Value::is_string), "{name} is always null");
        }
    }

    #[test]
    fn entries_are_newest_first_and_have_unique_ids() {
        let all = entries(300, "2024-01-01", "2024-03-31");
        let times: Vec<_> = all
            .iter()
            .filter_map(|entry| entry.created_at.as_ref())
            .collect();
        assert!(times.is_sorted_by(|a, b| a > b));
        let ids: HashSet<_> = all.iter().map(|entry| &entry.id).collect();
        assert_eq!(ids.len(), all.len());
    }

    #[test]
    fn filters_select_a_source_and_a_list_of_statuses() {
        let all = entries(300, "2024-01-01", "2024-03-31");
        let count = |source, statuses| {
            let matching = all.iter().filter(|entry| entry.matches(source, statuses));
            matching.count()
        };
        assert_eq!(count(None, None), all.len());
        let of_sources: usize = SOURCES.map(|source| count(Some(source), None)).iter().sum();
        assert_eq!(of_sources, all.len());
        let (pending, resolved) = (count(None, Some("pending")), count(None, Some("resolved")));
        assert!(pending > 0 && resolved > 0);
        assert_eq!(count(None, Some("pending,resolved")), pending + resolved);
        assert_eq!(count(None, Some("unknown")), 0);
        assert!(count(Some("agent"), Some("pending")) < pending);
    }

    #[test]
    fn page_counts_equal_those_of_their_entries() {
        let all = entries(300, "2024-01-01", "2024-03-31");
        let pages = count_by_page(&all);
        let sum = |count: fn(&PageFeedback) -> u64| pages.iter().map(count).sum::<u64>();
        let having = |has: fn(&Details) -> bool| {
            let matching = all.iter().filter(|entry| has(&entry.details)).count();
            u64::try_from(matching).expect("a count")
        };
        assert_eq!(pages.len(), 3);
        assert!(pages.is_sorted_by(|a, b| (b.total, &a.path) < (a.total, &b.path)));
        assert_eq!(sum(|page| page.total), having(|_| true));
        assert_eq!(
            sum(|page| page.code),
            having(|details| matches!(details, Details::Snippet { .. }))
        );
        assert_eq!(
            sum(|page| page.thumbs_up),
            having(|details| matches!(details, Details::Page { helpful: true, .. }))
        );
        assert_eq!(
            sum(|page| page.thumbs_down),
            having(|details| matches!(details, Details::Page { helpful: false, .. }))
        );
    }
}
