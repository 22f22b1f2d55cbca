//! A real answer, taken apart to be spoilt.

use std::time::Duration;

use axum::body::{Body, Bytes, to_bytes};
use axum::http::header::CONTENT_LENGTH;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde_json::Value;

use super::page::Lie;
use crate::body::{CutBody, DripBody};
use crate::cursor::CursorPage;

pub(super) struct Taken {
    status: StatusCode,
    headers: HeaderMap,
    body: Bytes,
    /// Of a page of a cursor list.
    cursors: Option<CursorPage>,
}

impl Taken {
    pub(super) async fn from(response: Response) -> Self {
        let (mut parts, body) = response.into_parts();
        parts.headers.remove(CONTENT_LENGTH);
        Self {
            cursors: parts.extensions.remove(),
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

    /// Always short of at least one byte of what it announces.
    pub(super) fn cut_body(mut self, bytes: Option<usize>) -> Response {
        let whole = self.body.len();
        self.headers
            .insert(CONTENT_LENGTH, HeaderValue::from(whole));
        let sent = bytes.unwrap_or(whole / 2).min(whole.saturating_sub(1));
        self.cut_chunked(Some(sent))
    }

    /// A body of unknown length is sent in chunks.
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

    /// The page with a lie in it; any other answer as it is.
    pub(super) fn with_lie(mut self, lie: Lie) -> Response {
        if let Ok(mut answer) = serde_json::from_slice::<Value>(&self.body) {
            lie.tell(&mut answer, self.cursors.as_ref());
            self.body = answer.to_string().into();
        }
        let body = self.body.clone();
        self.with(Body::from(body))
    }

    pub(super) fn drip(self, piece: usize, interval_ms: u64) -> Response {
        let interval = tokio::time::interval(Duration::from_millis(interval_ms));
        let body = DripBody::new(self.body.clone(), piece, interval);
        self.with(Body::new(body))
    }
}
