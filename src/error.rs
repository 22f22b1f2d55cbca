//! What can go wrong, each with the data a caller needs to act.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;

use crate::millis::Millis;
use crate::text::{MAX_SAFE_INTEGER, format_integer, push_integer, sanitize};

/// The rule that a value breaks.
///
/// [`Rule::name`] is stable and meant for programs; the text of [`Rule`] as
/// [`fmt::Display`] is meant for people and may change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Rule {
    /// The value has to be there.
    Required,
    /// The value has to be text.
    Text,
    /// The text has to have at least one character (docs/platform.md, 2.2 and 4).
    NotEmpty,
    /// The text must not be `.` or `..`: a URL parser takes them, percent-encoded
    /// or not, for steps in the path (WHATWG URL, "double-dot path segment").
    NotDotSegment,
    /// The gateway takes ids as they are: percent-decoded once, they hold no `/`, `\\`,
    /// `%`, `?`, `#` or control character, so that no server behind it reads another path.
    PathSegment,
    /// An integer within bounds.
    Integer(&'static IntegerRule),
    /// `page` stands in the place of `offset`, so the two exclude each other.
    NotWithOffset,
    /// One of these texts.
    OneOf(&'static [&'static str]),
    /// A ULID: 26 characters of Crockford's base 32.
    Ulid,
    /// `YYYY-MM-DD` or an ISO 8601 date-time (docs/platform.md, 4.2).
    DateFormat,
    /// A day that the calendar has.
    CalendarDate,
    /// `dateFrom` has to be before `dateTo`, whose day is not included (docs/platform.md, 4.2).
    BeforeDateTo,
    /// An absolute `http:` or `https:` URL without credentials, query or fragment.
    BaseUrl,
    /// An `https:` URL, or `http:` on this machine: an admin key is sent nowhere else.
    SecureBaseUrl,
    /// The platform's admin key: begins with `mint_`, and is neither an assistant key
    /// (`mint_dsc_`) nor an index key (`mint_us_`).
    AdminKey,
    /// A key that an HTTP header can carry: 1 to 255 visible ASCII characters.
    IdempotencyKey,
    /// A value that an HTTP header can carry: visible ASCII, no spaces.
    Credential,
    /// A parameter that the operation does not have.
    Unknown,
    /// A parameter that may stand only once.
    Once,
}

/// The bounds of an integer, which stand here and nowhere else.
#[derive(Debug, PartialEq, Eq)]
pub struct IntegerRule {
    /// What the integer counts.
    pub kind: IntegerKind,
    /// The smallest value.
    pub min: u64,
    /// The largest value.
    pub max: u64,
}

/// What an integer counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IntegerKind {
    /// Rows of a page.
    PageSize,
    /// Jobs of a page.
    JobPageSize,
    /// Rows to skip.
    Offset,
    /// Pages.
    Page,
    /// Milliseconds.
    Milliseconds,
    /// How often a request is sent again.
    RetryCount,
}

impl IntegerRule {
    /// How many rows to skip: all that JSON can carry exactly (docs/platform.md, 4.2, `offset`).
    pub const OFFSET: Self = Self::new(IntegerKind::Offset, 0, MAX_SAFE_INTEGER);
    /// A page of a list, counted from 1.
    pub const PAGE: Self = Self::new(IntegerKind::Page, 1, MAX_SAFE_INTEGER);
    /// How many rows a page of views or visitors may hold (docs/platform.md, 4.2, `limit`).
    pub const PAGE_SIZE: Self = Self::page_size(250);
    /// How many jobs a page of a gateway's list may hold.
    pub const JOB_PAGE_SIZE: Self = Self::new(IntegerKind::JobPageSize, 1, 100);
    /// How often a request is sent again.
    pub const RETRY_COUNT: Self = Self::new(IntegerKind::RetryCount, 0, 10);
    /// A length of time that a host's timer takes.
    pub const MILLISECONDS: Self = Self::new(IntegerKind::Milliseconds, 1, (1 << 31) - 1);

    const fn new(kind: IntegerKind, min: u64, max: u64) -> Self {
        Self { kind, min, max }
    }

    /// How many rows a page may hold.
    #[must_use]
    pub const fn page_size(max: u64) -> Self {
        Self::new(IntegerKind::PageSize, 1, max)
    }

    /// The bounds in words: `1 to 250`.
    fn describe_bounds(&self) -> String {
        let mut bounds = format_integer(self.min);
        bounds.push_str(" to ");
        push_integer(&mut bounds, self.max, 1);
        bounds
    }

    /// Checks that a number is within the bounds, and gives it back.
    ///
    /// # Errors
    /// [`Rule::Integer`] when it is not.
    pub fn check(&'static self, field: &'static str, number: u64) -> Result<u64, ValidationError> {
        if (self.min..=self.max).contains(&number) {
            return Ok(number);
        }
        let found = format_integer(number);
        Err(ValidationError::new(field, Rule::Integer(self), found))
    }
}

impl Rule {
    /// The rule of `offset`.
    pub const OFFSET: Self = Self::Integer(&IntegerRule::OFFSET);
    /// The rule of a page's `limit`: every such rule has its name, and bounds of its own.
    pub const PAGE_SIZE: Self = Self::Integer(&IntegerRule::PAGE_SIZE);
    /// The rule of `limit` of a gateway's list of jobs.
    pub const JOB_PAGE_SIZE: Self = Self::Integer(&IntegerRule::JOB_PAGE_SIZE);
    /// The rule of lengths of time.
    pub const MILLISECONDS: Self = Self::Integer(&IntegerRule::MILLISECONDS);
    /// The rule of how often a request is sent again.
    pub const RETRY_COUNT: Self = Self::Integer(&IntegerRule::RETRY_COUNT);

    /// Every rule, one for each name.
    pub const ALL: [Self; 24] = [
        Self::Required,
        Self::Text,
        Self::NotEmpty,
        Self::NotDotSegment,
        Self::PathSegment,
        Self::PAGE_SIZE,
        Self::JOB_PAGE_SIZE,
        Self::OFFSET,
        Self::Integer(&IntegerRule::PAGE),
        Self::NotWithOffset,
        Self::DateFormat,
        Self::CalendarDate,
        Self::BeforeDateTo,
        Self::OneOf(&[]),
        Self::Ulid,
        Self::BaseUrl,
        Self::SecureBaseUrl,
        Self::AdminKey,
        Self::MILLISECONDS,
        Self::RETRY_COUNT,
        Self::IdempotencyKey,
        Self::Credential,
        Self::Unknown,
        Self::Once,
    ];

    /// The rule's stable name, as in `ValidationError.rule` and in a problem's `errors[].rule`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Required => "required",
            Self::Text => "text",
            Self::NotEmpty => "not-empty",
            Self::NotDotSegment => "not-dot-segment",
            Self::PathSegment => "path-segment",
            Self::Integer(rule) => match rule.kind {
                IntegerKind::PageSize => "page-size",
                IntegerKind::JobPageSize => "job-page-size",
                IntegerKind::Offset => "offset",
                IntegerKind::Page => "page",
                IntegerKind::Milliseconds => "milliseconds",
                IntegerKind::RetryCount => "retry-count",
            },
            Self::NotWithOffset => "not-with-offset",
            Self::DateFormat => "date-format",
            Self::CalendarDate => "calendar-date",
            Self::BeforeDateTo => "before-date-to",
            Self::OneOf(_) => "one-of",
            Self::Ulid => "ulid",
            Self::BaseUrl => "base-url",
            Self::SecureBaseUrl => "secure-base-url",
            Self::AdminKey => "admin-key",
            Self::IdempotencyKey => "idempotency-key",
            Self::Credential => "credential",
            Self::Unknown => "unknown",
            Self::Once => "once",
        }
    }

    /// The rule's place in [`Self::ALL`], by which the package knows its name and its words.
    #[must_use]
    pub const fn number(self) -> u32 {
        match self {
            Self::Required => 0,
            Self::Text => 1,
            Self::NotEmpty => 2,
            Self::NotDotSegment => 3,
            Self::PathSegment => 4,
            Self::Integer(rule) => match rule.kind {
                IntegerKind::PageSize => 5,
                IntegerKind::JobPageSize => 6,
                IntegerKind::Offset => 7,
                IntegerKind::Page => 8,
                IntegerKind::Milliseconds => 18,
                IntegerKind::RetryCount => 19,
            },
            Self::NotWithOffset => 9,
            Self::DateFormat => 10,
            Self::CalendarDate => 11,
            Self::BeforeDateTo => 12,
            Self::OneOf(_) => 13,
            Self::Ulid => 14,
            Self::BaseUrl => 15,
            Self::SecureBaseUrl => 16,
            Self::AdminKey => 17,
            Self::IdempotencyKey => 20,
            Self::Credential => 21,
            Self::Unknown => 22,
            Self::Once => 23,
        }
    }

    /// What follows [`Self::text`]: the bounds of an integer, or the known texts.
    #[must_use]
    pub fn detail(self) -> String {
        match self {
            Self::Integer(rule) => rule.describe_bounds(),
            Self::OneOf(known) => {
                let mut list = String::new();
                for text in known {
                    list.push_str(if list.is_empty() { "" } else { ", " });
                    list.push_str(text);
                }
                list
            }
            _ => String::new(),
        }
    }

    /// The rule in words, which [`Self::detail`] completes.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::Integer(rule) => match rule.kind {
                IntegerKind::Milliseconds => "must be an integer of milliseconds from ",
                _ => "must be an integer from ",
            },
            Self::OneOf(_) => "must be one of ",
            Self::Required => "is required",
            Self::Text => "must be text",
            Self::NotEmpty => "must have at least one character",
            Self::NotDotSegment => "must not be \".\" or \"..\"",
            Self::PathSegment => "must not hold / \\ % ? # or control characters",
            Self::NotWithOffset => "must not stand together with offset",
            Self::DateFormat => "must be a date as YYYY-MM-DD or an ISO 8601 date-time",
            Self::CalendarDate => "must be a day and a time that exist",
            Self::BeforeDateTo => "must be before dateTo",
            Self::Ulid => "must be a ULID, which has 26 letters and digits",
            Self::BaseUrl => {
                "must be an absolute http or https URL without credentials, query or fragment"
            }
            Self::SecureBaseUrl => "must be https for an admin key, or http on this machine",
            Self::AdminKey => {
                "must be an admin key, which begins with mint_ and not with mint_dsc_ or mint_us_"
            }
            Self::IdempotencyKey => "must be 1 to 255 visible ASCII characters",
            Self::Credential => "must be visible ASCII characters without spaces",
            Self::Unknown => "is not a parameter of this operation",
            Self::Once => "must stand only once",
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())?;
        f.write_str(&self.detail())
    }
}

/// A value was refused before anything was sent: see [`Violation`].
///
/// One word wide, since every check can return one and few do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValidationError(Box<Violation>);

/// What is wrong with a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// The parameter, spelled as the upstream spells it: `prompt`, `limit`, `dateFrom`.
    pub field: Cow<'static, str>,
    /// The rule that the value breaks.
    pub rule: Rule,
    /// What was found instead, in words; never the value of a secret or a prompt.
    pub found: Cow<'static, str>,
}

impl ValidationError {
    /// A refusal of `field` by `rule`, with what was found in words.
    #[cold]
    pub fn new(
        field: impl Into<Cow<'static, str>>,
        rule: Rule,
        found: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self(Box::new(Violation {
            field: field.into(),
            rule,
            found: found.into(),
        }))
    }

    /// A refusal of a parameter that the operation does not have.
    #[cold]
    #[must_use]
    pub fn unknown(name: &str) -> Self {
        Self::new(sanitize(name), Rule::Unknown, "")
    }

    /// The refusal as one sentence: the field, the rule, what was found.
    ///
    /// ```
    /// use quillgate::PageSize;
    ///
    /// let error = PageSize::new(251).unwrap_err();
    /// assert_eq!(error.message(), "limit must be an integer from 1 to 250, found 251");
    /// ```
    #[must_use]
    pub fn message(&self) -> String {
        let rule = (self.rule.text(), self.rule.detail());
        let mut message = [&self.field, " ", rule.0, &rule.1].concat();
        if !self.found.is_empty() {
            message.push_str(", found ");
            message.push_str(&self.found);
        }
        message
    }
}

impl Deref for ValidationError {
    type Target = Violation;

    fn deref(&self) -> &Violation {
        &self.0
    }
}

impl fmt::Display for ValidationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message())
    }
}

impl std::error::Error for ValidationError {}

/// The server answered, and the answer is not a success.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiError {
    /// The HTTP status, as received.
    pub status: u16,
    /// The server's own words where it gave any, else the status in words.
    pub message: String,
    /// Further messages: `details[].message` of an analytics error, `errors[].detail` of a problem.
    pub details: Vec<String>,
    /// The problem's `type` (RFC 9457), when the answer is a problem.
    pub code: Option<String>,
    /// `X-Request-Id`, when the answer has one.
    pub request_id: Option<String>,
    /// How long the server asks to wait, from `Retry-After` (RFC 9110, section 10.2.3).
    pub retry_after: Option<Millis>,
}

impl fmt::Display for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "status {}: {}", self.status, self.message)
    }
}

impl std::error::Error for ApiError {}

/// A success whose body is not what the operation promises.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecodeError {
    /// The path in the JSON, as in `views[3].human`; empty for the whole body.
    pub at: String,
    /// What is wrong there, in words.
    pub what: String,
}

impl DecodeError {
    /// A body that is not the promised shape at `at`.
    #[cold]
    pub fn new(at: impl Into<String>, what: impl Into<String>) -> Self {
        Self {
            at: at.into(),
            what: what.into(),
        }
    }
}

#[cfg(feature = "json")]
impl DecodeError {
    /// The same error, seen from what holds the value as `step`.
    pub(crate) fn under(mut self, step: &str) -> Self {
        let joint = if self.at.is_empty() || self.at.starts_with('[') {
            ""
        } else {
            "."
        };
        self.at = [step, joint, &self.at].concat();
        self
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.at.is_empty() { "body" } else { &self.at })?;
        f.write_str(" ")?;
        f.write_str(&self.what)
    }
}

impl std::error::Error for DecodeError {}

/// Everything that can go wrong between a call and its result.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Error {
    /// Bad input; nothing was sent.
    Validation(ValidationError),
    /// The server said no.
    Api(ApiError),
    /// The server said yes, and the body is not what it promised.
    Decode(DecodeError),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Validation(error) => error.fmt(f),
            Self::Api(error) => error.fmt(f),
            Self::Decode(error) => error.fmt(f),
        }
    }
}

/// A variant says all that its data does, so none of them is a source of its own.
impl std::error::Error for Error {}

impl From<ValidationError> for Error {
    fn from(error: ValidationError) -> Self {
        Self::Validation(error)
    }
}

impl From<ApiError> for Error {
    fn from(error: ApiError) -> Self {
        Self::Api(error)
    }
}

impl From<DecodeError> for Error {
    fn from(error: DecodeError) -> Self {
        Self::Decode(error)
    }
}
