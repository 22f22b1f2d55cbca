//! What every operation has in common: a name, a route, parameters, a result.
//!
//! A new operation is one type that implements [`Endpoint`] and one line in
//! [`OPERATIONS`]; the gateway's routes, the package's methods and the TypeScript
//! types follow from those.

use crate::agent_job::{CreateAgentJob, GetAgentJob, SendMessage};
use crate::error::ValidationError;
use crate::job_list::ListAgentJobs;
use crate::page_views::ListPageViews;
use crate::project::ProjectId;
use crate::schema::{Described, Kind};
use crate::value::Value;

/// The request method (RFC 9110, section 9).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// `GET`: safe, and so free to be sent again.
    Get,
    /// `POST`: not idempotent; sent again only where the other side deduplicates.
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

/// A request, without the address and the credential that it will be sent with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The method.
    pub method: Method,
    /// Path and query, beginning with `/`, percent-encoded.
    pub target: String,
    /// The body as JSON text; sent with `Content-Type: application/json`.
    pub body: Option<String>,
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
    /// `YYYY-MM-DD` or an ISO 8601 date-time.
    Date,
    /// An integer from `min` to `max`; `default` is what the upstream takes when it is left out.
    Integer {
        /// The smallest value.
        min: u64,
        /// The largest value.
        max: u64,
        /// What the upstream takes when the parameter is left out.
        default: u64,
    },
}

/// A parameter of an operation, as documentation and for tooling; parsing is in
/// [`Endpoint::parse`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parameter {
    /// The upstream's own name.
    pub name: &'static str,
    /// One or two sentences.
    pub doc: &'static str,
    /// Where it stands.
    pub place: Place,
    /// What it may be.
    pub kind: ParameterKind,
    /// Whether it has to be there.
    pub required: bool,
}

/// What an operation is, apart from the values of one call.
#[derive(Debug)]
pub struct Operation {
    /// The name in the package: `agentJobs.create`.
    pub name: &'static str,
    /// The method.
    pub method: Method,
    /// The path with `{projectId}` and `{id}` where those stand (SPEC 4).
    pub path: &'static str,
    /// One sentence.
    pub doc: &'static str,
    /// The scope that an access token of the gateway needs for it.
    pub scope: &'static str,
    /// The parameters, without `projectId`, which every operation has.
    pub parameters: &'static [Parameter],
    /// The type of a success's body.
    pub result: Kind,
}

/// An operation with the values of one call.
pub trait Endpoint: Sized {
    /// What a success's body is read as.
    type Output: Described;

    /// What the operation is.
    const OPERATION: Operation;

    /// Reads the call's values from `params`, by the upstream's own names.
    ///
    /// # Errors
    /// The first value that breaks a rule.
    fn parse<V: Value>(params: &V) -> Result<Self, ValidationError>;

    /// The request of this call.
    #[must_use]
    fn request(&self, project: &ProjectId) -> Request;
}

/// Every operation that the project supports.
pub static OPERATIONS: [&Operation; 5] = [
    &CreateAgentJob::OPERATION,
    &GetAgentJob::OPERATION,
    &SendMessage::OPERATION,
    &ListAgentJobs::OPERATION,
    &ListPageViews::OPERATION,
];
