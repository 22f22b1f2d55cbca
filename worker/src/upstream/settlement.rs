//! What to store under an idempotency key after a request was sent to Mintlify.

/// What is kept of a request that was sent upstream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Settlement {
    /// Its answer, even an error.
    Store,
    /// Only that nobody knows how it ended.
    Unknown,
    /// Nothing: it was not carried out, and may be sent again under the same key.
    Forget,
}

/// Decides what is kept by the status of the upstream's answer; `None` when there was none, or
/// not all of it arrived.
///
/// 408 says that the upstream gave up waiting, not what it had done by then. After 421 and 425 it
/// has done nothing (RFC 9110, section 15.5.20; RFC 8470, section 5.2), and may answer otherwise
/// the next time.
#[must_use]
pub const fn settle(status: Option<u16>) -> Settlement {
    match status {
        None | Some(408) => Settlement::Unknown,
        Some(401 | 403 | 421 | 425 | 429) => Settlement::Forget,
        Some(_) => Settlement::Store,
    }
}
