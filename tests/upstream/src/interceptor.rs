//! The middleware of all API requests: counters, request log and faults.

use std::convert::Infallible;
use std::future;
use std::sync::Arc;

use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::api_error::ApiError;
use crate::connection::ConnectionHandle;
use crate::fault::Outcome;
use crate::operation::MatchedOperation;
use crate::platform::Platform;
use crate::request_log::{ActiveRequest, Received};

const MAX_BODY: usize = 2 * 1024 * 1024;
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Headers that a proxy must not forward.
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

/// Counts and logs a request, applies faults, and adds headers.
///
/// A request with a body that is too large is counted, but not logged.
pub(crate) async fn intercept(
    State(platform): State<Arc<Platform>>,
    request: Request,
    next: Next,
) -> Response {
    let target = MatchedOperation::of(&request);
    let mut active_request = platform.request_log.begin(target);
    let (parts, body) = request.into_parts();
    let Ok(body) = to_bytes(body, MAX_BODY).await else {
        let api_error = ApiError::BodyTooLarge.into_response();
        return active_request.with_private_headers(api_error);
    };
    let now = platform.clock.now();
    let received = Received::new(target, (&parts, &body), &platform.keys.lock(), now);
    platform.request_log.log(received);
    let uri = parts.uri.to_string();
    let queued = platform.faults.lock().next(target, &uri);
    let fault = queued.or_else(|| platform.random_faults.lock().next());

    let handle = parts.extensions.get::<ConnectionHandle>().cloned();
    let response = next.run(Request::from_parts(parts, Body::from(body)));
    let outcome = match fault {
        None => Outcome::Respond(response.await),
        Some(fault) => fault.apply(&platform.held, response).await,
    };
    match outcome {
        Outcome::Respond(response) => active_request.with_private_headers(response),
        Outcome::Truncate(response) => {
            // The simulator ends this request, not the client.
            active_request.finish();
            active_request.with_private_headers(response)
        }
        Outcome::Hang => match future::pending::<Infallible>().await {},
        Outcome::Reset => {
            active_request.finish();
            if let Some(handle) = handle {
                handle.reset();
            }
            match future::pending::<Infallible>().await {}
        }
    }
}

impl ActiveRequest {
    fn with_private_headers(self, mut response: Response) -> Response {
        let headers = response.headers_mut();
        for (name, value) in PRIVATE_HEADERS {
            headers.entry(name).or_insert(value);
        }
        if let Ok(id) = HeaderValue::try_from(self.request_id()) {
            headers.entry(REQUEST_ID).or_insert(id);
        }
        self.track(response)
    }
}
