//! Templates of paths, and the values that they match.

use quillgate::{Rule, ValidationError};

use crate::http::url::decode_percent;

/// The names and percent-encoded values of a path's parameters.
pub type PathSegments<'a> = Vec<(&'static str, &'a str)>;

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
