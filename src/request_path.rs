//! The path of a request that is not an operation.

use crate::error::{Rule, ValidationError};

/// Checks that a path stays on the base URL: it starts with one `/`, and is visible ASCII without
/// `?`, `#`, `\\`, `.` segments and `..` segments. Segments are compared as URL parsers do, which read
/// `%2e` as `.`.
///
/// ```
/// use quillgate::request_path::check;
///
/// assert!(check("/v1/analytics/acme/views").is_ok());
/// assert!(check("//other.example/").is_err());
/// assert!(check("/v1/%2E./").is_err());
/// ```
///
/// # Errors
/// [`Rule::RequestPath`] for any other path.
pub fn check(path: &str) -> Result<(), ValidationError> {
    let is_allowed = |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'?' | b'#' | b'\\');
    let is_valid = path.starts_with('/')
        && !path.starts_with("//")
        && path.bytes().all(is_allowed)
        && !path.split('/').any(is_dot_segment);
    if is_valid {
        return Ok(());
    }
    Err(ValidationError::new("path", Rule::RequestPath, ""))
}

fn is_dot_segment(segment: &str) -> bool {
    let mut rest = segment;
    for _ in 0..2 {
        let dot = ["%2e", "%2E", "."];
        rest = dot
            .iter()
            .find_map(|dot| rest.strip_prefix(dot))
            .unwrap_or(rest);
    }
    rest.is_empty() && !segment.is_empty()
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn a_path_that_leaves_the_base_url_is_refused() {
        for path in [
            "",
            "v1",
            "//x",
            "/\\x",
            "/a\\..\\b",
            "https://x/",
            "/.",
            "/..",
            "/a/../b",
            "/a/.",
            "/%2e%2e/x",
            "/.%2E",
            "/%2e",
            "/a?b",
            "/a#b",
            "/a b",
            "/a\tb",
            "/\n/x",
            "/\u{fc}",
            "/a/\u{7f}",
        ] {
            assert!(check(path).is_err(), "{path:?}");
        }
    }

    #[test]
    fn a_path_below_the_base_url_is_accepted() {
        for path in [
            "/",
            "/v1/x",
            "/a//b",
            "/a/...",
            "/a/.b",
            "/a%2Fb",
            "/a@b:c;d",
            "/%2e%2e%2e/",
        ] {
            assert!(check(path).is_ok(), "{path:?}");
        }
    }
}
