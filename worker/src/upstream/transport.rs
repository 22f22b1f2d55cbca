use js_sys::{Function, Reflect};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{
    AbortController, RequestCache, RequestInit, RequestRedirect, Response, WorkerGlobalScope,
};

use quillgate::Millis;

use crate::http::response::HeaderFields;
use crate::runtime::{Timer, parse_json, plain_length, read_body, read_headers, to_record};
use crate::upstream::failure::TransportError;
use crate::upstream::head::UpstreamHead;

pub struct Outgoing<'a> {
    pub method: &'a str,
    pub url: &'a str,
    pub headers: HeaderFields,
    pub body: Option<&'a str>,
    pub caching: Caching,
    /// Includes the whole response.
    pub time: Millis,
}

/// Caches between the gateway and the server.
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
        // `cacheTtl` would also cache errors and redirects, for which -1 disables caching.
        // Miniflare ignores `cf`.
        let seconds = time.0 / 1_000;
        let cf = format!(
            r#"{{"cacheEverything":true,"cacheTtlByStatus":{{"200-299":{seconds},"300-599":-1}}}}"#
        );
        Reflect::set(init, &"cf".into(), &parse_json(&cf.into())?)?;
        Ok(())
    }
}

/// Dropping this value aborts the request, unless its body was read.
pub struct Message {
    response: Response,
    pub head: UpstreamHead,
    /// The number of bytes of the body, if known.
    length: Option<usize>,
    timeout: Timeout,
}

impl Message {
    /// `None` if the body is longer than `max_bytes` or incomplete.
    pub async fn read_text(self, max_bytes: usize) -> Option<String> {
        let read = read_body(&self.response, self.length, max_bytes).await;
        let bytes = read.ok()??;
        self.timeout.finish();
        let mut text = String::from_utf8(bytes)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
        // JSON parsers reject a byte order mark.
        if text.starts_with('\u{feff}') {
            text.remove(0);
        }
        Some(text)
    }
}

/// Aborts the request when the time is up, or when dropped before [`Self::finish`].
struct Timeout {
    controller: AbortController,
    _timer: Timer,
    is_finished: bool,
}

impl Timeout {
    fn begin(time: Millis) -> Result<Self, JsValue> {
        let controller = AbortController::new()?;
        // JavaScript's own `abort` also works after the wasm module has trapped.
        let abort: Function = Reflect::get(&controller, &"abort".into())?.unchecked_into();
        Ok(Self {
            _timer: Timer::begin(time, &abort.bind0(&controller)),
            controller,
            is_finished: false,
        })
    }

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

/// Waits for the response head. Redirects are never followed.
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
