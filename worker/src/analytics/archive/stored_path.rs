use std::fmt::Write as _;

/// In bytes, after encoding. Visitors can request paths of any length.
pub const MAX_BYTES: usize = 1024;
const CUT: &str = "…";

/// Percent-encodes control characters. A path that is too long is cut, so paths with an equal start
/// are counted together.
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
