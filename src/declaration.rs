//! The declaration of an operation: name, route, parameters, scope, budget and pagination.
//!
//! The `operation!` macro ([`crate::endpoint`]) declares an operation and the type of its result.
//! Everything else derives from them: requests and argument validation ([`crate::call`]), the
//! gateway's route and budget, the package's types and decoders, the gateway's `OpenAPI`
//! description and the reference.
//!
//! [`Declaration`] and [`Documentation`] are separate constants, so that the package's wasm does
//! not contain documentation.

use crate::error::IntegerRule;
#[cfg(feature = "gateway")]
use crate::error::ValidationError;

/// The request method (RFC 9110, section 9).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// `GET`.
    Get,
    /// `POST`.
    Post,
    /// `DELETE`.
    Delete,
}

impl Method {
    /// Returns the method's name, in capitals.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Delete => "DELETE",
        }
    }
}

/// How a request may be repeated after a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repeat {
    /// Repeating the request has no further effect (RFC 9110, section 9.2.2).
    Safe,
    /// Each request has an effect, but a gateway processes each `Idempotency-Key` only once.
    Keyed,
    /// Each request has an effect, also at a gateway.
    Never,
}

/// The location of a parameter in the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParameterIn {
    /// A path segment.
    Path,
    /// A query parameter.
    Query,
    /// A property of the JSON body.
    Body,
}

/// The type of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParameterKind {
    /// A string with at least one character.
    Text,
    /// An identifier that is valid as a single path segment.
    Id,
    /// A ULID: 26 characters of Crockford's base 32, starting with a character from `0` to `7`.
    Ulid,
    /// `YYYY-MM-DD` or an ISO 8601 date-time.
    Date,
    /// An integer within inclusive bounds.
    Integer {
        /// The bounds.
        rule: &'static IntegerRule,
        /// The server's default.
        default: u64,
    },
    /// A page of an offset-based list, counted from 1. It is sent as `offset`.
    Page,
    /// One of these strings.
    OneOf(&'static [&'static str]),
    /// One or more of these strings, separated by commas without spaces.
    ListOf(&'static [&'static str]),
}

/// A parameter of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parameter {
    /// The parameter's name in the API.
    pub name: &'static str,
    /// The location in the request.
    pub place: ParameterIn,
    /// The type.
    pub kind: ParameterKind,
    /// Whether the parameter is required.
    pub is_required: bool,
}

impl Parameter {
    /// Creates an optional parameter.
    #[must_use]
    pub const fn optional(name: &'static str, place: ParameterIn, kind: ParameterKind) -> Self {
        Self {
            name,
            place,
            kind,
            is_required: false,
        }
    }

    /// Makes the parameter required.
    #[must_use]
    pub const fn require(mut self) -> Self {
        self.is_required = true;
        self
    }
}

/// A permission of a gateway access token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Creating jobs and sending follow-ups.
    CreateJobs,
    /// Reading jobs.
    ReadJobs,
    /// Reading analytics.
    ReadAnalytics,
    /// Reading conversations with the assistant, which contain personal data.
    ReadConversations,
    /// Starting deployments and previews.
    CreateDeployments,
    /// Reading deployments.
    ReadDeployments,
    /// Running automations, which costs credits.
    RunAutomations,
    /// Operating the gateway.
    Operate,
}

impl Scope {
    /// All scopes.
    pub const ALL: [Self; 8] = [
        Self::CreateJobs,
        Self::ReadJobs,
        Self::ReadAnalytics,
        Self::ReadConversations,
        Self::CreateDeployments,
        Self::ReadDeployments,
        Self::RunAutomations,
        Self::Operate,
    ];

    /// Returns the scope's name in a token's `scope`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::CreateJobs => "jobs:create",
            Self::ReadJobs => "jobs:read",
            Self::ReadAnalytics => "analytics:read",
            Self::ReadConversations => "analytics:conversations",
            Self::CreateDeployments => "deployments:create",
            Self::ReadDeployments => "deployments:read",
            Self::RunAutomations => "automations:run",
            Self::Operate => "gateway:operate",
        }
    }
}

/// A budget: a set of requests that share one rate limit (docs/mintlify/rules.md, 8).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Deserialize, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RateLimitPolicy {
    /// Jobs created, per project.
    CreateJob,
    /// Follow-ups sent, per project.
    SendMessage,
    /// Analytics requests, for the whole organization.
    Analytics,
    /// Requests that read jobs, per caller and project. This limit is the gateway's, not
    /// Mintlify's.
    ReadJobs,
    /// Deployments started and automations run, for the whole organization.
    CreateDeployment,
    /// Previews started, for the whole organization.
    CreatePreview,
    /// Requests that read deployments, per caller and project. This limit is the gateway's, not
    /// Mintlify's.
    ReadDeployments,
}

impl RateLimitPolicy {
    /// All policies.
    pub const ALL: [Self; 7] = [
        Self::CreateJob,
        Self::SendMessage,
        Self::Analytics,
        Self::ReadJobs,
        Self::CreateDeployment,
        Self::CreatePreview,
        Self::ReadDeployments,
    ];

    /// Returns the policy's name in header fields, in a token's `quota` and in SQL tables. It
    /// consists of ASCII letters and hyphens.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::CreateJob => "create-job",
            Self::SendMessage => "send-message",
            Self::Analytics => "analytics",
            Self::ReadJobs => "read-jobs",
            Self::CreateDeployment => "create-deployment",
            Self::CreatePreview => "create-preview",
            Self::ReadDeployments => "read-deployments",
        }
    }

    /// Whether the limit is the gateway's own and counts reads, so that Mintlify never blocks it.
    #[must_use]
    pub const fn is_read(self) -> bool {
        matches!(self, Self::ReadJobs | Self::ReadDeployments)
    }

    /// Returns the policy with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|policy| policy.as_str() == name)
    }
}

/// The pagination of an operation's result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pagination {
    /// The result is not paginated.
    None,
    /// Pages are requested by `limit` and `offset`. The list ends with `hasMore: false`
    /// or, without this property, with a page that is not full.
    Offset {
        /// The property that contains the rows.
        rows: &'static str,
    },
    /// Pages are requested by `limit` and `cursor`. The list ends with `hasMore: false` or without
    /// `nextCursor`.
    Cursor {
        /// The property that contains the rows.
        rows: &'static str,
        /// The property of a row with its time, if the rows are events with an `id`. The range of such
        /// a list can be split, because each row belongs to one part.
        time: Option<&'static str>,
        /// Whether a page can be empty because its request scans a limited number of rows.
        scans: bool,
    },
}

impl Pagination {
    /// Returns the property that contains the rows, or `None` if the result is not paginated.
    #[must_use]
    pub const fn rows(self) -> Option<&'static str> {
        match self {
            Self::None => None,
            Self::Offset { rows } | Self::Cursor { rows, .. } => Some(rows),
        }
    }
}

/// An operation's declaration without its documentation.
#[derive(Debug, PartialEq, Eq)]
pub struct Declaration {
    /// The name in the package, such as `agentJobs.create`.
    pub name: &'static str,
    /// The request method.
    pub method: Method,
    /// The path, with parameters in braces, such as `{projectId}`. A path without this parameter
    /// names an object of any project.
    pub path: &'static str,
    /// The parameters, except `projectId`.
    pub parameters: &'static [Parameter],
    /// The scope that a gateway access token needs.
    pub scope: Scope,
    /// The budget that requests count against. `None` if the operation has no budget.
    pub policy: Option<RateLimitPolicy>,
    /// How a request may be repeated.
    pub repeat: Repeat,
    /// The pagination of the result.
    pub pagination: Pagination,
}

impl Declaration {
    /// Returns the parameter with this name.
    #[must_use]
    pub fn parameter(&self, name: &str) -> Option<&'static Parameter> {
        self.position(name).map(|at| &self.parameters[at])
    }

    /// Returns the index in [`Self::parameters`] of the parameter with this name.
    #[must_use]
    pub fn position(&self, name: &str) -> Option<usize> {
        let mut parameters = self.parameters.iter();
        parameters.position(|parameter| parameter.name == name)
    }

    /// Returns the error for a name that the operation does not have. The hint is a similar name of a
    /// parameter outside the path that satisfies `is_possible`, such as `dateFrom` for `date_from`.
    #[cfg(feature = "gateway")]
    #[cold]
    pub fn reject_name(
        &self,
        name: &str,
        is_possible: impl Fn(&Parameter) -> bool,
    ) -> ValidationError {
        let error = ValidationError::unknown(name);
        let name = fold(name);
        let similar = self.parameters.iter().find(|known| {
            known.place != ParameterIn::Path
                && is_possible(known)
                && are_similar(&fold(known.name), &name)
        });
        match similar {
            Some(known) => error.with_hint(["use ", known.name].concat()),
            None => error,
        }
    }
}

/// Returns the ASCII letters and digits of a name in lower case.
#[cfg(feature = "gateway")]
fn fold(name: &str) -> Vec<u8> {
    let bytes = name.bytes().filter(u8::is_ascii_alphanumeric);
    bytes.map(|byte| byte.to_ascii_lowercase()).collect()
}

/// Whether two names differ by at most one added, missing or wrong character, or by two wrong
/// adjacent characters.
#[cfg(feature = "gateway")]
fn are_similar(a: &[u8], b: &[u8]) -> bool {
    let is_same = |(a, b): &(&u8, &u8)| a == b;
    let start = a.iter().zip(b).take_while(is_same).count();
    let (a, b) = (&a[start..], &b[start..]);
    let end = a.iter().rev().zip(b.iter().rev());
    let end = end.take_while(is_same).count();
    let changed = a.len().max(b.len()) - end;
    start + end >= 3 && changed <= 2 && a.len().abs_diff(b.len()) <= 1
}

/// An operation's documentation.
#[derive(Debug)]
pub struct Documentation {
    /// The operation's summary, one line per element.
    pub summary: &'static [&'static str],
    /// One or two sentences per parameter, in the order of [`Declaration::parameters`].
    pub parameters: &'static [&'static str],
    /// The URL of Mintlify's documentation of the operation. `None` if only the gateway has the
    /// operation.
    pub link: Option<&'static str>,
}

/// Concatenates slices at compile time. `N` must be their total length.
pub(crate) const fn join<T: Copy, const N: usize>(lists: &[&[T]], filler: T) -> [T; N] {
    let mut joined = [filler; N];
    let (mut list, mut at) = (0, 0);
    while list < lists.len() {
        let mut item = 0;
        while item < lists[list].len() {
            joined[at] = lists[list][item];
            item += 1;
            at += 1;
        }
        list += 1;
    }
    joined
}

impl Parameter {
    /// The initial element of the array in [`join`], which overwrites it.
    pub(crate) const FILLER: Self = Self::optional("", ParameterIn::Query, ParameterKind::Text);
}
