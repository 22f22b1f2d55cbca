//! Search terms as readers type them: the search sends a request for each pause of the keyboard.

use std::collections::HashSet;

/// Only longer terms are preceded by their beginnings.
const MIN_CHARS: usize = 6;
/// One term in this many is preceded by its beginnings.
const PERIOD: usize = 3;

/// The terms that a search box sends. In the profile `live`, these include some beginnings.
pub(super) fn texts(
    is_live: bool,
    terms: impl Iterator<Item = String> + 'static,
) -> Box<dyn Iterator<Item = String>> {
    if is_live {
        Box::new(with_beginnings(terms))
    } else {
        Box::new(terms)
    }
}

/// Adds two beginnings before some terms. Each term occurs once.
fn with_beginnings(terms: impl Iterator<Item = String>) -> impl Iterator<Item = String> {
    let mut seen = HashSet::new();
    let typed = terms.enumerate().flat_map(|(place, term)| {
        let mut typed = Vec::new();
        let length = term.chars().count();
        if place % PERIOD == 0 && length >= MIN_CHARS {
            for end in [length / 2, length - 2] {
                typed.push(term.chars().take(end).collect());
            }
        }
        typed.push(term);
        typed
    });
    typed.filter(move |term: &String| seen.insert(term.clone()))
}
