//! The head of a request. The host passes it as a single string, because reading twenty fields one by
//! one would cost more than planning the request.
//!
//! The string has one line each for a random UUID, the method, the URL and the [`header_names`] of the
//! method. None of them can contain a line feed (RFC 9110, section 5.5). The line of a header field
//! begins with `=`. If the field is missing, the line is empty.

/// Returns the names of the relevant header fields, in the order of their lines.
#[must_use]
pub const fn header_names(is_post: bool) -> &'static [&'static str] {
    if is_post { &WRITES } else { &READS }
}

const READS: [&str; 11] = [
    "x-request-id",
    "traceparent",
    "tracestate",
    "authorization",
    "cf-access-jwt-assertion",
    "origin",
    "sec-fetch-site",
    "cache-control",
    "if-none-match",
    "prefer",
    "last-event-id",
];

const WRITES: [&str; 13] = [
    "x-request-id",
    "traceparent",
    "tracestate",
    "authorization",
    "cf-access-jwt-assertion",
    "origin",
    "sec-fetch-site",
    "content-type",
    "content-length",
    "idempotency-key",
    "idempotency-retry",
    "webhook-url",
    "cf-turnstile-response",
];

/// The head of a request, in the host's format.
#[derive(Debug, Clone)]
pub struct PackedHead<'a> {
    /// A random UUID.
    pub uuid: &'a str,
    /// The method.
    pub method: &'a str,
    /// The absolute URL.
    pub url: &'a str,
    fields: Vec<Option<&'a str>>,
}

impl<'a> PackedHead<'a> {
    /// Parses the host's string.
    #[must_use]
    pub fn read(text: &'a str) -> Self {
        let mut lines = text.split('\n');
        let mut next = || lines.next().unwrap_or("");
        Self {
            uuid: next(),
            method: next(),
            url: next(),
            fields: lines.map(|line| line.strip_prefix('=')).collect(),
        }
    }

    /// Returns the value of a field in [`header_names`].
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&'a str> {
        let names = header_names(self.method == "POST");
        let at = names.iter().position(|own| *own == name)?;
        *self.fields.get(at)?
    }

    /// Returns the value of a field unless it is empty.
    fn value(&self, name: &str) -> Option<&'a str> {
        self.field(name).filter(|value| !value.is_empty())
    }

    /// Returns the request's id: a valid `X-Request-Id` of the caller, else the UUID.
    #[must_use]
    pub fn id(&self) -> &'a str {
        let own = self.value("x-request-id").filter(|id| is_harmless(id));
        own.unwrap_or(self.uuid)
    }

    /// Returns `traceparent`.
    #[must_use]
    pub fn traceparent(&self) -> Option<&'a str> {
        self.value("traceparent")
    }

    /// Returns `tracestate`.
    #[must_use]
    pub fn tracestate(&self) -> Option<&'a str> {
        self.value("tracestate")
    }

    /// Returns the parts of the head that the planner reads.
    #[must_use]
    pub fn request_head(&self) -> RequestHead<'a> {
        RequestHead {
            method: self.method,
            url: self.url,
            authorization: self.value("authorization"),
            access_assertion: self.value("cf-access-jwt-assertion"),
            origin: self.value("origin"),
            content_type: self.value("content-type"),
            content_length: self.value("content-length"),
            fetch_site: self.value("sec-fetch-site"),
            ..RequestHead::default()
        }
    }

    /// Returns the header fields that only writes have.
    #[must_use]
    pub fn write_headers(&self) -> WriteHeaders {
        let field = |name| self.field(name).map(str::to_owned);
        WriteHeaders {
            idempotency_key: field("idempotency-key"),
            idempotency_retry: field("idempotency-retry"),
            webhook_url: field("webhook-url"),
            turnstile: field("cf-turnstile-response"),
        }
    }
}

fn is_harmless(id: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"_-=".contains(&byte);
    id.len() <= 255 && id.bytes().all(fits)
}

/// The parts of a request that the planner reads, without the body.
#[derive(Debug, Clone, Copy, Default)]
pub struct RequestHead<'a> {
    /// The method.
    pub method: &'a str,
    /// The absolute URL.
    pub url: &'a str,
    /// `Authorization`.
    pub authorization: Option<&'a str>,
    /// `Cf-Access-Jwt-Assertion`.
    pub access_assertion: Option<&'a str>,
    /// `Origin`.
    pub origin: Option<&'a str>,
    /// `Content-Type`.
    pub content_type: Option<&'a str>,
    /// `Content-Length`.
    pub content_length: Option<&'a str>,
    /// `Sec-Fetch-Site`: the browser's relation of the calling page to the gateway.
    pub fetch_site: Option<&'a str>,
    /// `Cookie` of a request without `Authorization`.
    pub cookie: Option<&'a str>,
}

/// The header fields that only writes have.
#[derive(Debug, Clone, Default)]
pub struct WriteHeaders {
    /// `Idempotency-Key`.
    pub idempotency_key: Option<String>,
    /// `Idempotency-Retry`.
    pub idempotency_retry: Option<String>,
    /// `Webhook-Url`.
    pub webhook_url: Option<String>,
    /// `Cf-Turnstile-Response`.
    pub turnstile: Option<String>,
}
