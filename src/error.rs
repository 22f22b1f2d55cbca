//! What can go wrong, each with the data a caller needs to act.

use std::borrow::Cow;
use std::fmt;

use crate::agent_job::AgentJob;
use crate::date::Millis;
use crate::retry::Failure;

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
    /// The text has to have at least one character (SPEC 2.2 and 4).
    NotEmpty,
    /// The text must not be `.` or `..`: a URL parser takes them, percent-encoded
    /// or not, for steps in the path (WHATWG URL, "double-dot path segment").
    NotDotSegment,
    /// The gateway takes ids as they are: percent-decoded once, they hold no `/`, `\\`,
    /// `%`, `?`, `#` or control character, so that no server behind it reads another path.
    PathSegment,
    /// An integer from 1 to 250 (SPEC 4.2, `limit`).
    PageSize,
    /// An integer from 1 to 100: `limit` of a gateway's list of jobs.
    JobPageSize,
    /// An integer from 0 to 2^53 − 1 (SPEC 4.2, `offset`).
    Offset,
    /// `YYYY-MM-DD` or an ISO 8601 date-time (SPEC 4.2).
    DateFormat,
    /// A day that the calendar has.
    CalendarDate,
    /// `dateFrom` has to be before `dateTo`, whose day is not included (SPEC 4.2).
    BeforeDateTo,
    /// An absolute `http:` or `https:` URL without credentials, query or fragment.
    BaseUrl,
    /// An `https:` URL, or `http:` on this machine: an admin key is sent nowhere else.
    SecureBaseUrl,
    /// The platform's admin key: begins with `mint_`, and is neither an assistant key
    /// (`mint_dsc_`) nor an index key (`mint_us_`).
    AdminKey,
    /// A length of time in milliseconds, an integer from 1 to 2^31 − 1.
    Milliseconds,
    /// An integer from 0 to 10.
    RetryCount,
    /// A key that an HTTP header can carry: 1 to 255 visible ASCII characters.
    IdempotencyKey,
    /// A value that an HTTP header can carry: visible ASCII, no spaces.
    Credential,
    /// A parameter that the operation does not have.
    Unknown,
    /// A parameter that may stand only once.
    Once,
}

impl Rule {
    /// Every rule.
    pub const ALL: [Self; 20] = [
        Self::Required,
        Self::Text,
        Self::NotEmpty,
        Self::NotDotSegment,
        Self::PathSegment,
        Self::PageSize,
        Self::JobPageSize,
        Self::Offset,
        Self::DateFormat,
        Self::CalendarDate,
        Self::BeforeDateTo,
        Self::BaseUrl,
        Self::SecureBaseUrl,
        Self::AdminKey,
        Self::Milliseconds,
        Self::RetryCount,
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
            Self::PageSize => "page-size",
            Self::JobPageSize => "job-page-size",
            Self::Offset => "offset",
            Self::DateFormat => "date-format",
            Self::CalendarDate => "calendar-date",
            Self::BeforeDateTo => "before-date-to",
            Self::BaseUrl => "base-url",
            Self::SecureBaseUrl => "secure-base-url",
            Self::AdminKey => "admin-key",
            Self::Milliseconds => "milliseconds",
            Self::RetryCount => "retry-count",
            Self::IdempotencyKey => "idempotency-key",
            Self::Credential => "credential",
            Self::Unknown => "unknown",
            Self::Once => "once",
        }
    }

    const fn text(self) -> &'static str {
        match self {
            Self::Required => "is required",
            Self::Text => "must be text",
            Self::NotEmpty => "must have at least one character",
            Self::NotDotSegment => "must not be \".\" or \"..\"",
            Self::PathSegment => "must not hold / \\ % ? # or control characters",
            Self::PageSize => "must be an integer from 1 to 250",
            Self::JobPageSize => "must be an integer from 1 to 100",
            Self::Offset => "must be an integer from 0 to 9007199254740991",
            Self::DateFormat => "must be a date as YYYY-MM-DD or an ISO 8601 date-time",
            Self::CalendarDate => "must be a day and a time that exist",
            Self::BeforeDateTo => "must be before dateTo",
            Self::BaseUrl => {
                "must be an absolute http or https URL without credentials, query or fragment"
            }
            Self::SecureBaseUrl => "must be https for an admin key, or http on this machine",
            Self::AdminKey => {
                "must be an admin key, which begins with mint_ and not with mint_dsc_ or mint_us_"
            }
            Self::Milliseconds => "must be an integer of milliseconds from 1 to 2147483647",
            Self::RetryCount => "must be an integer from 0 to 10",
            Self::IdempotencyKey => "must be 1 to 255 visible ASCII characters",
            Self::Credential => "must be visible ASCII characters without spaces",
            Self::Unknown => "is not a parameter of this operation",
            Self::Once => "must stand only once",
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

/// A value was refused before anything was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValidationError {
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
        Self {
            field: field.into(),
            rule,
            found: found.into(),
        }
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
        let mut message = String::from(self.field.as_ref());
        message.push(' ');
        message.push_str(self.rule.text());
        if !self.found.is_empty() {
            message.push_str(", found ");
            message.push_str(&self.found);
        }
        message
    }
}

impl fmt::Display for ValidationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message())
    }
}

impl std::error::Error for ValidationError {}

/// The other side answered, and the answer is not a success.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiError {
    /// The HTTP status, as received.
    pub status: u16,
    /// The other side's own words where it gave any, else the status in words.
    pub message: String,
    /// Further messages: `details[].message` of an analytics error, `errors[].detail` of a problem.
    pub details: Vec<String>,
    /// The problem's `type` (RFC 9457), when the answer is a problem.
    pub code: Option<String>,
    /// `X-Request-Id`, when the answer has one.
    pub request_id: Option<String>,
    /// How long the other side asks to wait, from `Retry-After` (RFC 9110, section 10.2.3).
    pub retry_after: Option<Millis>,
}

/// The problem `type` of a gateway that is still carrying out the request of this idempotency key.
pub const KEY_IN_USE: &str = "/problems/idempotency-key-in-use";

impl ApiError {
    /// The failure that this answer is.
    ///
    /// ```
    /// use quillgate::{ApiError, Failure, Millis, response::Head};
    ///
    /// let head = Head { status: 409, ..Head::default() };
    /// let body = serde_json::json!({ "type": "/problems/idempotency-key-in-use" });
    /// assert_eq!(head.api_error(Some(&body), Millis(0)).failure(), Failure::StillRunning);
    /// ```
    #[must_use]
    pub fn failure(&self) -> Failure {
        match self.status {
            409 if self.code.as_deref() == Some(KEY_IN_USE) => Failure::StillRunning,
            status => Failure::Status(status),
        }
    }
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
    /// The other side said no.
    Api(ApiError),
    /// The other side said yes, and the body is not what it promised.
    Decode(DecodeError),
    /// No answer: the connection failed or broke.
    Connection {
        /// The host's own words.
        message: String,
    },
    /// No complete answer in time.
    Timeout {
        /// The limit that ran out, in milliseconds.
        after: Millis,
    },
    /// The caller took the call back.
    Aborted,
    /// The job was not finished when the wait's deadline came.
    JobWaitTimeout {
        /// The job as last seen, when it was seen at all.
        last: Option<Box<AgentJob>>,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Validation(error) => error.fmt(f),
            Self::Api(error) => error.fmt(f),
            Self::Decode(error) => error.fmt(f),
            Self::Connection { message } => write!(f, "no answer: {message}"),
            Self::Timeout { after } => write!(f, "no complete answer within {} ms", after.0),
            Self::Aborted => f.write_str("the call was aborted"),
            Self::JobWaitTimeout { .. } => f.write_str("the job was not finished in time"),
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
