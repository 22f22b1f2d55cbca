//! Errors, with the data that callers need to react.

mod decode_error;

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;
use std::time::Duration;

pub use decode_error::DecodeError;

use crate::text::{MAX_SAFE_INTEGER, format_integer, push_integer, sanitize};

/// Declares [`Rule`]: its variants with their names and their texts.
macro_rules! rules {
    ($($(#[doc = $doc:literal])+ $variant:ident = $name:literal, $text:literal;)+) => {
        /// A rule that an invalid value breaks.
        ///
        /// [`Rule::name`] is stable. The text from [`fmt::Display`] is for people and may change.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum Rule {
            $($(#[doc = $doc])+ $variant,)+
            /// The value must be an integer within inclusive bounds.
            Integer(&'static IntegerRule),
            /// The value must be one of these strings.
            OneOf(&'static [&'static str]),
        }

        impl Rule {
            /// All rules, one per name. Rules with parameters have placeholder or typical values
            /// here.
            pub const ALL: &'static [Self] = &[
                $(Self::$variant,)+
                Self::OneOf(&[]),
                Self::PAGE_SIZE,
                Self::OFFSET,
                Self::Integer(&IntegerRule::PAGE),
                Self::MILLISECONDS,
                Self::RETRY_COUNT,
            ];

            /// Returns the rule's stable name, used in `ValidationError.rule` and in
            /// `errors[].rule` of a problem.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                    Self::Integer(rule) => rule.kind.name(),
                    Self::OneOf(_) => "one-of",
                }
            }

            /// Returns the index in [`Self::ALL`], by which the package looks up names and messages.
            /// Comparing names would add them to the package's wasm.
            #[must_use]
            pub const fn number(self) -> u32 {
                enum Plain {
                    $($variant,)+
                    OneOf,
                }
                match self {
                    $(Self::$variant => Plain::$variant as u32,)+
                    Self::OneOf(_) => Plain::OneOf as u32,
                    Self::Integer(rule) => Plain::OneOf as u32 + 1 + rule.kind as u32,
                }
            }

            /// Returns the rule as text without its parameters; see [`Self::detail`].
            #[must_use]
            pub const fn text(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)+
                    Self::Integer(rule) => match rule.kind {
                        IntegerKind::Milliseconds => "must be an integer of milliseconds from ",
                        _ => "must be an integer from ",
                    },
                    Self::OneOf(_) => "must be one of ",
                }
            }
        }
    };
}

rules! {
    /// The value is required.
    Required = "required", "is required";
    /// The value must be a string.
    Text = "text", "must be a string";
    /// The string must have at least one character (docs/mintlify/jobs.md, 2.2).
    NotEmpty = "not-empty", "must have at least one character";
    /// The string must not be `.` or `..`. URL parsers resolve both as path steps, even
    /// percent-encoded (WHATWG URL, "double-dot path segment").
    NotDotSegment = "not-dot-segment", "must not be \".\" or \"..\"";
    /// After one percent-decoding, an id in a gateway's path must not contain `/`, `\`, `%`, `?`,
    /// `#` or a control character. So no server behind the gateway can read it as another path.
    PathSegment = "path-segment", "must not contain / \\ % ? # or control characters";
    /// An id must be at most [`MAX_ID_BYTES`](crate::project::MAX_ID_BYTES) bytes long in UTF-8.
    IdLength = "id-length", "must be at most 256 bytes long in UTF-8";
    /// An id must not contain control characters, such as the carriage return of a line in a file.
    NoControlCharacter = "no-control-character", "must not contain control characters";
    /// `page` and `offset` must not be combined, because `page` is sent as `offset`.
    NotWithOffset = "not-with-offset", "must not be combined with offset";
    /// The value must be a ULID: 26 characters of Crockford's base 32.
    Ulid = "ulid", "must be a ULID of 26 letters and digits";
    /// The value must be `YYYY-MM-DD` or an ISO 8601 date-time (docs/mintlify/analytics.md, 4.2).
    DateFormat = "date-format", "must be a date as YYYY-MM-DD or an ISO 8601 date-time";
    /// The day and time must exist.
    CalendarDate = "calendar-date", "must be an existing date and time";
    /// `dateFrom` must be before `dateTo`, which is exclusive (docs/mintlify/analytics.md, 4.2).
    BeforeDateTo = "before-date-to", "must be before dateTo";
    /// The URL must be an absolute `http:` or `https:` URL without credentials, query or fragment.
    BaseUrl = "base-url", "must be an absolute http or https URL without credentials, query or fragment";
    /// For a credential, the URL must use `https:`, or `http:` on this machine.
    SecureBaseUrl = "secure-base-url", "must be https, or http on this machine, because others can read the credential";
    /// The value must be one of Mintlify's admin keys. They start with `mint_`, but not with
    /// `mint_dsc_` (assistant keys) or `mint_us_` (index keys).
    AdminKey = "admin-key", "must start with mint_, but not with mint_dsc_ or mint_us_";
    /// An idempotency key must be 1 to 255 visible ASCII characters, to be valid in a header field.
    /// With a comma, it would read like two keys, and a quotation mark starts a String (RFC 9651).
    IdempotencyKey = "idempotency-key", "must be 1 to 255 visible ASCII characters, without commas or a leading quotation mark";
    /// A credential must be visible ASCII without spaces, to be valid in a header field.
    Credential = "credential", "must be visible ASCII characters";
    /// The URL of a webhook must be valid: see [`crate::credential::WebhookUrl::new`].
    WebhookUrl = "webhook-url", "must be an absolute https URL, or http on this machine, without credentials or fragment";
    /// The path of a request must stay on the base URL; see [`crate::request_path::check`].
    RequestPath = "request-path", "must start with one / and be visible ASCII without ? # \\ or dot segments";
    /// The names and values of headers must be valid in HTTP.
    Header = "header", "must have names and values that HTTP allows";
    /// The option needs a gateway, because Mintlify itself does not support it.
    GatewayOnly = "gateway-only", "needs a gateway: Mintlify itself does not have it";
    /// The operation must have a parameter of this name.
    Unknown = "unknown", "is not a parameter of this operation";
    /// The parameter must appear only once.
    Once = "once", "must appear only once";
}

/// The inclusive bounds of an integer.
#[derive(Debug, PartialEq, Eq)]
pub struct IntegerRule {
    /// The quantity that the integer counts.
    pub kind: IntegerKind,
    /// The minimum.
    pub min: u64,
    /// The maximum.
    pub max: u64,
}

/// The quantity that an integer counts, in the order of [`Rule::ALL`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IntegerKind {
    /// Rows per page.
    PageSize,
    /// Rows to skip.
    Offset,
    /// A page number.
    Page,
    /// Milliseconds.
    Milliseconds,
    /// The number of retries.
    RetryCount,
}

impl IntegerKind {
    const fn name(self) -> &'static str {
        match self {
            Self::PageSize => "page-size",
            Self::Offset => "offset",
            Self::Page => "page",
            Self::Milliseconds => "milliseconds",
            Self::RetryCount => "retry-count",
        }
    }
}

impl IntegerRule {
    /// The bounds of `offset`: 0 to 2^53 − 1, the largest integer that is exact in JSON
    /// (docs/mintlify/analytics.md, 4.2).
    pub const OFFSET: Self = Self::new(IntegerKind::Offset, 0, MAX_SAFE_INTEGER);
    /// The bounds of `page`: 1 to 2^53 − 1.
    pub const PAGE: Self = Self::new(IntegerKind::Page, 1, MAX_SAFE_INTEGER);
    /// The bounds of `limit` for views and visitors: 1 to 250 rows (docs/mintlify/analytics.md,
    /// 4.2).
    pub const PAGE_SIZE: Self = Self::page_size(250);
    /// The bounds of `maxRetries`: 0 to 10.
    pub const RETRY_COUNT: Self = Self::new(IntegerKind::RetryCount, 0, 10);
    /// The bounds of durations in milliseconds: 1 to 2^31 − 1, the largest delay of a JavaScript
    /// timer.
    pub const MILLISECONDS: Self = Self::new(IntegerKind::Milliseconds, 1, (1 << 31) - 1);

    const fn new(kind: IntegerKind, min: u64, max: u64) -> Self {
        Self { kind, min, max }
    }

    /// Returns the bounds of a page size: 1 to `max` rows.
    #[must_use]
    pub const fn page_size(max: u64) -> Self {
        Self::new(IntegerKind::PageSize, 1, max)
    }

    /// Returns the bounds as text, such as `1 to 250`.
    fn describe_bounds(&self) -> String {
        let mut bounds = format_integer(self.min);
        bounds.push_str(" to ");
        push_integer(&mut bounds, self.max, 1);
        bounds
    }

    /// Returns `number` if it is within the bounds.
    ///
    /// # Errors
    /// [`Rule::Integer`] if it is not.
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
    /// The rule of `limit` for views and visitors. Other lists have other bounds.
    pub const PAGE_SIZE: Self = Self::Integer(&IntegerRule::PAGE_SIZE);
    /// The rule of durations in milliseconds.
    pub const MILLISECONDS: Self = Self::Integer(&IntegerRule::MILLISECONDS);
    /// The rule of `maxRetries`.
    pub const RETRY_COUNT: Self = Self::Integer(&IntegerRule::RETRY_COUNT);

    /// Returns the parameters of the rule, which follow [`Self::text`] in a message: the bounds of
    /// an integer or the allowed strings. Empty for rules without parameters.
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
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())?;
        f.write_str(&self.detail())
    }
}

/// An invalid argument or option. Nothing was sent.
///
/// The details are in [`Violation`]. They are boxed, because every check returns this type but few
/// checks fail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValidationError(Box<Violation>);

/// The details of a [`ValidationError`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// The parameter or option, named as in the API, such as `prompt`, `limit` or `dateFrom`.
    pub field: Cow<'static, str>,
    /// The rule that the value breaks.
    pub rule: Rule,
    /// Describes the received value, or is empty. Never contains a secret or a prompt.
    pub found: Cow<'static, str>,
    /// The correction, or empty. The npm package omits corrections because of its size.
    #[cfg(feature = "gateway")]
    pub hint: Cow<'static, str>,
}

impl ValidationError {
    /// Creates an error for `field`. `found` describes the received value and may be empty.
    #[cold]
    pub fn new(
        field: impl Into<Cow<'static, str>>,
        rule: Rule,
        found: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self::build(field.into(), rule, found.into())
    }

    #[inline(never)]
    fn build(field: Cow<'static, str>, rule: Rule, found: Cow<'static, str>) -> Self {
        Self(Box::new(Violation {
            field,
            rule,
            found,
            #[cfg(feature = "gateway")]
            hint: Cow::Borrowed(""),
        }))
    }

    /// Creates an error for a parameter that the operation does not have.
    #[cold]
    #[must_use]
    pub fn unknown(name: &str) -> Self {
        Self::new(sanitize(name), Rule::Unknown, "")
    }

    /// Adds a correction, such as `use dateFrom`.
    #[cfg(feature = "gateway")]
    #[cold]
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<Cow<'static, str>>) -> Self {
        self.0.hint = hint.into();
        self
    }

    /// Returns a message with the field, the rule, the received value and the correction.
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
        #[cfg(feature = "gateway")]
        if !self.hint.is_empty() {
            message.push_str("; ");
            message.push_str(&self.hint);
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

/// A response with a status other than 2xx.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiError {
    /// The HTTP status code.
    pub status: u16,
    /// The server's message, truncated to 1,000 characters, or else the meaning of the status.
    pub message: String,
    /// Additional messages: `details[].message` of an analytics error and `errors[].detail` of a
    /// problem. At most 20 from each list.
    pub details: Vec<String>,
    /// The body's `type`, which identifies a problem (RFC 9457). `None` if it is not a string.
    pub code: Option<String>,
    /// The `X-Request-Id` of the response, if any.
    pub request_id: Option<String>,
    /// The wait before a retry, from `Retry-After` (RFC 9110, section 10.2.3).
    pub retry_after: Option<Duration>,
}

impl fmt::Display for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "status {}: {}", self.status, self.message)
    }
}

impl std::error::Error for ApiError {}

/// An error returned by a call.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Error {
    /// The arguments are invalid. Nothing was sent.
    Validation(ValidationError),
    /// The status is not 2xx.
    Api(ApiError),
    /// The status is 2xx, but the body does not have the expected type.
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

/// Has no `source`, because `Display` already shows the inner error.
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
