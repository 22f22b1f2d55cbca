//! The head of a request, read once.

use crate::http::url::split_url;

/// The method, the URL and the relevant header fields of a request.
#[derive(Debug, Clone)]
pub struct RequestHead {
    /// The request's id: a valid `X-Request-Id` of the caller, or else the UUID.
    pub id: String,
    /// A random UUID, from which the id of the gateway's span derives. If the caller sent no valid
    /// request id or trace id, they derive from it too. It also identifies a Turnstile verification
    /// without an idempotency key.
    pub uuid: String,
    /// The HTTP method, such as `GET`.
    pub method: String,
    /// The absolute URL, as the runtime has normalized it.
    pub url: String,
    /// The path of the URL, percent-encoded.
    pub path: String,
    /// The query of the URL without the question mark, percent-encoded.
    pub query: Option<String>,
    /// The trace that the request belongs to (W3C Trace Context).
    pub traceparent: Option<String>,
    /// The state that tracing systems have attached to the trace (W3C Trace Context).
    pub tracestate: Option<String>,
    /// The value of `Authorization`.
    pub authorization: Option<String>,
    /// The token that Cloudflare Access adds as `Cf-Access-Jwt-Assertion`.
    pub access_assertion: Option<String>,
    /// All cookies of the request, as one `Cookie` field.
    pub cookie: Option<String>,
    /// The origin of the page that sent the request. Usually absent from clients other than
    /// browsers.
    pub origin: Option<String>,
    /// `Sec-Fetch-Site`: the relation of the page's origin to the gateway's, such as `same-origin`.
    pub fetch_site: Option<String>,
    /// The media type of the body.
    pub content_type: Option<String>,
    /// The announced length of the body in bytes. It is not parsed yet.
    pub content_length: Option<String>,
    /// `Cache-Control`; `no-cache` bypasses cached reports.
    pub cache_control: Option<String>,
    /// The entity tags that the caller already has.
    pub if_none_match: Option<String>,
    /// `Accept`, which distinguishes a browser's navigation from other requests.
    pub accept: Option<String>,
    /// `Prefer`, whose `wait` requests a long poll or lets an export wait.
    pub prefer: Option<String>,
    /// `Last-Event-ID`, the number after which an event stream resumes.
    pub last_event_id: Option<String>,
    /// The header fields that only requests for writes may have.
    pub write: WriteHeaders,
}

impl RequestHead {
    /// Reads a head. `field` returns the value of a header field.
    pub fn read(
        uuid: String,
        method: String,
        url: String,
        field: impl Fn(&str) -> Option<String>,
    ) -> Self {
        let value = |name| field(name).filter(|value| !value.is_empty());
        let (path, query) = split_url(&url);
        Self {
            id: value("x-request-id")
                .filter(|id| is_harmless(id))
                .unwrap_or_else(|| uuid.clone()),
            path: path.to_owned(),
            query: query.map(str::to_owned),
            traceparent: value("traceparent"),
            tracestate: value("tracestate"),
            authorization: value("authorization"),
            access_assertion: value("cf-access-jwt-assertion"),
            cookie: value("cookie"),
            origin: value("origin"),
            fetch_site: value("sec-fetch-site"),
            content_type: value("content-type"),
            content_length: value("content-length"),
            cache_control: value("cache-control"),
            if_none_match: value("if-none-match"),
            accept: value("accept"),
            prefer: value("prefer"),
            last_event_id: value("last-event-id"),
            write: match &*method {
                "POST" => WriteHeaders::read(&field),
                _ => WriteHeaders::default(),
            },
            uuid,
            method,
            url,
        }
    }

    /// Returns `Cookie` if it may identify the caller. `Authorization` takes precedence.
    pub fn session_cookie(&self) -> Option<&str> {
        match self.authorization {
            Some(_) => None,
            None => self.cookie.as_deref(),
        }
    }
}

/// Returns whether a client accepts an HTML page, as browsers do when they navigate.
pub fn accepts_page(accept: Option<&str>) -> bool {
    let mut types = accept.unwrap_or("").split(',');
    types.any(|one| {
        let name = one.split(';').next().unwrap_or("");
        name.trim().eq_ignore_ascii_case("text/html")
    })
}

fn is_harmless(id: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"_-=".contains(&byte);
    id.len() <= 255 && id.bytes().all(fits)
}

/// The header fields that only writes have. Unlike the other fields, an empty value does not count
/// as absent, so that validation can reject it.
#[derive(Debug, Clone, Default)]
pub struct WriteHeaders {
    /// `Idempotency-Key`, bare or quoted.
    pub idempotency_key: Option<String>,
    /// `Idempotency-Retry`, whose only valid value is `force`.
    pub idempotency_retry: Option<String>,
    /// `Webhook-Url`, the address of the job's webhook.
    pub webhook_url: Option<String>,
    /// `Cf-Turnstile-Response`, the response of the Turnstile widget.
    pub turnstile: Option<String>,
}

impl WriteHeaders {
    fn read(field: impl Fn(&str) -> Option<String>) -> Self {
        Self {
            idempotency_key: field("idempotency-key"),
            idempotency_retry: field("idempotency-retry"),
            webhook_url: field("webhook-url"),
            turnstile: field("cf-turnstile-response"),
        }
    }
}
