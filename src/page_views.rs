//! Page views: how often the project's pages were read, by people and by AI
//! (SPEC 2.3 and 4.2).

use std::fmt;

use serde::de::{Deserializer, Unexpected, Visitor};
use serde::{Deserialize, Serialize};

use crate::date::{DateBound, DateRange, Millis};
use crate::encode::Query;
use crate::endpoint::{Endpoint, Method, Operation, Parameter, ParameterKind, Place, Request};
use crate::error::{Rule, ValidationError};
use crate::project::ProjectId;
use crate::schema::{Described, Kind};
use crate::value::{MAX_SAFE_INTEGER, Value, exact_integer, integer_text, optional_integer};

/// To what an open end is rounded down: five minutes.
const FREEZE_STEP: Millis = Millis::from_seconds(300);

/// How many rows a page may hold: 1 to 250 (SPEC 4.2, `limit`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct PageSize(u8);

impl PageSize {
    /// The largest page, 250 rows: what listing everything asks for, since an hour's
    /// budget is counted in requests and not in rows.
    pub const MAX: Self = Self(250);

    /// What the upstream takes when no size is given: 50 rows.
    pub const DEFAULT: Self = Self(50);

    /// A page of `rows` rows.
    ///
    /// # Errors
    /// [`Rule::PageSize`] outside of 1 to 250.
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
        match u8::try_from(rows) {
            Ok(rows @ 1..=250) => Ok(Self(rows)),
            _ => Err(ValidationError::new(
                "limit",
                Rule::PageSize,
                integer_text(rows),
            )),
        }
    }

    /// The number of rows.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0 as u64
    }
}

/// How many rows to skip: 0 to 2^53 − 1 (SPEC 4.2, `offset`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Offset(u64);

impl Offset {
    /// Skips `rows` rows.
    ///
    /// # Errors
    /// [`Rule::Offset`] above 2^53 − 1, which JSON cannot carry exactly.
    pub fn new(rows: u64) -> Result<Self, ValidationError> {
        if rows <= MAX_SAFE_INTEGER {
            return Ok(Self(rows));
        }
        Err(ValidationError::new(
            "offset",
            Rule::Offset,
            integer_text(rows),
        ))
    }

    /// The offset of a page counted from 1: `(page − 1) × limit` (SPEC 4.2).
    ///
    /// # Errors
    /// [`Rule::Offset`] for page 0, and past 2^53 − 1 rows.
    ///
    /// # Example
    /// ```
    /// use quillgate::{Offset, PageSize};
    ///
    /// assert_eq!(Offset::of_page(3, PageSize::DEFAULT)?.get(), 100);
    /// # Ok::<(), quillgate::ValidationError>(())
    /// ```
    pub fn of_page(page: u64, size: PageSize) -> Result<Self, ValidationError> {
        page.checked_sub(1)
            .and_then(|before| before.checked_mul(size.get()))
            .ok_or_else(|| ValidationError::new("offset", Rule::Offset, "a page out of range"))
            .and_then(Self::new)
    }

    /// The offset of the page after the one that began here.
    ///
    /// # Errors
    /// [`Rule::Offset`] past 2^53 − 1 rows.
    pub fn after(self, size: PageSize) -> Result<Self, ValidationError> {
        Self::new(self.0 + size.get())
    }

    /// The number of rows skipped.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }
}

/// A count of views: 0 to 2^53 − 1, which every JSON parser reads exactly.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Count(u64);

impl Count {
    /// The number.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl Described for Count {
    const KIND: Kind = Kind::Count;
}

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Integer;
        impl Visitor<'_> for Integer {
            type Value = Count;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an integer from 0 to 9007199254740991")
            }
            fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<Count, E> {
                if number <= MAX_SAFE_INTEGER {
                    return Ok(Count(number));
                }
                Err(E::invalid_value(Unexpected::Unsigned(number), &self))
            }
            // JSON does not tell 1 from 1.0 or 1e0, and neither does a JavaScript host.
            fn visit_f64<E: serde::de::Error>(self, number: f64) -> Result<Count, E> {
                match exact_integer(number).map(u64::try_from) {
                    Some(Ok(number)) => Ok(Count(number)),
                    _ => Err(E::invalid_value(Unexpected::Float(number), &self)),
                }
            }
        }
        deserializer.deserialize_any(Integer)
    }
}

record! {
    /// Views of the whole site within the range of dates.
    pub struct ViewTotals {
        /// Views by people.
        pub human as "human": Option<Count>,
        /// Views by AI.
        pub ai as "ai": Option<Count>,
        /// All views.
        pub total as "total": Option<Count>,
    }
}

record! {
    /// Views of one page within the range of dates.
    pub struct PageView {
        /// The page's path, as in `/guides/start`.
        pub path as "path": Option<String>,
        /// Views by people.
        pub human as "human": Option<Count>,
        /// Views by AI.
        pub ai as "ai": Option<Count>,
        /// All views.
        pub total as "total": Option<Count>,
    }
}

record! {
    /// One page of the list of page views.
    pub struct PageViews {
        /// Views of the whole site within the range of dates, whatever the page.
        pub totals as "totals": ViewTotals,
        /// The rows of this page: at most `limit`.
        pub views as "views": Vec<PageView>,
        /// Whether there are rows beyond this page. Only this ends a list; a page may be
        /// empty and not the last.
        pub has_more as "hasMore": bool,
    }
}

/// Get page views (SPEC 4.2): one page of the list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ListPageViews {
    /// The range of dates.
    pub range: DateRange,
    /// Rows a page; the upstream's default is 50.
    pub limit: Option<PageSize>,
    /// Rows to skip; the upstream's default is 0.
    pub offset: Option<Offset>,
}

impl Endpoint for ListPageViews {
    type Output = PageViews;

    const OPERATION: Operation = Operation {
        name: "pageViews.list",
        method: Method::Get,
        path: "/v1/analytics/{projectId}/views",
        doc: "Lists how often each page was viewed, by people and by AI.",
        scope: "analytics:read",
        parameters: &[
            Parameter {
                name: "dateFrom",
                doc: "The first day or instant that counts: `YYYY-MM-DD` or an ISO 8601 date-time.",
                place: Place::Query,
                kind: ParameterKind::Date,
                required: false,
            },
            Parameter {
                name: "dateTo",
                doc: "The first day or instant that does not count any more (exclusive): `YYYY-MM-DD` or an ISO 8601 date-time.",
                place: Place::Query,
                kind: ParameterKind::Date,
                required: false,
            },
            Parameter {
                name: "limit",
                doc: "Rows a page.",
                place: Place::Query,
                kind: ParameterKind::Integer {
                    min: 1,
                    max: 250,
                    default: 50,
                },
                required: false,
            },
            Parameter {
                name: "offset",
                doc: "Rows to skip. For page-based access: (page - 1) * limit.",
                place: Place::Query,
                kind: ParameterKind::Integer {
                    min: 0,
                    max: MAX_SAFE_INTEGER,
                    default: 0,
                },
                required: false,
            },
        ],
        result: PageViews::KIND,
    };

    fn parse<V: Value>(params: &V) -> Result<Self, ValidationError> {
        let integer = |field, rule| optional_integer(params, field, rule, 0..=MAX_SAFE_INTEGER);
        Ok(Self {
            range: DateRange::parse(params)?,
            limit: integer("limit", Rule::PageSize)?
                .map(PageSize::new)
                .transpose()?,
            offset: integer("offset", Rule::Offset)?
                .map(Offset::new)
                .transpose()?,
        })
    }

    fn request(&self, project: &ProjectId) -> Request {
        let mut query = Query::default();
        if let Some(from) = self.range.from() {
            query.push("dateFrom", from.as_str());
        }
        if let Some(to) = self.range.to() {
            query.push("dateTo", to.as_str());
        }
        if let Some(limit) = self.limit {
            query.push("limit", &integer_text(limit.get()));
        }
        if let Some(offset) = self.offset {
            query.push("offset", &integer_text(offset.get()));
        }
        let mut target = String::from("/v1/analytics/");
        target.push_str(&project.as_path_segment());
        target.push_str("/views");
        target.push_str(&query.into_string());
        Request {
            method: Method::Get,
            target,
            body: None,
        }
    }
}

impl ListPageViews {
    /// The same list with `dateTo` set, where it was open, so that every page of one run comes from
    /// one range: to `now`, rounded down to five minutes, so that runs of the same five minutes
    /// are answered from one cache. A range that began within them ends at `now` itself.
    ///
    /// # Errors
    /// [`Rule::BeforeDateTo`] when `dateFrom` is not before `now`.
    ///
    /// # Example
    /// ```
    /// use quillgate::{DateBound, ListPageViews, Millis};
    ///
    /// let list = ListPageViews::default().frozen_at(Millis(1_709_210_096_789))?;
    /// assert_eq!(list.range.to().map(DateBound::as_str), Some("2024-02-29T12:30:00.000Z"));
    /// # Ok::<(), quillgate::ValidationError>(())
    /// ```
    pub fn frozen_at(mut self, now: Millis) -> Result<Self, ValidationError> {
        if self.range.to().is_none() {
            let rounded = Millis(now.0 / FREEZE_STEP.0 * FREEZE_STEP.0);
            let from = self.range.from();
            let has_begun = from.is_none_or(|from| from.is_before_in_utc(rounded));
            let end = DateBound::from_instant(if has_begun { rounded } else { now });
            self.range = DateRange::new(self.range.from().cloned(), Some(end))?;
        }
        Ok(self)
    }
}
