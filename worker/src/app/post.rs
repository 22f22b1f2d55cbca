//! POST requests with small responses. The handlers send them to Turnstile and to the token
//! endpoints of issuers.

use quillgate::Millis;

use crate::http::response::HeaderFields;
use crate::upstream::transport::{Outgoing, send};

/// The timeout of a request, including its response.
const TIMEOUT: Millis = Millis::from_seconds(10);
/// The maximum length of a response, in bytes.
const MAX_RESPONSE_BYTES: usize = 64 * 1024;

/// A response to [`post`].
pub struct PostResponse {
    pub status: u16,
    /// The body, or `None` if it is too long or did not arrive completely in time.
    pub body: Option<String>,
}

/// Sends a `POST`. Returns `None` if no response arrived in time.
pub async fn post(url: &str, headers: HeaderFields, body: &str) -> Option<PostResponse> {
    let sent = send(Outgoing {
        method: "POST",
        url,
        headers,
        body: Some(body),
        time: TIMEOUT,
    });
    let message = sent.await.ok()?;
    Some(PostResponse {
        status: message.head.status,
        body: message.read_text(MAX_RESPONSE_BYTES).await,
    })
}
