//! Pages of cursor lists, and the cursors that lead from one to the next.

use std::ops::Range;

use crate::holes::Holes;
use crate::random::SplitMix64;
use crate::refusal::Refusal;

/// Characters that mean something else in a query unless they are encoded.
const PREFIX: &str = "+/";
const SUFFIX: &str = "=";
const OFFSET_DIGITS: usize = 8;

/// A page's place in its list. An answer carries it as an extension, from which
/// faults take the cursors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CursorPage {
    /// Which rows of the list are shown.
    pub(crate) rows: Range<usize>,
    /// What leads to the next page, if there is one.
    pub(crate) next: Option<String>,
    /// What the page was asked for with; `None` for the first one.
    pub(crate) asked: Option<String>,
    /// What leads on from behind the last row, though nothing may follow.
    pub(crate) onward: Option<String>,
}

impl CursorPage {
    /// Cuts a page out of a list. `position` says how many rows a cursor leaves behind,
    /// if it is one of this list; `cursor_behind` makes the cursor that leaves so many
    /// behind.
    pub(crate) fn cut(
        list_length: usize,
        limit: usize,
        asked: Option<&str>,
        position: impl Fn(&str) -> Option<usize>,
        cursor_behind: impl Fn(usize) -> Option<String>,
    ) -> Result<Self, Refusal> {
        let start = match asked {
            None => 0,
            Some(cursor) => position(cursor)
                .filter(|start| *start <= list_length)
                .ok_or_else(Refusal::foreign_cursor)?,
        };
        let end = start.saturating_add(limit).min(list_length);
        let onward = cursor_behind(end);
        Ok(Self {
            rows: start..end,
            next: onward.clone().filter(|_| end < list_length),
            asked: asked.map(str::to_owned),
            onward,
        })
    }

    /// Cuts a page out of the list with that name, by opaque cursors.
    pub(crate) fn cut_opaque(
        list: &str,
        list_length: usize,
        (limit, asked): (usize, Option<&str>),
        holes: &Holes,
    ) -> Result<Self, Refusal> {
        let position = |cursor: &str| open(list, cursor);
        let cursor_behind = |places| Some(seal(list, places));
        let places = holes.places(list_length);
        let page = Self::cut(places, limit, asked, position, cursor_behind)?;
        Ok(Self {
            rows: holes.rows(page.rows.clone()),
            ..page
        })
    }
}

/// An opaque cursor, which no other list accepts.
fn seal(list: &str, rows: usize) -> String {
    let seal = SplitMix64::named(0, &format!("{list}/{rows}")).next();
    format!("{PREFIX}{rows:0OFFSET_DIGITS$x}{seal:016x}{SUFFIX}")
}

/// How many rows the cursor leaves behind, if it is one of this list.
fn open(list: &str, cursor: &str) -> Option<usize> {
    let digits = cursor.strip_prefix(PREFIX)?.strip_suffix(SUFFIX)?;
    let (rows, _) = digits.split_at_checked(OFFSET_DIGITS)?;
    let rows = usize::from_str_radix(rows, 16).ok()?;
    (seal(list, rows) == cursor).then_some(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(list: &str, cursor: Option<&str>) -> Result<CursorPage, Refusal> {
        CursorPage::cut_opaque(list, 25, (10, cursor), &Holes::default())
    }

    #[test]
    fn cursors_lead_through_the_whole_list() {
        let first = cut("a", None).expect("a page");
        let second = cut("a", first.next.as_deref()).expect("a page");
        let third = cut("a", second.next.as_deref()).expect("a page");
        let rows = [&first, &second, &third].map(|page| page.rows.clone());
        assert_eq!(rows, [0..10, 10..20, 20..25]);
        assert_eq!((first.asked, second.asked), (None, first.next));
        assert_eq!(third.next, None);
        let behind = cut("a", third.onward.as_deref()).expect("a page");
        assert_eq!((behind.rows, behind.next), (25..25, None));
    }

    #[test]
    fn another_lists_cursor_and_a_made_up_one_are_refused() {
        let own = cut("a", None).expect("a page").next.expect("a cursor");
        assert!(cut("a", Some(&own)).is_ok());
        assert!(cut("b", Some(&own)).is_err());
        let unencoded = own.replace('+', " ");
        let forged = own.replacen('a', "b", 1);
        assert_ne!(forged, own);
        for cursor in ["", "2", "+/=", "+/0000000é=", &unencoded, &forged] {
            assert_eq!(
                cut("a", Some(cursor)),
                Err(Refusal::foreign_cursor()),
                "{cursor}"
            );
        }
    }
}
