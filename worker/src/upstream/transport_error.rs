//! The reasons why a request got no response.

/// The reason why no response arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransportError {
    /// The connection failed or broke.
    Broken,
    /// The head of the response did not arrive in time.
    TimedOut,
}
