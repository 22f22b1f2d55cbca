//! The outcome to store under an idempotency key after a request to Mintlify.

/// The outcome to store under an idempotency key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyOutcome {
    /// The response, which may be an error. It is replayed to callers that repeat the request.
    Store,
    /// An unknown outcome. Callers must force a repetition.
    Unknown,
    /// Nothing. Mintlify did not process the request, so callers may repeat it with the same key.
    Release,
}

impl KeyOutcome {
    /// Returns the outcome for a status of Mintlify. `status` is `None` if no complete response
    /// arrived.
    ///
    /// After a 408, Mintlify may have processed a part of the request. With 401, 403, 421, 425 and
    /// 429, it refuses a request without processing it (RFC 9110, section 15.5.20, for 421; RFC
    /// 8470, section 5.2, for 425).
    pub const fn from_status(status: Option<u16>) -> Self {
        match status {
            None | Some(408) => Self::Unknown,
            Some(401 | 403 | 421 | 425 | 429) => Self::Release,
            Some(_) => Self::Store,
        }
    }
}
