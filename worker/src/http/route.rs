//! The routes of operations. [`find`] selects the operation of a method and a path.
//!
//! Paths are matched exactly, including slashes. The runtime's URL parser has already resolved `.`
//! and `..`. Upstream requests are built from the matched values, never from the path.

use quillgate::{Method, Operation, Rule, ValidationError};

use crate::http::url::decode_percent;

/// The names and percent-encoded values of a path's parameters.
pub type PathSegments<'a> = Vec<(&'static str, &'a str)>;

/// The operation that a method and a path select.
#[derive(Debug)]
pub struct Route<'a> {
    /// The selected operation.
    pub operation: Operation,
    /// `projectId` and the other values of the path, percent-encoded.
    pub segments: PathSegments<'a>,
}

/// Finds the operation of a method and a path. `HEAD` selects the same operation as `GET` (RFC
/// 9110, section 9.3.2).
///
/// # Errors
/// Returns the methods that the path supports, if `method` is not one of them. The list is empty if
/// the path is unknown.
pub fn find<'a>(method: &str, path: &'a str) -> Result<Route<'a>, Vec<&'static str>> {
    let requested = if method == "HEAD" { "GET" } else { method };
    let mut methods = Vec::new();
    for operation in Operation::ALL.iter().copied() {
        let declared = operation.declaration();
        let Some(segments) = match_path(declared.path, path) else {
            continue;
        };
        if declared.method.as_str() == requested {
            return Ok(Route {
                operation,
                segments,
            });
        }
        methods.push(declared.method.as_str());
        if declared.method == Method::Get {
            methods.push("HEAD");
        }
    }
    Err(methods)
}

/// Returns the value of `Allow` for a path: its methods, and `OPTIONS`, which every path supports.
pub fn join_methods(methods: &[&str]) -> String {
    format!("{}, OPTIONS", methods.join(", "))
}

/// Matches a path against a template. Returns the path's percent-encoded parameters, or `None` if
/// the path does not match. A parameter never matches an empty segment.
pub fn match_path<'a>(template: &'static str, path: &'a str) -> Option<PathSegments<'a>> {
    // Comparing the part before the first parameter is cheap and excludes most templates.
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

/// Decodes a segment once, and rejects values that could be parsed as another path.
///
/// # Errors
/// Returns an error with [`Rule::PathSegment`] if an escape is malformed, or if the decoded segment
/// contains `/`, `\`, `%`, `?`, `#` or a control character. Examples are `%2f` and `%252e`.
pub fn decode_segment(field: &'static str, segment: &str) -> Result<String, ValidationError> {
    decode_percent(segment)
        .filter(|text| is_plain_segment(text))
        .ok_or_else(|| ValidationError::new(field, Rule::PathSegment, "another path in disguise"))
}

/// Returns whether no server can parse a decoded segment as another path: see [`decode_segment`].
pub fn is_plain_segment(text: &str) -> bool {
    let unsafe_here = |c: char| matches!(c, '/' | '\\' | '%' | '?' | '#') || c.is_control();
    !text.contains(unsafe_here)
}
