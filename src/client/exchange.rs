//! One attempt of a call. It sends a request and reads the response within a timeout.

use http::header::{
    ACCEPT, AUTHORIZATION, CONTENT_TYPE, DATE, HeaderName, HeaderValue, LOCATION, RETRY_AFTER,
};
use http::{HeaderMap, Request, StatusCode, Uri};

use crate::client::Client;
use crate::client::driver::Unsent;
use crate::client::error::HostError;
use crate::client::host::HostResponse;
use crate::client::race::{First, race};
use crate::client::settings::Settings;
use crate::error::{Rule, ValidationError};
use crate::millis::Millis;
use crate::response::Head;

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
const WEBHOOK_URL: HeaderName = HeaderName::from_static("webhook-url");
const IDEMPOTENCY_RETRY: HeaderName = HeaderName::from_static("idempotency-retry");
const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// A response with any status.
pub struct Answer {
    pub head: Head,
    pub status: StatusCode,
    pub headers: HeaderMap,
    /// An error if the body is incomplete or too large.
    pub body: Result<String, HostError>,
}

/// The reason why there is no response.
pub enum Unanswered {
    /// The base URL is invalid.
    Unsendable(ValidationError),
    /// The connection failed or broke.
    Connection(HostError),
    /// The timeout has passed.
    Timeout,
}

/// Sends a request and reads its response within `timeout`. Dropping the future aborts the request.
pub async fn exchange(
    client: &Client,
    sent: Unsent,
    timeout: Millis,
    settings: &Settings,
) -> Result<Answer, Unanswered> {
    let request = build_request(client, sent, settings).map_err(Unanswered::Unsendable)?;
    let host = &client.host;
    match race(host.send(request), host.sleep(timeout.into())).await {
        First::Left(Ok(response)) => Ok(read(response, client)),
        First::Left(Err(cause)) => Err(Unanswered::Connection(cause)),
        First::Right(()) => Err(Unanswered::Timeout),
    }
}

pub fn build_request(
    client: &Client,
    sent: Unsent,
    settings: &Settings,
) -> Result<Request<String>, ValidationError> {
    let invalid_url = || ValidationError::new("baseUrl", Rule::BaseUrl, "");
    let mut request = Request::new(sent.body.unwrap_or_default());
    *request.method_mut() = sent.method;
    *request.uri_mut() =
        read_url(&client.server.base().join(&sent.target)).ok_or_else(invalid_url)?;
    let mut headers = settings.headers.clone();
    let mut authorization = header_value(&client.server.authorization());
    authorization.set_sensitive(true);
    headers.insert(ACCEPT, JSON);
    headers.insert(AUTHORIZATION, authorization);
    if !request.body().is_empty() {
        headers.insert(CONTENT_TYPE, JSON);
    }
    if let Some(key) = &settings.key {
        headers.insert(IDEMPOTENCY_KEY, header_value(key.as_str()));
    }
    if let Some(url) = &settings.webhook {
        headers.insert(WEBHOOK_URL, header_value(url.as_str()));
    }
    if settings.is_forced {
        headers.insert(IDEMPOTENCY_RETRY, HeaderValue::from_static("force"));
    }
    *request.headers_mut() = headers;
    // Queries can contain personal data.
    #[cfg(feature = "tracing")]
    tracing::debug!(method = %request.method(), path = request.uri().path(), "sending");
    Ok(request)
}

/// Parses a URL. Returns `None` if it is invalid, or if its port is empty or above 65535.
fn read_url(url: &str) -> Option<Uri> {
    let uri: Uri = url.parse().ok()?;
    let authority = uri.authority()?;
    let after_host = authority.as_str().strip_prefix(authority.host())?;
    (after_host.is_empty() || authority.port_u16().is_some()).then_some(uri)
}

/// Converts the value of `Authorization`, an idempotency key or a webhook URL. This cannot fail,
/// because all consist of visible ASCII characters and spaces.
fn header_value(text: &str) -> HeaderValue {
    HeaderValue::from_str(text).unwrap_or(HeaderValue::from_static(""))
}

fn read(response: HostResponse, client: &Client) -> Answer {
    let text_of = |headers, name| text_of(headers, name).map(|text| client.server.redact(text));
    let head = Head {
        status: response.status().as_u16(),
        request_id: text_of(response.headers(), &X_REQUEST_ID),
        retry_after: text_of(response.headers(), &RETRY_AFTER),
        date: text_of(response.headers(), &DATE),
        location: text_of(response.headers(), &LOCATION),
    };
    #[cfg(feature = "tracing")]
    tracing::debug!(
        status = head.status,
        request_id = head.request_id,
        "received"
    );
    let (parts, body) = response.into_parts();
    Answer {
        head,
        status: parts.status,
        headers: parts.headers,
        body,
    }
}

fn text_of<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}
