//! Results together with the head of their response.

use http::{HeaderMap, StatusCode};

/// A result with the status and the header fields of its response.
///
/// # Example
#[doc = concat!("```\n", include_str!("../../tests/client/examples/send_with_response.rs"), "```")]
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ApiResponse<T> {
    /// The result.
    pub result: T,
    /// The status, which is 2xx.
    pub status: StatusCode,
    /// The header fields, such as `RateLimit` and `Age` of a gateway.
    pub headers: HeaderMap,
}

impl<T> ApiResponse<T> {
    /// Returns `X-Request-Id`, if the server sent it. Quote it when you report a problem.
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../../tests/client/examples/send_with_response.rs"), "```")]
    #[must_use]
    pub fn request_id(&self) -> Option<&str> {
        self.headers.get("x-request-id")?.to_str().ok()
    }
}
