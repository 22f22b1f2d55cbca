//! What an operation is: its name, route, parameters, scope, budget, pagination and result.
//!
//! The `operation!` macro ([`crate::endpoint`]) declares one, and everything else follows from the declaration:
//! requests ([`crate::call`]), the refusal of bad arguments, the gateway's route and budget, the
//! package's types and decoders, the gateway's `OpenAPI` description, the reference.
//!
//! What a program decides by ([`Declaration`]) and what people read ([`Documentation`]) are two
//! constants, so that no documentation is compiled into the package's wasm.

use crate::error::IntegerRule;

/// The request method (RFC 9110, section 9).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// `GET`: safe, and so free to be sent again.
    Get,
    /// `POST`: not idempotent; sent again only where the server deduplicates.
    Post,
    /// `DELETE`: idempotent.
    Delete,
}

impl Method {
    /// The method as it stands in a request line.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Delete => "DELETE",
        }
    }
}

/// Where a parameter stands in the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// A segment of the path.
    Path,
    /// A pair of the query.
    Query,
    /// A member of the JSON body.
    Body,
}

/// What a parameter may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParameterKind {
    /// Text with at least one character.
    Text,
    /// An identifier that can stand as one segment of a path.
    Id,
    /// A ULID: 26 characters of Crockford's base 32, the first at most `7`.
    Ulid,
    /// `YYYY-MM-DD` or an ISO 8601 date-time.
    Date,
    /// An integer within bounds.
    Integer {
        /// The bounds.
        rule: &'static IntegerRule,
        /// What the server takes when the parameter is left out.
        default: u64,
    },
    /// A page of a list by offset, counted from 1. It is sent as its `offset`.
    Page,
    /// One of these texts.
    OneOf(&'static [&'static str]),
}

/// A parameter of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parameter {
    /// The server's own name.
    pub name: &'static str,
    /// Where it stands.
    pub place: Place,
    /// What it may be.
    pub kind: ParameterKind,
    /// Whether it has to be there.
    pub is_required: bool,
}

impl Parameter {
    /// A parameter that may be left out.
    #[must_use]
    pub const fn optional(name: &'static str, place: Place, kind: ParameterKind) -> Self {
        Self {
            name,
            place,
            kind,
            is_required: false,
        }
    }

    /// The same parameter, which has to be there.
    #[must_use]
    pub const fn require(mut self) -> Self {
        self.is_required = true;
        self
    }
}

/// What an access token of the gateway has to allow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Creating jobs, and sending follow-ups.
    CreateJobs,
    /// Reading jobs.
    ReadJobs,
    /// Reading analytics.
    ReadAnalytics,
    /// Reading what people asked the assistant, which is personal data.
    ReadConversations,
    /// Operating the gateway.
    Operate,
}

impl Scope {
    /// Every scope.
    pub const ALL: [Self; 5] = [
        Self::CreateJobs,
        Self::ReadJobs,
        Self::ReadAnalytics,
        Self::ReadConversations,
        Self::Operate,
    ];

    /// The name in a token's `scope`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::CreateJobs => "jobs:create",
            Self::ReadJobs => "jobs:read",
            Self::ReadAnalytics => "analytics:read",
            Self::ReadConversations => "analytics:conversations",
            Self::Operate => "gateway:operate",
        }
    }
}

/// A budget: which requests are counted together, against one limit (docs/platform.md, 8).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Deserialize, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Policy {
    /// Jobs created in a project.
    CreateJob,
    /// Follow-ups sent in a project.
    SendMessage,
    /// Requests for analytics, of the whole organisation.
    Analytics,
    /// Requests that read jobs, of one caller in a project: a budget of the gateway's own.
    ReadJobs,
}

impl Policy {
    /// Every policy.
    pub const ALL: [Self; 4] = [
        Self::CreateJob,
        Self::SendMessage,
        Self::Analytics,
        Self::ReadJobs,
    ];

    /// The name in header fields, in a token's `quota` and in the tables: ASCII without quotes and
    /// backslashes.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::CreateJob => "create-job",
            Self::SendMessage => "send-message",
            Self::Analytics => "analytics",
            Self::ReadJobs => "read-jobs",
        }
    }

    /// The policy of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|policy| policy.as_str() == name)
    }
}

/// How an operation's result is one page of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pagination {
    /// It is not.
    Whole,
    /// By `limit` and `offset`; `hasMore: false` ends the list.
    Offset {
        /// The member that holds the rows.
        rows: &'static str,
    },
    /// By `limit` and `cursor`; a missing `nextCursor` or `hasMore: false` ends the list.
    Cursor {
        /// The member that holds the rows.
        rows: &'static str,
    },
}

impl Pagination {
    /// The member that holds the rows, when it is a list.
    #[must_use]
    pub const fn rows(self) -> Option<&'static str> {
        match self {
            Self::Whole => None,
            Self::Offset { rows } | Self::Cursor { rows } => Some(rows),
        }
    }
}

/// What an operation is, as far as programs decide by it.
#[derive(Debug, PartialEq, Eq)]
pub struct Declaration {
    /// The name in the package: `agentJobs.create`.
    pub name: &'static str,
    /// The method.
    pub method: Method,
    /// The path, with `{projectId}` and other parameters where those stand.
    pub path: &'static str,
    /// The parameters, without `projectId`, which every operation has.
    pub parameters: &'static [Parameter],
    /// The scope that an access token of the gateway needs for it.
    pub scope: Scope,
    /// The budget that it is counted against, if any.
    pub policy: Option<Policy>,
    /// How its result is one page of a list.
    pub pagination: Pagination,
}

impl Declaration {
    /// The parameter of this name.
    #[must_use]
    pub fn parameter(&self, name: &str) -> Option<&'static Parameter> {
        self.position(name).map(|at| &self.parameters[at])
    }

    /// The place of the parameter of this name among [`Self::parameters`].
    #[must_use]
    pub fn position(&self, name: &str) -> Option<usize> {
        let mut parameters = self.parameters.iter();
        parameters.position(|parameter| parameter.name == name)
    }
}

/// What people read about an operation.
#[derive(Debug)]
pub struct Documentation {
    /// What it does, in one sentence.
    pub summary: &'static [&'static str],
    /// A sentence or two for each parameter, in the order of [`Declaration::parameters`].
    pub parameters: &'static [&'static str],
    /// The page of the platform's own documentation; `None` for the gateway's own operations.
    pub link: Option<&'static str>,
}

/// Joins lists at compile time.
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
    /// What [`join`] begins with.
    pub(crate) const FILLER: Self = Self::optional("", Place::Query, ParameterKind::Text);
}
