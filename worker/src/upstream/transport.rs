use quillgate::Millis;
use serde_json::json;
use wasm_bindgen::JsCast as _;
use wasm_bindgen_futures::JsFuture;

use crate::http::response::HeaderFields;
use crate::runtime::{Exchanged, exchange, read_fields, to_number};
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

pub struct Received {
    pub head: UpstreamHead,
    pub body: Body,
}

/// Dropping an incomplete body aborts the request.
pub struct Body(Exchanged);

impl Body {
    /// Returns `None` if the body is longer, or incomplete when the time of the request is up.
    pub async fn read(&self, max_bytes: usize) -> Option<String> {
        let text = JsFuture::from(self.0.read(max_bytes)).await;
        text.ok()?.as_string()
    }
}

impl Drop for Body {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// Redirects are never followed.
pub async fn send(request: Outgoing<'_>) -> Result<Received, TransportError> {
    let mut init = json!({
        "method": request.method,
        "headers": request.headers,
        "body": request.body,
    });
    match request.caching {
        Caching::Bypass => init["cache"] = "no-store".into(),
        // `cacheTtl` would also cache errors and redirects, for which -1 disables caching.
        // Miniflare ignores `cf`.
        Caching::For(time) => {
            let seconds = time.0 / 1_000;
            let by_status = json!({ "200-299": seconds, "300-599": -1 });
            init["cf"] = json!({ "cacheEverything": true, "cacheTtlByStatus": by_status });
        }
    }
    let exchanged = exchange(request.url, &init.to_string(), to_number(request.time.0));
    match JsFuture::from(exchanged).await {
        Ok(exchanged) => {
            let exchanged: Exchanged = exchanged.unchecked_into();
            let status = exchanged.status();
            let headers = read_fields(exchanged.fields().split('\n'));
            Ok(Received {
                head: UpstreamHead { status, headers },
                body: Body(exchanged),
            })
        }
        Err(error) if error == "timeout" => Err(TransportError::TimedOut),
        Err(_) => Err(TransportError::Broken),
    }
}
