//! The request upstream: what was decided, the admin key, and nothing of the caller's.

use std::pin::pin;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::future::{Either, select};
use quillgate::response::Head;
use quillgate::{ApiError, Method, Millis, Request};
use worker::{
    AbortController, CacheMode, Delay, Fetch, Headers, RequestInit, RequestRedirect, Response,
    Result,
};

use crate::config::Config;
use crate::upstream::{self, Silence};

/// How much of an upstream error's body is read for its message.
const LONGEST_ERROR: usize = 64 * 1024;

/// Sends a request upstream and waits for the head of the answer.
pub async fn send(
    config: &Config,
    request: &Request,
) -> Result<std::result::Result<Response, Silence>> {
    let outgoing = outgoing(config, request)?;
    let controller = AbortController::default();
    let signal = controller.signal();
    let fetch = Fetch::Request(outgoing);
    let sent = pin!(fetch.send_with_signal(&signal));
    let timer = pin!(deadline(config));
    Ok(match select(sent, timer).await {
        Either::Left((response, _)) => response.map_err(|_| Silence::Broken),
        Either::Right(((), _)) => {
            controller.abort();
            Err(Silence::TimedOut)
        }
    })
}

fn deadline(config: &Config) -> Delay {
    Delay::from(Duration::from_millis(config.upstream_timeout.0))
}

fn outgoing(config: &Config, request: &Request) -> Result<worker::Request> {
    let headers = Headers::new();
    headers.set("accept", "application/json")?;
    let mut authorization = String::from("Bearer ");
    authorization.push_str(config.admin_key.expose());
    headers.set("authorization", &authorization)?;
    headers.set(
        "user-agent",
        concat!("quillgate/", env!("CARGO_PKG_VERSION")),
    )?;
    let mut init = RequestInit::new();
    init.with_redirect(RequestRedirect::Manual)
        // Whatever a path may look like, nothing between here and there keeps an answer.
        .with_cache(CacheMode::NoStore)
        .with_method(match request.method {
            Method::Get => worker::Method::Get,
            Method::Post => worker::Method::Post,
        });
    if let Some(body) = &request.body {
        headers.set("content-type", "application/json")?;
        init.with_body(Some(body.as_str().into()));
    }
    init.with_headers(headers);
    worker::Request::new_with_init(&config.upstream.join(&request.target), &init)
}

/// The upstream's own error, by its head and what can be read of its body in time.
pub async fn error(config: &Config, response: Response, now: Millis) -> ApiError {
    let header = |name| response.headers().get(name).ok().flatten();
    let head = Head {
        status: response.status_code(),
        request_id: header("x-request-id"),
        retry_after: header("retry-after"),
    };
    let read = pin!(error_text(response));
    let timer = pin!(deadline(config));
    let body = match select(read, timer).await {
        Either::Left((body, _)) => body,
        Either::Right(_) => Vec::new(),
    };
    let body = upstream::error_body(&body, &config.admin_key);
    head.api_error(body.as_ref(), now)
}

async fn error_text(mut response: Response) -> Vec<u8> {
    let mut body = Vec::new();
    if let Ok(mut stream) = response.stream() {
        while let Some(Ok(chunk)) = stream.next().await {
            body.extend_from_slice(&chunk);
            if body.len() > LONGEST_ERROR {
                break;
            }
        }
    }
    body
}
