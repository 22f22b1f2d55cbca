//! Positions in lists without rows, after which the list continues.

use std::ops::Range;

use serde::Deserialize;

/// A number of empty positions, beginning at `at`.
///
/// A page within a hole is empty and has more pages after it. No row is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Hole {
    at: usize,
    places: usize,
}

/// The holes in every list, sorted by position.
#[derive(Clone, Debug, Default)]
pub(crate) struct Holes(Vec<Hole>);

impl Holes {
    pub(crate) fn add(&mut self, hole: Hole) {
        self.0.push(hole);
        self.0.sort_unstable();
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// The number of positions of a list with `rows` rows. Holes after the last row do not count.
    pub(crate) fn places(&self, rows: usize) -> usize {
        let dug = |places: usize, hole: &Hole| {
            let added = if hole.at < places { hole.places } else { 0 };
            places.saturating_add(added)
        };
        self.0.iter().fold(rows, dug)
    }

    /// The rows at these positions of the list.
    pub(crate) fn rows(&self, places: Range<usize>) -> Range<usize> {
        self.rows_before(places.start)..self.rows_before(places.end)
    }

    fn rows_before(&self, place: usize) -> usize {
        let empty = |hole: &Hole| place.saturating_sub(hole.at).min(hole.places);
        place.saturating_sub(self.0.iter().map(empty).sum())
    }
}
