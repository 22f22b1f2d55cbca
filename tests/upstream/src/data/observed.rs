//! Rows as users of the real platform observed them.

use super::Range;
use super::conversations::{Conversation, Conversations, address};
use super::feedback::Entry;
use super::searches::SearchReport;
use crate::profile::{Trait, Traits};
use crate::random::SplitMix64;

pub(super) fn entries(traits: &Traits, mut entries: Vec<Entry>) -> Vec<Entry> {
    for entry in &mut entries {
        let kind = kind_of(&entry.id);
        if traits.has(Trait::MixedPaths) {
            entry.path = match kind {
                0 => address(&entry.path),
                1 => entry.path.trim_start_matches('/').to_owned(),
                2 => String::new(),
                _ => std::mem::take(&mut entry.path),
            };
        }
        if let Some(time) = &mut entry.created_at {
            localize(traits, kind, time);
        }
    }
    entries
}

pub(super) fn terms(traits: &Traits, mut report: SearchReport) -> SearchReport {
    for term in &mut report.searches {
        localize(
            traits,
            kind_of(&term.search_query),
            &mut term.last_searched_at,
        );
    }
    report
}

/// The turns of a range, newest first.
pub(super) fn turns(traits: &Traits, all: &Conversations, range: Range) -> Vec<Conversation> {
    let mut turns = all.turns(range);
    for turn in &mut turns {
        localize(traits, kind_of(&turn.id), &mut turn.timestamp);
    }
    if traits.has(Trait::SharedConversationIds) {
        all.share_ids(&mut turns);
    }
    turns
}

/// Removes the time zone of a quarter of all times.
fn localize(traits: &Traits, kind: u64, time: &mut String) {
    if kind == 0 && traits.has(Trait::LocalTimes) {
        time.truncate(time.trim_end_matches('Z').len());
    }
}

/// A number below four that depends only on the identity of a row.
fn kind_of(id: &str) -> u64 {
    SplitMix64::named(0, id).below(4)
}
