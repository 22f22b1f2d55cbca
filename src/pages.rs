//! Which page of a list comes next: by offset or by cursor.

use crate::call::Call;
use crate::declaration::{Pagination, ParameterKind};
use crate::error::{DecodeError, Error, IntegerRule, ValidationError};
use crate::list::Offset;
use crate::millis::Millis;
use crate::text::format_integer;

/// How many empty pages in a row are gone through before the run is given up.
pub const MOST_EMPTY_PAGES: u32 = 5;
/// The most rows that a run through everything asks for at once.
pub(crate) const MOST_ROWS: u64 = IntegerRule::PAGE_SIZE.max;

/// What a page says about the list that it is a part of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PageInfo<'a> {
    /// How many rows it has.
    pub rows: u64,
    /// `hasMore`, when the page has such a member.
    pub has_more: Option<bool>,
    /// `nextCursor`, when there is one.
    pub next_cursor: Option<&'a str>,
}

/// How a page contradicts the list that it is a part of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PageError {
    /// The page is not what its list promises.
    Decode {
        /// The member.
        at: &'static str,
        /// What is wrong with it, in words.
        what: &'static str,
    },
    /// The next page cannot be asked for.
    Validation(ValidationError),
}

impl PageError {
    const fn decode(at: &'static str, what: &'static str) -> Self {
        Self::Decode { at, what }
    }
}

impl From<ValidationError> for PageError {
    fn from(error: ValidationError) -> Self {
        Self::Validation(error)
    }
}

impl From<PageError> for Error {
    fn from(error: PageError) -> Self {
        match error {
            PageError::Decode { at, what } => DecodeError::new(at, what).into(),
            PageError::Validation(error) => error.into(),
        }
    }
}

/// A run through the pages of a list, one request after another.
///
/// Only the list itself ends the run, by `hasMore: false` or by a page without `nextCursor`: an
/// empty page is gone through, since a filter may have emptied it. A run of empty pages and a
/// cursor that came before are errors, and not an endless loop.
///
/// ```
/// use quillgate::{Call, Operation, PageInfo, Pages};
/// use serde_json::json;
///
/// let list = Operation::ListPageViews.declaration();
/// let mut pages = Pages::new(Call::parse(list, &json!({ "limit": 250 }))?);
/// let page = |rows, more| PageInfo { rows, has_more: Some(more), next_cursor: None };
/// assert_eq!(pages.next().and_then(|call| call.integer("offset")), Some(0));
/// pages.advance(&page(250, true))?;
/// assert_eq!(pages.next().and_then(|call| call.integer("offset")), Some(250));
/// pages.advance(&page(17, false))?;
/// assert_eq!(pages.next(), None);
/// # Ok::<(), quillgate::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pages {
    next: Option<Call>,
    empty_in_a_row: u32,
    /// Hashes of the cursors so far.
    cursors: Vec<u64>,
}

impl Pages {
    /// A run that begins with this call.
    #[must_use]
    pub fn new(mut call: Call) -> Self {
        if let Pagination::Offset { .. } = call.declaration().pagination {
            // Said in so many words, so that each page is told apart from the next.
            let limit = call.integer("limit").or_else(|| call.default_limit());
            let offset = call.integer("offset");
            call.set("limit", format_integer(limit.unwrap_or(MOST_ROWS)));
            call.set("offset", format_integer(offset.unwrap_or(0)));
        }
        let mut cursors = Vec::new();
        if let Some(cursor) = call.text("cursor") {
            cursors.push(hash(cursor));
        }
        Self {
            next: Some(call),
            empty_in_a_row: 0,
            cursors,
        }
    }

    /// A run through everything from this call on: it asks for the largest pages, where no size is
    /// given, and freezes an open end of its range at `now`.
    ///
    /// # Errors
    /// [`crate::Rule::BeforeDateTo`] when the range does not begin before `now`.
    pub fn through_everything(call: Call, now: Millis) -> Result<Self, ValidationError> {
        let mut call = call.freeze(now)?;
        let declared = call.declaration().parameter("limit");
        if let Some(ParameterKind::Integer { rule, .. }) = declared.map(|limit| limit.kind)
            && call.text("limit").is_none()
        {
            call.set("limit", format_integer(rule.max.min(MOST_ROWS)));
        }
        Ok(Self::new(call))
    }

    /// The call of the next page; `None` when the run is over. Asking changes nothing, so a page
    /// that failed can be asked for again. Its arguments are where the list goes on, to be kept
    /// and resumed from.
    #[must_use]
    pub const fn next(&self) -> Option<&Call> {
        self.next.as_ref()
    }

    /// Takes in the page of [`Self::next`].
    ///
    /// # Errors
    /// [`PageError::Decode`] when a list by offset has more rows than were asked for, since the next
    /// offset would yield some of them twice; when the run has gone through [`MOST_EMPTY_PAGES`]
    /// empty pages; when a page says that there is more and not where, or where the list has been
    /// before. [`PageError::Validation`] when the next offset is past 2^53 − 1. The run is over after
    /// an error.
    pub fn advance(&mut self, page: &PageInfo<'_>) -> Result<(), PageError> {
        let Some(mut call) = self.next.take() else {
            return Ok(());
        };
        let pagination = call.declaration().pagination;
        let goes_on = match pagination {
            Pagination::Whole => false,
            Pagination::Offset { rows } => Self::step_offset(&mut call, rows, page)?,
            Pagination::Cursor { .. } => self.step_cursor(&mut call, page)?,
        };
        if goes_on {
            self.count_empty(pagination, page)?;
            self.next = Some(call);
        }
        Ok(())
    }

    fn step_offset(
        call: &mut Call,
        rows: &'static str,
        page: &PageInfo<'_>,
    ) -> Result<bool, PageError> {
        let (limit, offset) = (call.integer("limit"), call.integer("offset"));
        let (limit, offset) = (limit.unwrap_or(MOST_ROWS), offset.unwrap_or(0));
        if page.rows > limit {
            return Err(PageError::decode(rows, "has more rows than were asked for"));
        }
        let goes_on = page.has_more == Some(true);
        if goes_on {
            let next = Offset::new(offset)?.after(limit)?;
            call.set("offset", format_integer(next.get()));
        }
        Ok(goes_on)
    }

    fn step_cursor(&mut self, call: &mut Call, page: &PageInfo<'_>) -> Result<bool, PageError> {
        if page.has_more == Some(false) {
            return Ok(false);
        }
        let Some(cursor) = page.next_cursor.filter(|cursor| !cursor.is_empty()) else {
            if page.has_more == Some(true) {
                let what = "is missing, although hasMore says that there is more";
                return Err(PageError::decode("nextCursor", what));
            }
            return Ok(false);
        };
        let key = hash(cursor);
        if self.cursors.contains(&key) {
            let what = "is one that the list has gone through already";
            return Err(PageError::decode("nextCursor", what));
        }
        self.cursors.push(key);
        call.set("cursor", cursor.to_owned());
        Ok(true)
    }

    fn count_empty(
        &mut self,
        pagination: Pagination,
        page: &PageInfo<'_>,
    ) -> Result<(), PageError> {
        self.empty_in_a_row = if page.rows == 0 {
            self.empty_in_a_row + 1
        } else {
            0
        };
        if self.empty_in_a_row < MOST_EMPTY_PAGES {
            return Ok(());
        }
        let at = match (pagination, page.has_more) {
            (Pagination::Cursor { .. }, None) => "nextCursor",
            _ => "hasMore",
        };
        let what = "says that there is more, after 5 empty pages in a row";
        Err(PageError::decode(at, what))
    }
}

/// FNV-1a: two cursors of one list have the same hash once in 2^64 times.
fn hash(text: &str) -> u64 {
    let step = |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    text.bytes().fold(0xcbf2_9ce4_8422_2325, step)
}
