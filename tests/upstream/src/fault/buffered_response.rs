//! A buffered response, to which faults apply.

use std::time::Duration;

use axum::body::{Body, Bytes, to_bytes};
use axum::http::header::CONTENT_LENGTH;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};

use crate::body::{CutBody, DripBody};

pub(super) struct BufferedResponse {
    status: StatusCode,
    headers: HeaderMap,
    body: Bytes,
}

impl BufferedResponse {
    pub(super) async fn from(response: Response) -> Self {
        let (mut parts, body) = response.into_parts();
        parts.headers.remove(CONTENT_LENGTH);
        Self {
            status: parts.status,
            headers: parts.headers,
            body: to_bytes(body, usize::MAX).await.unwrap_or_default(),
        }
    }

    fn with(self, body: Body) -> Response {
        (self.status, self.headers, body).into_response()
    }

    fn half(&self) -> Bytes {
        self.body.slice(..self.body.len() / 2)
    }

    /// Sends at least one byte less than `content-length` announces, unless the body is empty.
    pub(super) fn cut_body(mut self, bytes: Option<usize>) -> Response {
        let length = self.body.len();
        self.headers
            .insert(CONTENT_LENGTH, HeaderValue::from(length));
        let sent = bytes.unwrap_or(length / 2).min(length.saturating_sub(1));
        self.cut_chunked(Some(sent))
    }

    /// Sends a chunked body, which has no `content-length`, without its last chunk.
    pub(super) fn cut_chunked(self, bytes: Option<usize>) -> Response {
        let sent = bytes.unwrap_or(self.body.len() / 2).min(self.body.len());
        let sent = self.body.slice(..sent);
        self.with(Body::new(CutBody::after(sent)))
    }

    pub(super) fn malformed(mut self) -> Response {
        self.status = StatusCode::OK;
        let half = self.half();
        self.with(Body::from(half))
    }

    pub(super) fn drip(self, piece: usize, interval_ms: u64) -> Response {
        let interval = tokio::time::interval(Duration::from_millis(interval_ms));
        let body = DripBody::new(self.body.clone(), piece, interval);
        self.with(Body::new(body))
    }
}
