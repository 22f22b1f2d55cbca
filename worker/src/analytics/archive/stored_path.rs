//! The form in which the archive stores paths. Visitors can request paths of any length.

use std::fmt::Write as _;

/// The maximum size of a stored path in bytes, after encoding.
pub const MAX_BYTES: usize = 1024;
const CUT: &str = "…";

/// Returns the path under which the archive counts views. Control characters are percent-encoded. A
/// path that is too long is cut, so paths with an equal start are counted together.
///
/// ```
/// use quillgate_worker::analytics::archive::stored_path::store_path;
///
/// assert_eq!(store_path("/a\0"), "/a%00");
/// assert!(store_path(&"/a".repeat(6000)).ends_with("/a/…"));
/// ```
pub fn store_path(path: &str) -> String {
    let mut stored = String::with_capacity(path.len());
    for c in path.chars() {
        if c.is_control() {
            for byte in c.encode_utf8(&mut [0; 4]).bytes() {
                // Writing to a string cannot fail.
                let _ = write!(stored, "%{byte:02X}");
            }
        } else {
            stored.push(c);
        }
    }
    if stored.len() > MAX_BYTES {
        stored.truncate(stored.floor_char_boundary(MAX_BYTES - CUT.len()));
        stored.push_str(CUT);
    }
    stored
}
