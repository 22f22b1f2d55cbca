//! The default host of native programs. [`ReqwestHost`] sends requests with reqwest.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime};

use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, HeaderValue};
use http::{HeaderMap, Request, Response, response};

use crate::client::content_encoding::{ACCEPTED, BodyTooLarge, MAX_BODY, decode_body};
use crate::client::error::HostError;
use crate::client::host::{BoxFuture, Host, HostBody, HostResponse, HostStream};
use crate::client::lazy_verifier::LazyVerifier;
use crate::date::Timestamp;

/// The default host of native programs. It uses reqwest, with rustls and the certificates of the
/// operating system, and tokio's timers.
///
/// Futures must run on a tokio runtime with I/O and time enabled. The first request creates the
/// HTTP client. The first `https:` connection loads the certificates, so it reports if they are
/// missing.
///
/// A body has at most 8 MiB, decoded. Use [`List::export`](crate::client::List::export) for whole reports.
#[derive(Debug, Default)]
pub struct ReqwestHost(OnceLock<Result<reqwest::Client, HostError>>);

impl ReqwestHost {
    /// Creates a host with a new HTTP client.
    ///
    /// # Example
    /// ```
    /// # use quillgate::Client;
    /// # use quillgate::client::ReqwestHost;
    /// let builder = Client::builder().host(ReqwestHost::new());
    /// ```
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a host with your own HTTP client, for example with a proxy. It must not follow
    /// redirects (`reqwest::redirect::Policy::none()`).
    ///
    /// The feature `reqwest-0-13` is not part of the API that this crate keeps stable: it names the
    /// release of reqwest.
    ///
    /// # Example
    /// ```
    /// # use quillgate::client::ReqwestHost;
    /// # fn host(proxied: reqwest::Client) -> ReqwestHost {
    /// ReqwestHost::with_client(proxied)
    /// # }
    /// ```
    #[cfg(feature = "reqwest-0-13")]
    #[must_use]
    pub fn with_client(client: reqwest::Client) -> Self {
        Self(OnceLock::from(Ok(client)))
    }

    fn client(&self) -> Result<&reqwest::Client, HostError> {
        self.0
            .get_or_init(build_client)
            .as_ref()
            .map_err(Clone::clone)
    }

    /// Sends a request. Returns the head of the response, and the response with its body.
    async fn execute(
        &self,
        request: Request<String>,
        encodings: &'static str,
    ) -> Result<(response::Builder, reqwest::Response), HostError> {
        let mut request = reqwest::Request::try_from(request).map_err(HostError::new)?;
        let headers = request.headers_mut().entry(ACCEPT_ENCODING);
        headers.or_insert(HeaderValue::from_static(encodings));
        let response = self.client()?.execute(request).await;
        let mut response = response.map_err(|error| HostError::new(error.without_url()))?;
        let mut head = Response::builder().status(response.status());
        if let Some(headers) = head.headers_mut() {
            *headers = std::mem::take(response.headers_mut());
        }
        Ok((head, response))
    }
}

struct ReqwestBody(reqwest::Response);

impl HostBody for ReqwestBody {
    fn chunk(&mut self) -> BoxFuture<'_, Result<Option<Vec<u8>>, HostError>> {
        Box::pin(async {
            let chunk = self.0.chunk().await;
            let chunk = chunk.map_err(|error| HostError::new(error.without_url()))?;
            Ok(chunk.map(Into::into))
        })
    }
}

fn build_client() -> Result<reqwest::Client, HostError> {
    // Don't rely on the process-wide provider: the program may have set another one, or none.
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let tls = rustls::ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(HostError::new)?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(LazyVerifier::new(provider)))
        .with_no_client_auth();
    reqwest::Client::builder()
        .tls_backend_preconfigured(tls)
        .redirect(reqwest::redirect::Policy::none())
        .user_agent(concat!("quillgate-rust/", env!("CARGO_PKG_VERSION")))
        .build()
        .map_err(HostError::new)
}

impl Host for ReqwestHost {
    fn send(&self, request: Request<String>) -> BoxFuture<'_, Result<HostResponse, HostError>> {
        Box::pin(async move {
            let (answer, response) = self.execute(request, ACCEPTED).await?;
            let body = match collect(ReqwestBody(response)).await {
                Ok(bytes) => read_body(answer.headers_ref(), bytes).map_err(HostError::new),
                Err(error) => Err(error),
            };
            answer.body(body).map_err(HostError::new)
        })
    }

    fn open(
        &self,
        request: Request<String>,
    ) -> BoxFuture<'_, Result<Option<HostStream>, HostError>> {
        Box::pin(async move {
            // A compressed stream would arrive late, because encoders wait for more data.
            let (answer, response) = self.execute(request, "identity").await?;
            let encoding = answer
                .headers_ref()
                .and_then(|headers| headers.get(CONTENT_ENCODING));
            let is_success = response.status().is_success();
            if is_success
                && encoding
                    .is_some_and(|encoding| !encoding.as_bytes().eq_ignore_ascii_case(b"identity"))
            {
                return Ok(None);
            }
            let body: Box<dyn HostBody> = Box::new(ReqwestBody(response));
            answer.body(body).map(Some).map_err(HostError::new)
        })
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'_, ()> {
        Box::pin(tokio::time::sleep(duration))
    }

    fn now(&self) -> Timestamp {
        SystemTime::now().into()
    }

    fn random(&self) -> Option<[u8; 16]> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).ok()?;
        Some(bytes)
    }
}

/// Reads a whole body, which is not decoded yet.
async fn collect(mut body: ReqwestBody) -> Result<Vec<u8>, HostError> {
    let mut bytes = Vec::new();
    while let Some(chunk) = body.chunk().await? {
        bytes.extend_from_slice(&chunk);
        if bytes.len() > MAX_BODY {
            return Err(HostError::new(BodyTooLarge));
        }
    }
    Ok(bytes)
}

/// Reads a body as `fetch` does: decoded, as UTF-8 with invalid bytes replaced, and without a byte
/// order mark.
fn read_body(headers: Option<&HeaderMap>, bytes: Vec<u8>) -> std::io::Result<String> {
    let bytes = match headers {
        Some(headers) => decode_body(headers, bytes)?,
        None => bytes,
    };
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
    Ok(String::from_utf8_lossy(text).into_owned())
}
