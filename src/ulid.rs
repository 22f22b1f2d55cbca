//! ULIDs, the identifiers of conversations.

/// Returns whether `text` is a ULID: 26 characters of Crockford's base 32 in either case, without
/// `I`, `L`, `O` and `U`, and at most 128 bits.
///
/// ```
/// use quillgate::ulid::is_ulid;
///
/// assert!(is_ulid("01ARZ3NDEKTSV4RRFFQ69G5FAV"));
/// assert!(!is_ulid("01ARZ3NDEKTSV4RRFFQ69G5FAU"));
/// assert!(!is_ulid("81ARZ3NDEKTSV4RRFFQ69G5FAV"));
/// ```
#[must_use]
pub fn is_ulid(text: &str) -> bool {
    let digit = |byte: u8| {
        byte.is_ascii_alphanumeric()
            && !matches!(byte.to_ascii_uppercase(), b'I' | b'L' | b'O' | b'U')
    };
    text.len() == 26 && text.as_bytes()[0] <= b'7' && text.bytes().all(digit)
}
