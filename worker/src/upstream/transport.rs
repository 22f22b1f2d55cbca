use quillgate::Millis;
use serde_json::json;

use crate::http::response::HeaderFields;
use crate::runtime::{Body, exchange};
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
    let init = init.to_string();
    match exchange(request.url, &init, request.time).await {
        Ok((status, headers, body)) => Ok(Received {
            head: UpstreamHead { status, headers },
            body,
        }),
        Err(error) if error == "timeout" => Err(TransportError::TimedOut),
        Err(_) => Err(TransportError::Broken),
    }
}
