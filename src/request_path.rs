//! The path of a request that is not an operation.

use crate::error::{Rule, ValidationError};

/// Checks that a path stays on the base URL: it starts with one `/`, and is visible ASCII without
/// `?`, `#`, `\`, `.` segments and `..` segments. Segments are compared as URL parsers do, which read
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
    if is_valid(path.as_bytes()) {
        return Ok(());
    }
    Err(ValidationError::new("path", Rule::RequestPath, ""))
}

fn is_valid(path: &[u8]) -> bool {
    if path.first() != Some(&b'/') || path.get(1) == Some(&b'/') {
        return false;
    }
    let mut rest = path;
    // The number of dots that the current segment consists of. At least 3 if it has other characters.
    let mut dots = 0_u32;
    loop {
        let is_dot_segment = matches!(dots, 1 | 2);
        rest = match rest {
            [] => return !is_dot_segment,
            [b'/', after @ ..] if !is_dot_segment => {
                dots = 0;
                after
            }
            [b'.', after @ ..] | [b'%', b'2', b'e' | b'E', after @ ..] => {
                dots += 1;
                after
            }
            [byte, after @ ..]
                if byte.is_ascii_graphic() && !matches!(byte, b'/' | b'?' | b'#' | b'\\') =>
            {
                dots = 3;
                after
            }
            _ => return false,
        };
    }
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
