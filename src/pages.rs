//! Pagination by offset and by cursor. [`Pages`] returns the call for each page of a list and ends
//! with the list.

use std::borrow::Cow;

use crate::call::Call;
use crate::cursor::read_cursor;
use crate::declaration::{Pagination, ParameterKind};
use crate::error::{DecodeError, Error, IntegerRule, ValidationError};
use crate::list::Offset;
use crate::millis::Millis;
pub use crate::parts::RowKey;
use crate::parts::{Parts, suggest_range};
use crate::text::{format_integer, quote};

/// The number of consecutive empty pages after which a list fails.
pub const MAX_EMPTY_PAGES: u32 = 5;
/// The page size of a list by offset without `limit`.
const MAX_ROWS: u64 = IntegerRule::PAGE_SIZE.max;

/// A fingerprint of a page's totals. All pages of one state of a list have equal totals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Totals(u64);

impl Totals {
    /// Returns the fingerprint of totals in any fixed notation, such as canonical JSON.
    #[must_use]
    pub fn of(text: &str) -> Self {
        Self(hash(text))
    }

    /// Returns the fingerprint with this number.
    #[must_use]
    pub const fn from_number(number: u64) -> Self {
        Self(number)
    }

    /// Returns the fingerprint as a number, to store it.
    #[must_use]
    pub const fn number(self) -> u64 {
        self.0
    }

    /// Returns whether pages come from different states of a list. Rows can then be missing or
    /// repeated. Pages without totals match any page.
    ///
    /// ```
    /// use quillgate::pages::Totals;
    ///
    /// let [before, after] = ["1,2", "1,3"].map(Totals::of);
    /// assert!(!Totals::are_mixed([Some(before), None, Some(before)]));
    /// assert!(Totals::are_mixed([Some(before), None, Some(after)]));
    /// ```
    #[must_use]
    pub fn are_mixed(pages: impl IntoIterator<Item = Option<Self>>) -> bool {
        let mut known = pages.into_iter().flatten();
        let first = known.next();
        known.any(|totals| Some(totals) != first)
    }
}

/// The pagination properties of a page.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PageInfo<'a> {
    /// The number of rows on the page.
    pub rows: u64,
    /// `hasMore`, if the page has this property.
    pub has_more: Option<bool>,
    /// `nextCursor`, if the page has one.
    pub next_cursor: Option<&'a str>,
    /// The page's totals, if it has any.
    pub totals: Option<Totals>,
    /// The keys of the rows of a list of events. Empty for other lists.
    pub keys: Vec<RowKey>,
}

/// A page that contradicts its list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PageError {
    /// A property has an invalid value.
    Decode {
        /// The property's name.
        at: &'static str,
        /// The reason.
        what: Cow<'static, str>,
    },
    /// The parameters of the next page would be invalid.
    Validation(ValidationError),
}

impl PageError {
    fn decode(at: &'static str, what: impl Into<Cow<'static, str>>) -> Self {
        let what = what.into();
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

/// An iteration over the pages of a list, one request at a time.
///
/// The list ends with `hasMore: false`. Without this property, a list by cursor ends with a page without
/// `nextCursor`, and a list by offset with a page that is not full.
/// Empty pages do not end it, because a filter may have removed their rows. A repeated cursor is an
/// error, and so are too many empty pages in a row, except in a list of jobs.
///
/// ```
/// use quillgate::pages::Pages;
/// use quillgate::{Call, Operation, PageInfo};
/// use serde_json::json;
///
/// let list = Operation::ListPageViews.declaration();
/// let mut pages = Pages::new(Call::parse(list, &json!({ "limit": 250 }))?);
/// let page = |rows, more| PageInfo { rows, has_more: Some(more), ..PageInfo::default() };
/// assert_eq!(pages.next().and_then(|call| call.integer("offset")), Some(0));
/// pages.advance(&page(250, true))?;
/// assert_eq!(pages.next().and_then(|call| call.integer("offset")), Some(250));
/// pages.advance(&page(17, false))?;
/// assert_eq!(pages.next(), None);
/// # Ok::<(), quillgate::error::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pages {
    /// The call for the next page, with its dates.
    next: Option<Call>,
    /// `next` without dates, if they made the request too long.
    undated: Option<Call>,
    /// Whether a page arrived for a request without dates. Further requests omit them, too.
    omits_dates: bool,
    /// The parts of the range, if it can be split.
    parts: Option<Box<Parts>>,
    /// Whether a position omits `limit`, because the caller set none.
    omits_limit: bool,
    /// The indices of the rows of the last page that an earlier page contained.
    repeated: Vec<usize>,
    empty_in_a_row: u32,
    /// Hashes of the cursors received so far.
    cursors: Vec<u64>,
    /// The totals of the first page that has any.
    totals: Option<Totals>,
    is_mixed: bool,
}

impl Pages {
    /// Creates an iteration that starts with this call.
    #[must_use]
    pub fn new(call: Call) -> Self {
        match Parts::resume(&call) {
            Some((parts, next)) => Self::begin(next, Some(Box::new(parts))),
            None => Self::begin(call, None),
        }
    }

    fn begin(mut call: Call, parts: Option<Box<Parts>>) -> Self {
        let omits_limit = call.text("limit").is_none();
        if let Pagination::Offset { .. } = call.declaration().pagination {
            // `step_offset` computes the next offset from these two arguments.
            let limit = call.integer("limit").or_else(|| call.default_limit());
            let offset = call.integer("offset");
            call.set("limit", format_integer(limit.unwrap_or(MAX_ROWS)));
            call.set("offset", format_integer(offset.unwrap_or(0)));
        }
        let mut cursors = Vec::new();
        if let Some(cursor) = call.text("cursor") {
            cursors.push(hash(cursor));
        }
        Self {
            next: Some(call),
            undated: None,
            omits_dates: false,
            parts,
            omits_limit,
            repeated: Vec::new(),
            empty_in_a_row: 0,
            cursors,
            totals: None,
            is_mixed: false,
        }
    }

    /// Creates an iteration over the pages from this call on, all of the same range.
    ///
    /// Sets a missing `dateTo`; see [`Call::freeze`].
    ///
    /// # Errors
    /// As [`Call::freeze`]. As [`Call::check_cursor`] for an unreadable position.
    pub fn through_range(call: Call, now: Millis) -> Result<Self, ValidationError> {
        let mut pages = Self::new(call.freeze(now)?);
        if let Some(call) = &pages.next {
            call.check_cursor()?;
            if pages.parts.is_none() {
                pages.parts = Parts::new(call).map(Box::new);
            }
        }
        Ok(pages)
    }

    /// Creates an iteration over all rows from this call on: as [`Self::through_range`], but without
    /// `limit`, pages have the largest size that the operation allows.
    ///
    /// # Errors
    /// As [`Self::through_range`].
    pub fn through_everything(mut call: Call, now: Millis) -> Result<Self, ValidationError> {
        let declared = call.declaration().parameter("limit");
        let omits_limit = call.text("limit").is_none();
        if let Some(ParameterKind::Integer { rule, .. }) = declared.map(|limit| limit.kind)
            && omits_limit
        {
            call.set("limit", format_integer(rule.max));
        }
        let mut pages = Self::through_range(call, now)?;
        pages.omits_limit = omits_limit;
        Ok(pages)
    }

    /// Returns the call for the next page, or `None` after the last page.
    ///
    /// The call stays the same until [`Self::advance`] or [`Self::after_failure`], so a failed page
    /// can be requested again.
    #[must_use]
    pub const fn next(&self) -> Option<&Call> {
        match &self.undated {
            Some(call) => Some(call),
            None => self.next.as_ref(),
        }
    }

    /// Returns the call to store, to resume the list later. Returns `None` after the last page.
    ///
    /// Its arguments other than `cursor` are those of the whole list. If the range was split, `cursor`
    /// also contains the current part, and only [`Pages`] can read it. It has no `limit` that the caller
    /// did not set, so that the rest can be read in larger pages.
    #[must_use]
    pub fn position(&self) -> Option<Call> {
        let next = self.next.as_ref()?;
        let mut call = match &self.parts {
            Some(parts) => parts.position(next),
            None => next.clone(),
        };
        if self.omits_limit {
            call.remove("limit");
        }
        Some(call)
    }

    /// Returns the indices of the rows of the last page that an earlier page contained, in ascending
    /// order. Remove them. Only a split can repeat rows.
    #[must_use]
    pub fn repeated(&self) -> &[usize] {
        &self.repeated
    }

    /// Changes the request for the next page after a response with this status. Returns `false` if
    /// the failure is final.
    ///
    /// - After a 414, omits the dates of a request with a cursor, which contains the range.
    /// - After another 414, an error of the request without dates, or a 504, splits the range of a
    ///   list of events.
    ///
    /// ```
    /// use quillgate::pages::Pages;
    /// use quillgate::{Call, Millis, Operation};
    /// use serde_json::json;
    ///
    /// let range = json!({ "dateFrom": "2024-01-01", "dateTo": "2024-03-01" });
    /// let call = Call::parse(Operation::ListFeedback.declaration(), &range)?;
    /// let mut pages = Pages::through_everything(call, Millis(0))?;
    /// assert!(pages.after_failure(504));
    /// let from = pages.next().and_then(|call| call.text("dateFrom"));
    /// assert_eq!(from, Some("2024-01-31T00:00:00.000Z"));
    /// # Ok::<(), quillgate::Error>(())
    /// ```
    pub fn after_failure(&mut self, status: u16) -> bool {
        let Some(next) = &self.next else {
            return false;
        };
        if status == 414 && self.undated.is_none() && can_omit_dates(next) {
            self.undated = Some(omit_dates(next));
            return true;
        }
        let is_too_long = matches!(status, 414 | 504);
        let is_split = is_too_long || self.undated.is_some() && matches!(status, 400 | 404 | 422);
        let parts = self.parts.as_mut().filter(|_| is_split);
        let Some(call) = parts.and_then(|parts| parts.split()) else {
            return false;
        };
        self.set_part(call);
        true
    }

    /// Returns advice for a failure with this status that is final: a shorter range may succeed.
    #[must_use]
    pub fn advise(&self, status: u16) -> Option<String> {
        let next = self.next.as_ref().filter(|_| matches!(status, 414 | 504))?;
        suggest_range(next)
    }

    fn set_part(&mut self, call: Call) {
        self.next = Some(call);
        self.undated = None;
        self.cursors.clear();
    }

    /// Returns whether the totals changed between two pages. Rows can then be missing or repeated,
    /// because new counts reorder the rows of a list by offset.
    ///
    /// Mixed pages do not end an iteration: the counts of a range that includes today change all
    /// the time.
    #[must_use]
    pub const fn is_mixed(&self) -> bool {
        self.is_mixed
    }

    /// Processes the page that [`Self::next`] requested.
    ///
    /// # Errors
    /// The iteration ends after an error.
    ///
    /// - [`PageError::Decode`] if a page by offset has more rows than its `limit`. The next page
    ///   would repeat some of them.
    /// - [`PageError::Decode`] after [`MAX_EMPTY_PAGES`] empty pages in a row, except in a
    ///   list of jobs.
    /// - [`PageError::Decode`] if `nextCursor` is missing despite `hasMore: true`, or repeats an
    ///   earlier cursor.
    /// - [`PageError::Validation`] if the next offset exceeds 2^53 − 1.
    pub fn advance(&mut self, page: &PageInfo<'_>) -> Result<(), PageError> {
        let Some(mut call) = self.next.take() else {
            return Ok(());
        };
        self.omits_dates |= self.undated.take().is_some();
        self.repeated = match &mut self.parts {
            Some(parts) => parts.take_rows(&page.keys),
            None => Vec::new(),
        };
        self.is_mixed |= Totals::are_mixed([self.totals, page.totals]);
        self.totals = self.totals.or(page.totals);
        let pagination = call.declaration().pagination;
        let has_next = match pagination {
            Pagination::None => false,
            Pagination::Offset { rows } => Self::step_offset(&mut call, rows, page)?,
            Pagination::Cursor { .. } => self.step_cursor(&mut call, page)?,
        };
        if has_next {
            if !matches!(pagination, Pagination::Cursor { scans: true, .. }) {
                self.count_empty(pagination, page)?;
            }
            self.undated = self.omits_dates.then(|| omit_dates(&call));
            self.next = Some(call);
        } else if let Some(call) = self.parts.as_mut().and_then(|parts| parts.next_part()) {
            self.set_part(call);
        }
        Ok(())
    }

    fn step_offset(
        call: &mut Call,
        rows: &'static str,
        page: &PageInfo<'_>,
    ) -> Result<bool, PageError> {
        let (limit, offset) = (call.integer("limit"), call.integer("offset"));
        let (limit, offset) = (limit.unwrap_or(MAX_ROWS), offset.unwrap_or(0));
        if page.rows > limit {
            return Err(PageError::decode(rows, "has more rows than requested"));
        }
        let has_next = has_more_rows(page.has_more, page.rows, limit);
        if has_next {
            let next = Offset::new(offset)?.after(limit)?;
            call.set("offset", format_integer(next.get()));
        }
        Ok(has_next)
    }

    fn step_cursor(&mut self, call: &mut Call, page: &PageInfo<'_>) -> Result<bool, PageError> {
        if page.has_more == Some(false) {
            return Ok(false);
        }
        let Some(cursor) = page.next_cursor.filter(|cursor| !cursor.is_empty()) else {
            if page.has_more == Some(true) {
                let what = "is missing although hasMore is true";
                return Err(PageError::decode("nextCursor", what));
            }
            return Ok(false);
        };
        let cursor = read_cursor(cursor.to_owned());
        let key = hash(&cursor);
        if self.cursors.contains(&key) {
            let what = ["repeats an earlier cursor: ", &quote(&cursor)].concat();
            return Err(PageError::decode("nextCursor", what));
        }
        self.cursors.push(key);
        call.set("cursor", cursor);
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
        if self.empty_in_a_row < MAX_EMPTY_PAGES {
            return Ok(());
        }
        let at = match (pagination, page.has_more) {
            (Pagination::Cursor { .. }, None) => "nextCursor",
            _ => "hasMore",
        };
        let what = "is set after 5 empty pages in a row";
        Err(PageError::decode(at, what))
    }
}

/// Returns whether a list by offset has rows after a page with `rows` of at most `limit` rows. Without
/// `hasMore`, a full page may have a next one.
#[must_use]
pub fn has_more_rows(has_more: Option<bool>, rows: u64, limit: u64) -> bool {
    has_more.unwrap_or(rows == limit)
}

const DATES: [&str; 2] = ["dateFrom", "dateTo"];

/// Returns whether the same page can be requested without dates. An opaque cursor can contain the
/// range, but a ULID cannot.
fn can_omit_dates(call: &Call) -> bool {
    let cursor = call.declaration().parameter("cursor");
    if !cursor.is_some_and(|cursor| cursor.kind == ParameterKind::Text) {
        return false;
    }
    let is_optional = |name| {
        let declared = call.declaration().parameter(name);
        declared.is_some_and(|parameter| !parameter.is_required)
    };
    call.text("cursor").is_some() && DATES.iter().all(|name| is_optional(name))
}

fn omit_dates(call: &Call) -> Call {
    let mut call = call.clone();
    for name in &DATES {
        call.remove(name);
    }
    call
}

/// Returns the FNV-1a hash. Two different cursors collide with a probability of about 2^−64.
pub(crate) fn hash(text: &str) -> u64 {
    let step = |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    text.bytes().fold(0xcbf2_9ce4_8422_2325, step)
}
