//! What every API request goes through, whatever it asks for.

use std::convert::Infallible;
use std::future;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::connection::Line;
use crate::fault::Outcome;
use crate::ledger::{Received, Visit};
use crate::operation::Target;
use crate::platform::Platform;
use crate::refusal::Refusal;

const MAX_BODY: usize = 1024 * 1024;
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Headers that a proxy should not pass on.
const PRIVATE_HEADERS: [(HeaderName, HeaderValue); 4] = [
    (
        header::SET_COOKIE,
        HeaderValue::from_static("session=simulated; Path=/; HttpOnly"),
    ),
    (
        header::SERVER,
        HeaderValue::from_static("simulated-upstream"),
    ),
    (
        HeaderName::from_static("x-internal-host"),
        HeaderValue::from_static("api-7.internal.example"),
    ),
    (
        HeaderName::from_static("x-powered-by"),
        HeaderValue::from_static("simulation"),
    ),
];

/// Counts and logs the request, waits as long as the latency says, and answers
/// it, or has a fault do so.
pub(crate) async fn receive(
    State(platform): State<Arc<Platform>>,
    request: Request,
    next: Next,
) -> Response {
    let target = Target::of(&request);
    let mut visit = platform.ledger.arrive(target);
    let (parts, body) = request.into_parts();
    let Ok(body) = to_bytes(body, MAX_BODY).await else {
        let refusal = Refusal::BodyTooLarge.into_response();
        return visit.dressed(refusal);
    };
    let now = platform.clock.now();
    let received = Received::new(target, (&parts, &body), &platform.keys.lock(), now);
    platform.ledger.log(received);
    let uri = parts.uri.to_string();
    let ordered = platform.faults.lock().next(target, &uri);
    let fault = ordered.or_else(|| platform.random_faults.lock().next());
    wait(platform.options.latency_ms).await;

    let line = parts.extensions.get::<Line>().cloned();
    let answer = next.run(Request::from_parts(parts, Body::from(body)));
    let outcome = match fault {
        None => Outcome::Answer(answer.await),
        Some(fault) => fault.strike(&platform.held, answer).await,
    };
    match outcome {
        Outcome::Answer(response) => visit.dressed(response),
        Outcome::Cut(response) => {
            // It is the simulator that ends this one, not the client.
            visit.finish();
            visit.dressed(response)
        }
        Outcome::Silence => match future::pending::<Infallible>().await {},
        Outcome::Reset => {
            visit.finish();
            if let Some(line) = line {
                line.reset();
            }
            match future::pending::<Infallible>().await {}
        }
    }
}

async fn wait(ms: u64) {
    if ms > 0 {
        tokio::time::sleep(Duration::from_millis(ms)).await;
    }
}

impl Visit {
    fn dressed(self, mut response: Response) -> Response {
        let headers = response.headers_mut();
        for (name, value) in PRIVATE_HEADERS {
            headers.entry(name).or_insert(value);
        }
        if let Ok(id) = HeaderValue::try_from(self.request_id()) {
            headers.entry(REQUEST_ID).or_insert(id);
        }
        self.follow(response)
    }
}
