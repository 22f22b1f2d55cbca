//! The reasons why a request got no response.

/// The reason why a request got no response head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransportError {
    /// The connection could not be opened, or broke before the response head arrived.
    Broken,
    /// The head of the response did not arrive in time.
    TimedOut,
}
