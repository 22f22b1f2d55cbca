//! Which operation a path belongs to: the core's own operations, and those that the gateway adds.
//!
//! A path is matched as the runtime passes it: nothing is normalised here, and no slash is added
//! or removed. (The runtime itself has resolved `.` and `..`, as every URL parser does.) Requests
//! upstream are built from the matched values, never from the path.

use quillgate::endpoint::{Parameter, ParameterKind, Place};
use quillgate::error::Rule;
use quillgate::schema::Described as _;
use quillgate::{
    AgentJob, CreateAgentJob, Endpoint as _, GetAgentJob, ListAgentJobs, ListPageViews, Method,
    SendMessage, ValidationError,
};

use crate::identity::caller::OPERATE;
use crate::problem::Problem;
use crate::url::decode_percent;

/// An operation of the gateway: one of the core's own, or one that the gateway adds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// Creates a job.
    CreateJob,
    /// Reads a job.
    GetJob,
    /// Sends a follow-up to a job.
    SendMessage,
    /// Lists the jobs that were created through the gateway.
    ListJobs,
    /// Streams a job's changes.
    StreamJobEvents,
    /// Deletes what the gateway has recorded of a job.
    DeleteJobRecord,
    /// Lists page views.
    ListPageViews,
}

impl Operation {
    /// Every operation.
    pub const ALL: [Self; 7] = [
        Self::CreateJob,
        Self::GetJob,
        Self::SendMessage,
        Self::ListJobs,
        Self::ListPageViews,
        Self::StreamJobEvents,
        Self::DeleteJobRecord,
    ];

    /// Its declaration: method, path, scope, parameters.
    #[must_use]
    pub const fn declaration(self) -> &'static quillgate::Operation {
        match self {
            Self::CreateJob => &CreateAgentJob::OPERATION,
            Self::GetJob => &GetAgentJob::OPERATION,
            Self::SendMessage => &SendMessage::OPERATION,
            Self::ListJobs => &ListAgentJobs::OPERATION,
            Self::StreamJobEvents => &JOB_EVENTS,
            Self::DeleteJobRecord => &JOB_RECORD,
            Self::ListPageViews => &ListPageViews::OPERATION,
        }
    }
}

/// The operation of a path, with the segments that are values.
#[derive(Debug)]
pub struct Route {
    /// The operation.
    pub operation: Operation,
    /// `projectId` and the other values of the path, still percent-encoded.
    pub segments: Vec<(&'static str, String)>,
}

/// The changes of a job as Server-Sent Events: an operation of the gateway alone, without a request
/// upstream.
static JOB_EVENTS: quillgate::Operation = quillgate::Operation {
    name: "agentJobs.events",
    method: Method::Get,
    path: "/v2/agent/{projectId}/job/{id}/events",
    doc: "Streams an agent job's changes as Server-Sent Events, until it has come to its end.",
    scope: "jobs:read",
    parameters: &[JOB_ID],
    result: AgentJob::KIND,
};

/// What the gateway has recorded of a job: for operators, and without a request upstream.
static JOB_RECORD: quillgate::Operation = quillgate::Operation {
    name: "agentJobs.deleteRecord",
    method: Method::Delete,
    path: "/v2/agent/{projectId}/job/{id}/record",
    doc: "Deletes what the gateway has recorded of an agent job; the job itself goes on.",
    scope: OPERATE,
    parameters: &[JOB_ID],
    result: AgentJob::KIND,
};

const JOB_ID: Parameter = Parameter {
    name: "id",
    doc: "The job's identifier.",
    place: Place::Path,
    kind: ParameterKind::Text,
    required: true,
};

/// Finds the operation of a method and a path. `HEAD` is answered as `GET` is, without the body (RFC
/// 9110, section 9.3.2).
///
/// # Errors
/// 404 for a path without operations, 405 with `Allow` for one with other methods.
pub fn find(method: &str, path: &str) -> Result<Route, Problem> {
    let asked = if method == "HEAD" { "GET" } else { method };
    for operation in Operation::ALL {
        let declared = operation.declaration();
        if declared.method.as_str() != asked {
            continue;
        }
        if let Some(segments) = match_path(declared.path, path) {
            return Ok(Route {
                operation,
                segments,
            });
        }
    }
    match &find_methods(path)[..] {
        [] => Err(Problem::not_found()),
        methods => Err(Problem::method_not_allowed(&join_methods(methods))),
    }
}

/// Writes `Allow` for a path with these methods: every path has `OPTIONS` too.
#[must_use]
pub fn join_methods(methods: &[&str]) -> String {
    let mut allow = methods.join(", ");
    allow.push_str(", OPTIONS");
    allow
}

/// Finds the methods of a path; empty when no operation has it.
#[must_use]
pub fn find_methods(path: &str) -> Vec<&'static str> {
    let declared = Operation::ALL.into_iter().map(Operation::declaration);
    let mut methods = Vec::new();
    for operation in declared.filter(|own| match_path(own.path, path).is_some()) {
        methods.push(operation.method.as_str());
        if operation.method == Method::Get {
            methods.push("HEAD");
        }
    }
    methods
}

fn match_path(template: &'static str, path: &str) -> Option<Vec<(&'static str, String)>> {
    let mut values = Vec::new();
    let mut segments = path.split('/');
    for expected in template.split('/') {
        let segment = segments.next()?;
        match expected
            .strip_prefix('{')
            .and_then(|name| name.strip_suffix('}'))
        {
            Some(name) if !segment.is_empty() => values.push((name, segment.to_owned())),
            None if segment == expected => {}
            _ => return None,
        }
    }
    segments.next().is_none().then_some(values)
}

/// Decodes a segment once, and refuses what could be read as another path.
///
/// # Errors
/// [`Rule::PathSegment`] for a broken escape and for a segment that holds, decoded,
/// `/`, `\`, `%`, `?`, `#` or a control character: `%2f` and `%252e` do.
pub fn decode_segment(field: &'static str, segment: &str) -> Result<String, ValidationError> {
    let unsafe_here = |c: char| matches!(c, '/' | '\\' | '%' | '?' | '#') || c.is_control();
    decode_percent(segment)
        .filter(|text| !text.contains(unsafe_here))
        .ok_or_else(|| ValidationError::new(field, Rule::PathSegment, "another path in disguise"))
}
