//! How many rows of a list, and from where on.

use crate::error::{IntegerRule, Rule, ValidationError};
use crate::text::MAX_SAFE_INTEGER;

/// The name of the parameter that counts pages from 1.
pub(crate) const PAGE: &str = "page";

/// How many rows a page may hold: 1 to `MAX`; the server takes `DEFAULT` when nothing is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Limit<const MAX: u64, const DEFAULT: u64>(u64);

/// How many rows a page of feedback or searches may hold: 1 to 100 (docs/platform.md, 4.6 and 4.8).
pub type SmallPageSize = Limit<100, 50>;

/// How many rows a page of views or visitors may hold: 1 to 250 (docs/platform.md, 4.2, `limit`).
pub type PageSize = Limit<{ IntegerRule::PAGE_SIZE.max }, 50>;

impl<const MAX: u64, const DEFAULT: u64> Limit<MAX, DEFAULT> {
    /// The largest page. Whatever lists everything asks for it, since an hour's budget is counted
    /// in requests and not in rows.
    pub const MAX: Self = Self(MAX);

    /// What the server takes when no size is given.
    pub const DEFAULT: Self = Self(DEFAULT);

    /// The bounds.
    pub(crate) const RULE: IntegerRule = IntegerRule::page_size(MAX);

    /// A page of `rows` rows.
    ///
    /// # Errors
    /// [`Rule::Integer`] outside of 1 to `MAX`.
    ///
    /// # Example
    /// ```
    /// use quillgate::PageSize;
    ///
    /// assert_eq!(PageSize::new(250)?, PageSize::MAX);
    /// assert!(PageSize::new(0).is_err());
    /// # Ok::<(), quillgate::ValidationError>(())
    /// ```
    pub fn new(rows: u64) -> Result<Self, ValidationError> {
        const { &Self::RULE }.check("limit", rows).map(Self)
    }

    /// The number of rows.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }
}

/// How many rows to skip: 0 to 2^53 − 1 (docs/platform.md, 4.2, `offset`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Offset(u64);

impl Offset {
    /// Skips `rows` rows.
    ///
    /// # Errors
    /// [`Rule::OFFSET`] above 2^53 − 1, which JSON cannot carry exactly.
    pub fn new(rows: u64) -> Result<Self, ValidationError> {
        IntegerRule::OFFSET.check("offset", rows).map(Self)
    }

    /// The offset of a page counted from 1: `(page − 1) × limit` (docs/platform.md, 4.2).
    ///
    /// # Errors
    /// [`Rule::OFFSET`] for page 0, and past 2^53 − 1 rows.
    ///
    /// # Example
    /// ```
    /// use quillgate::{Offset, PageSize};
    ///
    /// assert_eq!(Offset::of_page(3, PageSize::DEFAULT.get())?.get(), 100);
    /// # Ok::<(), quillgate::ValidationError>(())
    /// ```
    pub fn of_page(page: u64, limit: u64) -> Result<Self, ValidationError> {
        // Compared and not multiplied first: the product of two such numbers may need 128 bits.
        match page.checked_sub(1) {
            Some(before) if limit == 0 || before <= MAX_SAFE_INTEGER / limit => {
                Self::new(before * limit)
            }
            _ => Err(ValidationError::new(
                "offset",
                Rule::OFFSET,
                "a page out of range",
            )),
        }
    }

    /// The offset of the page after the one that began here.
    ///
    /// # Errors
    /// [`Rule::OFFSET`] past 2^53 − 1 rows.
    pub fn after(self, limit: u64) -> Result<Self, ValidationError> {
        Self::new(self.0.saturating_add(limit))
    }

    /// The number of rows skipped.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }
}
