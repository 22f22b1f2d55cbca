//! Which operation a path belongs to.
//!
//! A path is matched as the runtime passes it: nothing is normalised here, and no slash is added
//! or removed. (The runtime itself has resolved `.` and `..`, as every URL parser does.) Requests
//! upstream are built from the matched values, never from the path.

use quillgate::{Method, Operation, Rule, ValidationError};

use crate::http::problem::Problem;
use crate::http::url::decode_percent;

/// The operation of a path, with the segments that are values.
#[derive(Debug)]
pub struct Route<'a> {
    /// The operation.
    pub operation: Operation,
    /// `projectId` and the other values of the path, still percent-encoded.
    pub segments: Vec<(&'static str, &'a str)>,
}

/// Finds the operation of a method and a path. `HEAD` is answered as `GET` is, without the body (RFC
/// 9110, section 9.3.2).
///
/// # Errors
/// 404 for a path without operations, 405 with `Allow` for one with other methods.
pub fn find<'a>(method: &str, path: &'a str) -> Result<Route<'a>, Problem> {
    let asked = if method == "HEAD" { "GET" } else { method };
    for operation in Operation::ALL.iter().copied() {
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
    let declared = Operation::ALL
        .iter()
        .map(|operation| operation.declaration());
    let mut methods = Vec::new();
    for operation in declared.filter(|own| match_path(own.path, path).is_some()) {
        methods.push(operation.method.as_str());
        if operation.method == Method::Get {
            methods.push("HEAD");
        }
    }
    methods
}

fn match_path<'a>(template: &'static str, path: &'a str) -> Option<Vec<(&'static str, &'a str)>> {
    // Most templates differ from the path before their first value.
    let fixed = template.split('{').next()?;
    if !path.starts_with(fixed) {
        return None;
    }
    let mut values = Vec::new();
    let mut segments = path.split('/');
    for expected in template.split('/') {
        let segment = segments.next()?;
        match expected
            .strip_prefix('{')
            .and_then(|name| name.strip_suffix('}'))
        {
            Some(name) if !segment.is_empty() => values.push((name, segment)),
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
