use quillgate::{Rule, ValidationError};

use crate::http::url::decode_percent;

/// Percent-encoded values by name.
pub type PathSegments<'a> = Vec<(&'static str, &'a str)>;

/// Every path supports `OPTIONS`.
pub fn join_methods(methods: &[&str]) -> String {
    format!("{}, OPTIONS", methods.join(", "))
}

/// A parameter never matches an empty segment.
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

/// Decodes once. Rejects values that a server could parse as another path, such as `%2f` and
/// `%252e`.
pub fn decode_segment(field: &'static str, segment: &str) -> Result<String, ValidationError> {
    decode_percent(segment)
        .filter(|text| is_plain_segment(text))
        .ok_or_else(|| ValidationError::new(field, Rule::PathSegment, "another path in disguise"))
}

/// See [`decode_segment`].
pub fn is_plain_segment(text: &str) -> bool {
    let unsafe_here = |c: char| matches!(c, '/' | '\\' | '%' | '?' | '#') || c.is_control();
    !text.contains(unsafe_here)
}
