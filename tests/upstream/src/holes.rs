//! Places of lists that hold no rows, though the list goes on behind them.

use std::ops::Range;

use serde::Deserialize;

/// So many places from one on. A page that lies in it is empty, and says that more follows; no row
/// is lost by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Hole {
    at: usize,
    places: usize,
}

/// The holes of every list, first to last.
#[derive(Clone, Debug, Default)]
pub(crate) struct Holes(Vec<Hole>);

impl Holes {
    pub(crate) fn dig(&mut self, hole: Hole) {
        self.0.push(hole);
        self.0.sort_unstable();
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// How many places a list with so many rows has: holes behind its last row are not in it.
    pub(crate) fn places(&self, rows: usize) -> usize {
        let dug = |places: usize, hole: &Hole| {
            let added = if hole.at < places { hole.places } else { 0 };
            places.saturating_add(added)
        };
        self.0.iter().fold(rows, dug)
    }

    /// The rows that lie at these places of the list.
    pub(crate) fn rows(&self, places: Range<usize>) -> Range<usize> {
        self.rows_before(places.start)..self.rows_before(places.end)
    }

    fn rows_before(&self, place: usize) -> usize {
        let empty = |hole: &Hole| place.saturating_sub(hole.at).min(hole.places);
        place.saturating_sub(self.0.iter().map(empty).sum())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holes(all: &[(usize, usize)]) -> Holes {
        let mut holes = Holes::default();
        for &(at, places) in all {
            holes.dig(Hole { at, places });
        }
        holes
    }

    #[test]
    fn rows_lie_before_and_behind_a_hole_and_none_is_lost() {
        let holes = holes(&[(30, 5), (10, 10)]);
        assert_eq!(holes.places(40), 55);
        let pages = [0..10, 10..20, 20..30, 30..40, 40..50, 50..55];
        let rows = [0..10, 10..10, 10..20, 20..25, 25..35, 35..40];
        assert_eq!(pages.map(|page| holes.rows(page)), rows);
    }

    #[test]
    fn a_hole_behind_the_last_row_is_none() {
        let holes = holes(&[(10, 10)]);
        assert_eq!((holes.places(10), holes.places(11)), (10, 21));
        assert_eq!(Holes::default().rows(3..7), 3..7);
    }
}
