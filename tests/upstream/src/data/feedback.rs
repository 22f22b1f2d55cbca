//! Generated feedback of readers.

use std::collections::BTreeMap;

use serde::Serialize;

use super::texts::{COMMENTS, CONTACTS, SNIPPETS};
use super::timeline::{Event, Timeline};
use super::{Range, pick};
use crate::random::SplitMix64;

/// The sources of feedback.
const SOURCES: [&str; 4] = ["code_snippet", "contextual", "agent", "thumbs_only"];
const CODE_SNIPPET: &str = SOURCES[0];
const CONTEXTUAL: &str = SOURCES[1];
const THUMBS_ONLY: &str = SOURCES[3];
const STATUSES: [&str; 4] = ["pending", "in_progress", "resolved", "dismissed"];

/// An entry as the API returns it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Entry {
    id: String,
    path: String,
    comment: Option<&'static str>,
    created_at: Option<String>,
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
    timeline: Timeline,
    paths: Vec<String>,
}

impl Feedback {
    pub(crate) fn new(seed: u64, project: &str, in_thirty_days: u32, paths: Vec<String>) -> Self {
        Self {
            timeline: Timeline::new(seed, format!("{project}/feedback"), in_thirty_days),
            paths,
        }
    }

    /// Newest first.
    pub(crate) fn entries(&self, range: Range) -> Vec<Entry> {
        let events = self.timeline.events(range).rev();
        events.map(|event| self.entry(event)).collect()
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
        let source = cycle(&SOURCES, number);
        let status = cycle(&STATUSES, number / 4);
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

fn cycle(names: &[&'static str; 4], number: u64) -> &'static str {
    match number % 4 {
        0 => names[0],
        1 => names[1],
        2 => names[2],
        _ => names[3],
    }
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
        Feedback::new(1, "demo-docs", in_thirty_days, paths).entries(range(from, to))
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
