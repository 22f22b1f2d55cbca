//! Requests to other servers. [`send`] sends a request with a timeout, and [`Message`] reads the
//! body of the response.

use js_sys::{Function, Object, Reflect};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{
    AbortController, RequestCache, RequestInit, RequestRedirect, Response, WorkerGlobalScope,
};

use quillgate::Millis;

use crate::http::response::HeaderFields;
use crate::runtime::{Timer, read_headers, read_stream, to_record};
use crate::upstream::failure::TransportError;
use crate::upstream::head::UpstreamHead;

pub struct Outgoing<'a> {
    pub method: &'a str,
    pub url: &'a str,
    pub headers: HeaderFields,
    pub body: Option<&'a str>,
    pub caching: Caching,
    /// The time limit for the request and the whole response.
    pub time: Millis,
}

/// Whether Cloudflare's cache, and caches between the gateway and the server, may answer a request.
#[derive(Clone, Copy)]
pub enum Caching {
    Bypass,
    /// Cloudflare caches a 2xx response for this time, whatever its header fields say.
    For(Millis),
}

impl Caching {
    fn apply(self, init: &RequestInit) -> Result<(), JsValue> {
        let Self::For(time) = self else {
            init.set_cache(RequestCache::NoStore);
            return Ok(());
        };
        // `cacheTtl` would also cache errors and redirects. -1 means that Cloudflare never caches
        // them. Miniflare ignores `cf`.
        let seconds = u32::try_from(time.0 / 1_000).unwrap_or(u32::MAX);
        let by_status = Object::new();
        Reflect::set(&by_status, &"200-299".into(), &seconds.into())?;
        Reflect::set(&by_status, &"300-599".into(), &(-1).into())?;
        let cf = Object::new();
        Reflect::set(&cf, &"cacheEverything".into(), &true.into())?;
        Reflect::set(&cf, &"cacheTtlByStatus".into(), &by_status)?;
        Reflect::set(init, &"cf".into(), &cf)?;
        Ok(())
    }
}

/// A response whose body has not been read. Dropping this value aborts the request.
pub struct Message {
    response: Response,
    pub head: UpstreamHead,
    /// The number of bytes of the body, if known.
    length: Option<usize>,
    timeout: Timeout,
}

impl Message {
    /// Reads the body. Returns `None` if the body has more than `max_bytes` bytes, or does not
    /// arrive completely in time.
    pub async fn read_text(self, max_bytes: usize) -> Option<String> {
        let text = match self.length {
            // The body is known to be short enough, so one call can read it.
            Some(length) if length <= max_bytes => {
                let text = JsFuture::from(self.response.text().ok()?).await.ok()?;
                text.as_string()?
            }
            Some(_) => return None,
            None => self.read_chunks(max_bytes).await?,
        };
        self.timeout.finish();
        Some(text)
    }

    async fn read_chunks(&self, max_bytes: usize) -> Option<String> {
        let bytes = read_stream(self.response.body(), max_bytes).await.ok()??;
        let mut text = String::from_utf8(bytes)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
        // `Response.text()` also removes a byte order mark, which JSON parsers reject.
        if text.starts_with('\u{feff}') {
            text.remove(0);
        }
        Some(text)
    }
}

/// Returns `Content-Length`, which is the maximum size of the body: the runtime never delivers more
/// bytes. Returns `None` if the header is absent, or if the body is encoded and can be longer after
/// decoding.
fn plain_length(headers: &HeaderFields) -> Option<usize> {
    match headers.get("content-encoding") {
        None | Some("identity") => headers.get("content-length")?.parse().ok(),
        Some(_) => None,
    }
}

/// The time limit of a request. The request is aborted when the time is up, or when this value is
/// dropped before [`Self::finish`].
struct Timeout {
    controller: AbortController,
    _timer: Timer,
    is_finished: bool,
}

impl Timeout {
    fn begin(time: Millis) -> Result<Self, JsValue> {
        let controller = AbortController::new()?;
        // The timer calls JavaScript's `abort` directly, so that it also works after the wasm
        // module has trapped.
        let abort: Function = Reflect::get(&controller, &"abort".into())?.unchecked_into();
        Ok(Self {
            _timer: Timer::begin(time, &abort.bind0(&controller)),
            controller,
            is_finished: false,
        })
    }

    /// Ends the timeout after a complete response. Dropping the timeout then does not abort the
    /// request.
    fn finish(mut self) {
        self.is_finished = true;
    }
}

impl Drop for Timeout {
    fn drop(&mut self) {
        if !self.is_finished {
            self.controller.abort();
        }
    }
}

/// Sends a request and waits for the head of the response. Redirects are never followed.
///
/// # Errors
/// Returns [`TransportError`] if no response head arrives.
pub async fn send(request: Outgoing<'_>) -> Result<Message, TransportError> {
    let timeout = Timeout::begin(request.time).map_err(|_| TransportError::Broken)?;
    let signal = timeout.controller.signal();
    let sent = async {
        let init = RequestInit::new();
        init.set_method(request.method);
        init.set_headers(&to_record(&request.headers));
        if let Some(body) = request.body {
            init.set_body(&body.into());
        }
        init.set_redirect(RequestRedirect::Manual);
        request.caching.apply(&init)?;
        init.set_signal(Some(&signal));
        let global: WorkerGlobalScope = js_sys::global().unchecked_into();
        JsFuture::from(global.fetch_with_str_and_init(request.url, &init)).await
    };
    match sent.await {
        Ok(response) => {
            let response: Response = response.unchecked_into();
            let headers = read_headers(&response.headers());
            Ok(Message {
                length: plain_length(&headers),
                head: UpstreamHead {
                    status: response.status(),
                    headers,
                },
                response,
                timeout,
            })
        }
        Err(_) if signal.aborted() => Err(TransportError::TimedOut),
        Err(_) => Err(TransportError::Broken),
    }
}
