//! Faulty response bodies.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use axum::body::{Bytes, HttpBody};
use hyper::body::{Frame, SizeHint};
use tokio::time::Interval;

/// A body that fails after its bytes, which ends the connection.
pub(crate) struct CutBody {
    rest: Option<Bytes>,
    flushed: bool,
}

impl CutBody {
    pub(crate) fn after(bytes: Bytes) -> Self {
        Self {
            rest: Some(bytes),
            flushed: false,
        }
    }
}

impl HttpBody for CutBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        if let Some(bytes) = self.rest.take() {
            return Poll::Ready(Some(Ok(Frame::data(bytes))));
        }
        // The connection flushes its buffer only while the body is pending.
        if !std::mem::replace(&mut self.flushed, true) {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        Poll::Ready(Some(Err(io::Error::other("cut by a fault"))))
    }
}

/// A body that is sent slowly in small chunks.
pub(crate) struct DripBody {
    rest: Bytes,
    piece: usize,
    interval: Interval,
}

impl DripBody {
    pub(crate) fn new(bytes: Bytes, piece: usize, interval: Interval) -> Self {
        Self {
            rest: bytes,
            piece,
            interval,
        }
    }
}

impl HttpBody for DripBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        if self.rest.is_empty() {
            return Poll::Ready(None);
        }
        ready!(self.interval.poll_tick(context));
        let piece = self.piece.min(self.rest.len());
        Poll::Ready(Some(Ok(Frame::data(self.rest.split_to(piece)))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(u64::try_from(self.rest.len()).unwrap_or(u64::MAX))
    }
}
