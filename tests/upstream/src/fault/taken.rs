//! A real answer, taken apart to be spoilt.

use std::time::Duration;

use axum::body::{Body, Bytes, to_bytes};
use axum::http::header::CONTENT_LENGTH;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use crate::body::{CutBody, DripBody};

pub(super) struct Taken {
    status: StatusCode,
    headers: HeaderMap,
    body: Bytes,
}

impl Taken {
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

    pub(super) fn empty_page(mut self) -> Response {
        self.status = StatusCode::OK;
        let real: Value = serde_json::from_slice(&self.body).unwrap_or_default();
        let totals = match real.get("totals") {
            Some(totals) => totals.clone(),
            None => json!({ "human": 0, "ai": 0, "total": 0 }),
        };
        let page = json!({ "totals": totals, "views": [], "hasMore": true });
        self.with(Body::from(page.to_string()))
    }

    pub(super) fn drip(self, piece: usize, interval_ms: u64) -> Response {
        let interval = tokio::time::interval(Duration::from_millis(interval_ms));
        let body = DripBody::new(self.body.clone(), piece, interval);
        self.with(Body::new(body))
    }
}
