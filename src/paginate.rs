//! Which page comes next: pagination by offset (SPEC 4.2).

use crate::error::{DecodeError, Error};
use crate::page_views::{Offset, PageSize};

/// How many empty pages in a row are gone through before the run is given up.
pub const MOST_EMPTY_PAGES: u32 = 5;

/// A run through the pages of a list, one request after another.
///
/// Only `hasMore: false` ends the run: an empty page with `hasMore: true` is gone
/// through, since a filter may have emptied it. A run of empty pages is an error and
/// not an endless loop.
///
/// ```
/// use quillgate::{Offset, OffsetPages, PageSize};
///
/// let mut pages = OffsetPages::new(Offset::default(), PageSize::MAX);
/// assert_eq!(pages.next().map(Offset::get), Some(0));
/// pages.advance(250, true)?;
/// assert_eq!(pages.next().map(Offset::get), Some(250));
/// pages.advance(17, false)?;
/// assert_eq!(pages.next(), None);
/// # Ok::<(), quillgate::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OffsetPages {
    size: PageSize,
    next: Option<Offset>,
    empty_in_a_row: u32,
}

impl OffsetPages {
    /// A run that begins at `offset`.
    #[must_use]
    pub const fn new(offset: Offset, size: PageSize) -> Self {
        Self {
            size,
            next: Some(offset),
            empty_in_a_row: 0,
        }
    }

    /// Where the next page begins; `None` when the run is over. Asking changes nothing,
    /// so a page that failed can be asked for again.
    #[must_use]
    pub const fn next(&self) -> Option<Offset> {
        self.next
    }

    /// Rows a page.
    #[must_use]
    pub const fn size(&self) -> PageSize {
        self.size
    }

    /// Takes in the page that [`Self::next`] named: how many rows it had, and whether
    /// there are more.
    ///
    /// # Errors
    /// [`Error::Decode`] when the page has more rows than were asked for, since the next
    /// offset would yield some of them twice, and when the run has gone through
    /// [`MOST_EMPTY_PAGES`] empty pages; [`Error::Validation`] when the next offset is
    /// past 2^53 − 1. The run is over after an error.
    pub fn advance(&mut self, rows: u64, has_more: bool) -> Result<(), Error> {
        let Some(offset) = self.next.take() else {
            return Ok(());
        };
        if rows > self.size.get() {
            return Err(DecodeError::new("views", "has more rows than were asked for").into());
        }
        if !has_more {
            return Ok(());
        }
        self.empty_in_a_row = if rows == 0 {
            self.empty_in_a_row + 1
        } else {
            0
        };
        if self.empty_in_a_row == MOST_EMPTY_PAGES {
            let what = "says that there is more, after 5 empty pages in a row";
            return Err(DecodeError::new("hasMore", what).into());
        }
        self.next = Some(offset.after(self.size)?);
        Ok(())
    }
}
