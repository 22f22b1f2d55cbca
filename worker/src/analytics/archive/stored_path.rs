//! The form in which the archive stores paths. Visitors can request any path, so the archive limits
//! the length and depth of the paths that it stores.

use std::fmt::Write as _;

/// The maximum number of segments in a stored path. The archive stores a row for each prefix of a
/// path, so the number of rows grows with the segments.
pub const MAX_SEGMENTS: usize = 16;
/// The maximum size of a stored path in bytes, after encoding.
pub const MAX_BYTES: usize = 1024;

/// The path under which the archive counts the views of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoredPath {
    /// The page's own path.
    Page(String),
    /// The longest prefix within the limits, for a path that exceeds [`MAX_SEGMENTS`] or
    /// [`MAX_BYTES`]. The archive counts the page only in this prefix.
    Prefix(String),
}

impl StoredPath {
    /// Returns the path under which the archive counts the views of the page at `path`.
    ///
    /// # Example
    /// ```
    /// use quillgate_worker::analytics::archive::stored_path::StoredPath;
    ///
    /// assert_eq!(StoredPath::of("/a\0"), StoredPath::Page("/a%00".to_owned()));
    /// let deep = "/a".repeat(6000);
    /// assert_eq!(StoredPath::of(&deep), StoredPath::Prefix("/a".repeat(16)));
    /// ```
    pub fn of(path: &str) -> Self {
        let encoded = encode_controls(path);
        if is_within_limits(&encoded) {
            Self::Page(encoded)
        } else {
            Self::Prefix(longest_prefix(&encoded).to_owned())
        }
    }

    /// Returns the path of either variant.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Page(path) | Self::Prefix(path) => path,
        }
    }
}

/// Percent-encodes control characters. A NUL must not reach the archive's SQL. It would end the set
/// of characters that `SQLite`'s `rtrim` removes, so the statements would compute wrong prefixes.
/// Other control characters are encoded because they are invisible.
///
/// `%` is not encoded, so that percent-encoded paths are stored unchanged.
pub fn encode_controls(path: &str) -> String {
    let mut encoded = String::with_capacity(path.len());
    for c in path.chars() {
        if c.is_control() {
            for byte in c.encode_utf8(&mut [0; 4]).bytes() {
                // Writing to a string cannot fail.
                let _ = write!(encoded, "%{byte:02X}");
            }
        } else {
            encoded.push(c);
        }
    }
    encoded
}

/// Whether the archive stores an encoded path in full.
pub fn is_within_limits(path: &str) -> bool {
    let segments = path.split('/').filter(|segment| !segment.is_empty());
    path.len() <= MAX_BYTES && segments.count() <= MAX_SEGMENTS
}

/// Returns the longest prefix of whole segments within the limits, or `/` if the first segment is
/// too long.
fn longest_prefix(path: &str) -> &str {
    let ends = path.match_indices('/').map(|(at, _)| at);
    let prefixes = ends.map(|end| path[..end].trim_end_matches('/'));
    prefixes
        .take_while(|prefix| is_within_limits(prefix))
        .filter(|prefix| !prefix.is_empty())
        .last()
        .unwrap_or("/")
}
