//! POST requests with small responses, to the token endpoints of issuers.

use quillgate::Millis;

use crate::http::response::HeaderFields;
use crate::upstream::transport::{Caching, Outgoing, send};

/// The time limit for a request and its response.
const TIMEOUT: Millis = Millis::from_seconds(10);
const MAX_RESPONSE_BYTES: usize = 64 * 1024;

pub struct PostResponse {
    pub status: u16,
    /// The body, or `None` if the body is too long or did not arrive completely in time.
    pub body: Option<String>,
}

/// Sends a `POST`. Returns `None` if no response arrived in time.
pub async fn post(url: &str, headers: HeaderFields, body: &str) -> Option<PostResponse> {
    let sent = send(Outgoing {
        method: "POST",
        url,
        headers,
        body: Some(body),
        caching: Caching::Bypass,
        time: TIMEOUT,
    });
    let message = sent.await.ok()?;
    Some(PostResponse {
        status: message.head.status,
        body: message.read_text(MAX_RESPONSE_BYTES).await,
    })
}
