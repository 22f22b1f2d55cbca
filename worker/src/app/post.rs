//! Sends small POST requests to Turnstile and to the token endpoints of issuers.

use quillgate::Millis;

use crate::http::response::HeaderFields;
use crate::upstream::transport::{Outgoing, send};

/// The timeout of a request, including its response.
const TIMEOUT: Millis = Millis::from_seconds(10);
/// The maximum length of a response, in bytes.
const MAX_RESPONSE_BYTES: usize = 64 * 1024;

/// Sends a POST request and returns the body of a 2xx response.
///
/// # Errors
/// The status of a response without a usable body, or `None` if no response arrived.
pub async fn post(url: &str, headers: HeaderFields, body: &str) -> Result<String, Option<u16>> {
    let sent = send(Outgoing {
        method: "POST",
        url,
        headers,
        body: Some(body),
        time: TIMEOUT,
    });
    let message = sent.await.map_err(|_| None::<u16>)?;
    let status = message.head.status;
    let text = match status {
        200..=299 => message.read_text(MAX_RESPONSE_BYTES).await,
        _ => None,
    };
    text.ok_or(Some(status))
}
