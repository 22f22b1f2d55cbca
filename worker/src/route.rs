//! Which operation a path is: the core's own operations, and what the gateway adds.
//!
//! A path is matched as the runtime gives it: nothing is normalised here, no slash is
//! added or dropped. (The runtime itself has resolved `.` and `..`, as every URL parser
//! does.) What goes upstream is built from the matched values, never from the path.

use quillgate::endpoint::{Parameter, ParameterKind, Place};
use quillgate::error::Rule;
use quillgate::schema::Described as _;
use quillgate::{AgentJob, Method, OPERATIONS, Operation, ValidationError};

use crate::problem::Problem;

/// A path that an operation has, with the segments that stand for values.
#[derive(Debug)]
pub struct Route {
    /// The operation.
    pub operation: &'static Operation,
    /// `projectId` and the other values of the path, still percent-encoded.
    pub segments: Vec<(&'static str, String)>,
}

/// The changes of a job as Server-Sent Events: the gateway's own, so no request upstream
/// belongs to it.
pub static JOB_EVENTS: Operation = Operation {
    name: "agentJobs.events",
    method: Method::Get,
    path: "/v2/agent/{projectId}/job/{id}/events",
    doc: "Streams an agent job's changes as Server-Sent Events, until it has come to its end.",
    scope: "jobs:read",
    parameters: &[Parameter {
        name: "id",
        doc: "The job's identifier.",
        place: Place::Path,
        kind: ParameterKind::Text,
        required: true,
    }],
    result: AgentJob::KIND,
};

/// Every operation of the gateway.
pub fn operations() -> impl Iterator<Item = &'static Operation> {
    OPERATIONS.into_iter().chain([&JOB_EVENTS])
}

/// The path and the query of an absolute URL.
#[must_use]
pub fn split_url(url: &str) -> (&str, Option<&str>) {
    let rest = url.find("://").map_or(url, |at| &url[at + 3..]);
    let target = rest.find(['/', '?', '#']).map_or("", |at| &rest[at..]);
    let target = target.split('#').next().unwrap_or_default();
    match target.split_once('?') {
        Some((path, query)) => (path, Some(query)),
        None => (target, None),
    }
}

/// Finds the operation of a method and a path.
///
/// # Errors
/// 404 for a path that no operation has, 405 with `Allow` for one that has other methods.
pub fn find(method: &str, path: &str) -> Result<Route, Problem> {
    for operation in operations() {
        if operation.method.as_str() != method {
            continue;
        }
        if let Some(segments) = matched(operation.path, path) {
            return Ok(Route {
                operation,
                segments,
            });
        }
    }
    match &methods(path)[..] {
        [] => Err(Problem::not_found()),
        methods => Err(Problem::method_not_allowed(&allowed(methods))),
    }
}

/// `Allow`, for a path with these methods: every path has `OPTIONS` too.
#[must_use]
pub fn allowed(methods: &[&str]) -> String {
    let mut allow = methods.join(", ");
    allow.push_str(", OPTIONS");
    allow
}

/// The methods that a path has; empty when no operation has it.
#[must_use]
pub fn methods(path: &str) -> Vec<&'static str> {
    operations()
        .filter(|operation| matched(operation.path, path).is_some())
        .map(|operation| operation.method.as_str())
        .collect()
}

fn matched(template: &'static str, path: &str) -> Option<Vec<(&'static str, String)>> {
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
pub fn decoded_segment(field: &'static str, segment: &str) -> Result<String, ValidationError> {
    let unsafe_here = |c: char| matches!(c, '/' | '\\' | '%' | '?' | '#') || c.is_control();
    percent_decoded(segment)
        .filter(|text| !text.contains(unsafe_here))
        .ok_or_else(|| ValidationError::new(field, Rule::PathSegment, "another path in disguise"))
}

/// Percent-decodes once; `None` for a broken escape or what is no UTF-8.
#[must_use]
pub fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = text.bytes();
    let mut decoded = Vec::with_capacity(text.len());
    let digit = |byte: Option<u8>| {
        char::from(byte?)
            .to_digit(16)
            .and_then(|d| u8::try_from(d).ok())
    };
    while let Some(byte) = bytes.next() {
        decoded.push(match byte {
            b'%' => digit(bytes.next())? << 4 | digit(bytes.next())?,
            other => other,
        });
    }
    String::from_utf8(decoded).ok()
}
