//! The default host of native programs. [`ReqwestHost`] sends requests with reqwest.

use std::sync::OnceLock;
use std::time::{Duration, SystemTime};

use http::{Request, Response};
use rustls_platform_verifier::BuilderVerifierExt;

use crate::client::error::HostError;
use crate::client::host::{BoxFuture, Host, HostResponse};
use crate::date::Timestamp;

/// The default host of native programs. It uses reqwest, with rustls and the certificates of the
/// operating system, and tokio's timers.
///
/// Futures must run on a tokio runtime with I/O and time enabled. The first request creates the
/// HTTP client, so it reports missing certificates.
#[derive(Debug, Default)]
pub struct ReqwestHost(OnceLock<Result<reqwest::Client, HostError>>);

impl ReqwestHost {
    /// Creates a host with a new HTTP client.
    ///
    /// # Example
    /// ```
    /// # use quillgate::client::{Client, ReqwestHost};
    /// let builder = Client::builder().host(ReqwestHost::new());
    /// ```
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn client(&self) -> Result<&reqwest::Client, HostError> {
        self.0
            .get_or_init(build_client)
            .as_ref()
            .map_err(Clone::clone)
    }
}

/// Uses your own HTTP client, for example with a proxy. It must not follow redirects
/// (`reqwest::redirect::Policy::none()`).
impl From<reqwest::Client> for ReqwestHost {
    fn from(client: reqwest::Client) -> Self {
        Self(OnceLock::from(Ok(client)))
    }
}

fn build_client() -> Result<reqwest::Client, HostError> {
    // Don't rely on the process-wide provider: the program may have set another one, or none.
    let provider = rustls::crypto::ring::default_provider();
    let tls = rustls::ClientConfig::builder_with_provider(provider.into())
        .with_safe_default_protocol_versions()
        .and_then(BuilderVerifierExt::with_platform_verifier)
        .map_err(HostError::new)?
        .with_no_client_auth();
    reqwest::Client::builder()
        .tls_backend_preconfigured(tls)
        .redirect(reqwest::redirect::Policy::none())
        .build()
        .map_err(HostError::new)
}

impl Host for ReqwestHost {
    fn send(&self, request: Request<String>) -> BoxFuture<'_, Result<HostResponse, HostError>> {
        Box::pin(async move {
            let request = reqwest::Request::try_from(request).map_err(HostError::new)?;
            let response = self.client()?.execute(request).await;
            let mut response = response.map_err(|error| HostError::new(error.without_url()))?;
            let mut answer = Response::builder().status(response.status());
            if let Some(headers) = answer.headers_mut() {
                *headers = std::mem::take(response.headers_mut());
            }
            let body = read_body(response).await;
            answer.body(body).map_err(HostError::new)
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

/// Reads a body as UTF-8. Replaces invalid bytes, as `fetch` does.
async fn read_body(response: reqwest::Response) -> Result<String, HostError> {
    let bytes = response.bytes().await;
    let bytes = bytes.map_err(|error| HostError::new(error.without_url()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
