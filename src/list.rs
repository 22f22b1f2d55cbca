//! Page sizes and offsets of lists.

use crate::error::{IntegerRule, Rule, ValidationError};

/// The name of the parameter for a page number, counted from 1.
pub(crate) const PAGE: &str = "page";

/// The maximum number of rows per page: 1 to `MAX`. The server's default is `DEFAULT`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Limit<const MAX: u64, const DEFAULT: u64>(u64);

/// The page size of feedback and searches: 1 to 100 rows (docs/mintlify/analytics.md, 4.6 and 4.8).
pub type SmallPageSize = Limit<100, 50>;

/// The page size of views and visitors: 1 to 250 rows (docs/mintlify/analytics.md, 4.2, `limit`).
pub type PageSize = Limit<{ IntegerRule::PAGE_SIZE.max }, 50>;

impl<const MAX: u64, const DEFAULT: u64> Limit<MAX, DEFAULT> {
    /// The maximum. Requests for whole lists use it, because the hourly budget counts requests, not
    /// rows.
    pub const MAX: Self = Self(MAX);

    /// The server's default.
    pub const DEFAULT: Self = Self(DEFAULT);

    /// The bounds.
    pub(crate) const RULE: IntegerRule = IntegerRule::page_size(MAX);

    /// Creates a page size of `rows` rows.
    ///
    /// # Errors
    /// [`Rule::Integer`] if `rows` is not in the range 1 to `MAX`.
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

    /// Returns the number of rows.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }
}

/// The number of rows to skip: 0 to 2^53 − 1 (docs/mintlify/analytics.md, 4.2, `offset`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Offset(u64);

impl Offset {
    /// Creates an offset that skips `rows` rows.
    ///
    /// # Errors
    /// [`Rule::OFFSET`] if `rows` exceeds 2^53 − 1, the largest integer that is exact in JSON.
    pub fn new(rows: u64) -> Result<Self, ValidationError> {
        IntegerRule::OFFSET.check("offset", rows).map(Self)
    }

    /// Returns the offset of a page: `(page − 1) × limit` (docs/mintlify/analytics.md, 4.2).
    ///
    /// Pages are counted from 1.
    ///
    /// # Errors
    /// [`Rule::OFFSET`] if `page` is 0 or the offset exceeds 2^53 − 1.
    ///
    /// # Example
    /// ```
    /// use quillgate::{Offset, PageSize};
    ///
    /// assert_eq!(Offset::of_page(3, PageSize::DEFAULT.get())?.get(), 100);
    /// # Ok::<(), quillgate::ValidationError>(())
    /// ```
    pub fn of_page(page: u64, limit: u64) -> Result<Self, ValidationError> {
        // `checked_mul` would add a 128-bit multiplication to the package's wasm.
        match page.checked_sub(1) {
            Some(before) if before <= u64::MAX / limit.max(1) => Self::new(before * limit),
            _ => Err(ValidationError::new(
                "offset",
                Rule::OFFSET,
                "a page out of range",
            )),
        }
    }

    /// Returns the offset of the page after a page of `limit` rows.
    ///
    /// # Errors
    /// [`Rule::OFFSET`] if the offset exceeds 2^53 − 1.
    pub fn after(self, limit: u64) -> Result<Self, ValidationError> {
        Self::new(self.0.saturating_add(limit))
    }

    /// Returns the number of rows to skip.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }
}
