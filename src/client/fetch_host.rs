//! The default host of programs compiled to WebAssembly. [`FetchHost`] sends requests with `fetch`.

use std::time::Duration;

use gloo_net::http::{Headers, RequestBuilder};
use gloo_timers::future::TimeoutFuture;
use http::Request;
use js_sys::{Function, JsString, Promise, Reflect, Uint8Array};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use web_sys::{
    AbortController, AbortSignal, ReadableStreamDefaultReader, RequestRedirect, Response,
};

use crate::client::error::HostError;
use crate::client::host::{BoxFuture, Host, HostBody, HostResponse, HostStream};
use crate::date::Timestamp;

#[wasm_bindgen]
extern "C" {
    // gloo-net's `send` panics if `fetch` rejects with a value other than an `Error`, and drops an
    // error's `cause`.
    #[wasm_bindgen(catch, js_name = fetch)]
    fn global_fetch(request: &web_sys::Request) -> Result<JsValue, JsValue>;

    #[wasm_bindgen(catch, js_namespace = crypto, js_name = getRandomValues)]
    fn get_random_values(bytes: &mut [u8]) -> Result<JsValue, JsValue>;
}

/// The default host in WebAssembly: `fetch`, timers and `crypto` of a browser, a Worker or Node.js.
#[derive(Debug, Default)]
pub struct FetchHost {
    fetch: Option<Function>,
}

impl FetchHost {
    /// Creates a host that sends with the global `fetch`.
    ///
    /// # Example
    /// ```no_run
    /// # use quillgate::client::{Client, FetchHost};
    /// let builder = Client::builder().host(FetchHost::new());
    /// ```
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a host that sends with this function, such as the `fetch` of a Worker's service
    /// binding. It receives a `Request` and returns a `Response` or a promise of one.
    ///
    /// # Example
    #[doc = concat!("```no_run\n", include_str!("../../tests/client_web/examples/with_fetch.rs"), "```")]
    #[must_use]
    pub const fn with_fetch(fetch: Function) -> Self {
        Self { fetch: Some(fetch) }
    }

    async fn fetch(
        &self,
        request: Request<String>,
        guard: &AbortOnDrop,
    ) -> Result<Response, HostError> {
        let request = build_request(request, guard.signal().as_ref())?;
        let sent = match &self.fetch {
            Some(fetch) => fetch.call1(&JsValue::UNDEFINED, &request),
            None => global_fetch(&request),
        };
        let promise = Promise::resolve(&sent.map_err(HostError::new)?);
        let response = JsFuture::from(promise).await.map_err(HostError::new)?;
        let not_a_response = |_| js_sys::TypeError::new("fetch did not return a Response").into();
        response
            .dyn_into()
            .map_err(not_a_response)
            .map_err(HostError::new)
    }
}

impl Host for FetchHost {
    fn send(&self, request: Request<String>) -> BoxFuture<'_, Result<HostResponse, HostError>> {
        Box::pin(async move {
            let guard = AbortOnDrop::new();
            let response = self.fetch(request, &guard).await?;
            let body = read_body(&response).await;
            build_response(&response, body)
        })
    }

    fn open(
        &self,
        request: Request<String>,
    ) -> BoxFuture<'_, Result<Option<HostStream>, HostError>> {
        Box::pin(async move {
            let guard = AbortOnDrop::new();
            let response = self.fetch(request, &guard).await?;
            let reader = response
                .body()
                .map(|body| body.get_reader().unchecked_into());
            let body: Box<dyn HostBody> = Box::new(FetchBody {
                reader,
                _guard: guard,
            });
            build_response(&response, body).map(Some)
        })
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'_, ()> {
        // A timer with a longer delay fires immediately.
        const MAX_TIMER: u32 = i32::MAX.unsigned_abs();
        let millis = u32::try_from(duration.as_millis()).unwrap_or(MAX_TIMER);
        Box::pin(TimeoutFuture::new(millis.min(MAX_TIMER)))
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the clock is a positive integer below 2^53"
    )]
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(js_sys::Date::now() as u64)
    }

    fn random(&self) -> Option<[u8; 16]> {
        let mut bytes = [0; 16];
        get_random_values(&mut bytes).ok()?;
        Some(bytes)
    }
}

fn build_request(
    request: Request<String>,
    signal: Option<&AbortSignal>,
) -> Result<web_sys::Request, HostError> {
    let (head, body) = request.into_parts();
    let headers = Headers::new();
    for (name, value) in &head.headers {
        // Skip values that are not ASCII. Only headers set by the caller can have them.
        if let Ok(value) = value.to_str() {
            headers.append(name.as_str(), value);
        }
    }
    let builder = RequestBuilder::new(&head.uri.to_string())
        .method(head.method)
        .headers(headers)
        .redirect(RequestRedirect::Manual)
        .abort_signal(signal);
    let built = if body.is_empty() {
        builder.build()
    } else {
        builder.body(body)
    };
    let built = built.map_err(|error| js_sys::TypeError::new(&error.to_string()));
    built
        .map(web_sys::Request::from)
        .map_err(|error| HostError::new(error.into()))
}

fn build_response<B>(response: &Response, body: B) -> Result<http::Response<B>, HostError> {
    // Browsers report a redirect that is not followed as status 0, which is not an HTTP status.
    let status = match response.status() {
        0 => 302,
        status => status,
    };
    let mut answer = http::Response::builder().status(status);
    for (name, value) in Headers::from_raw(response.headers()).entries() {
        answer = answer.header(name, value);
    }
    let invalid = |error: http::Error| js_sys::TypeError::new(&error.to_string()).into();
    answer.body(body).map_err(invalid).map_err(HostError::new)
}

async fn read_body(response: &Response) -> Result<String, HostError> {
    let promise = response.text().map_err(HostError::new)?;
    let text = JsFuture::from(promise).await.map_err(HostError::new)?;
    Ok(String::from(JsString::from(text)))
}

struct FetchBody {
    /// `None` for a response without a body.
    reader: Option<ReadableStreamDefaultReader>,
    _guard: AbortOnDrop,
}

impl HostBody for FetchBody {
    fn chunk(&mut self) -> BoxFuture<'_, Result<Option<Vec<u8>>, HostError>> {
        Box::pin(async {
            let Some(reader) = &self.reader else {
                return Ok(None);
            };
            let result = JsFuture::from(reader.read()).await;
            let result = result.map_err(HostError::new)?;
            let value = Reflect::get(&result, &"value".into()).map_err(HostError::new)?;
            // At the end, the value is undefined.
            Ok(value.dyn_ref::<Uint8Array>().map(Uint8Array::to_vec))
        })
    }
}

/// Aborts a request when it is dropped. This has no effect on a finished request.
struct AbortOnDrop(Option<AbortController>);

impl AbortOnDrop {
    fn new() -> Self {
        Self(AbortController::new().ok())
    }

    fn signal(&self) -> Option<AbortSignal> {
        self.0.as_ref().map(AbortController::signal)
    }
}

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        if let Some(controller) = &self.0 {
            controller.abort();
        }
    }
}
