//! Converts an async `next` method to a [`Stream`].

use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::Stream;

use crate::client::error::Error;
use crate::client::host::{BoxFuture, MaybeSend};

/// A type with an async method that returns its next item.
pub trait Source: MaybeSend + Sized + 'static {
    type Item: MaybeSend;

    /// Returns the next item, or `None` after the last.
    fn next_item(&mut self) -> impl Future<Output = Next<Self>> + MaybeSend;
}

/// The items of a source until the first error.
pub struct SourceStream<S: Source>(State<S>);

enum State<S: Source> {
    /// Boxed, so that the stream is `Unpin`.
    Idle(Box<S>),
    Busy(BoxFuture<'static, (Box<S>, Next<S>)>),
    Done,
}

type Next<S> = Result<Option<<S as Source>::Item>, Error>;

impl<S: Source> SourceStream<S> {
    pub fn new(source: S) -> Self {
        Self(State::Idle(Box::new(source)))
    }
}

impl<S: Source> Stream for SourceStream<S> {
    type Item = Result<S::Item, Error>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let state = &mut self.get_mut().0;
        let mut pending: BoxFuture<'static, _> = match std::mem::replace(state, State::Done) {
            State::Idle(mut source) => Box::pin(async move {
                let item = source.next_item().await;
                (source, item)
            }),
            State::Busy(pending) => pending,
            State::Done => return Poll::Ready(None),
        };
        let Poll::Ready((source, item)) = pending.as_mut().poll(context) else {
            *state = State::Busy(pending);
            return Poll::Pending;
        };
        if let Ok(Some(_)) = item {
            *state = State::Idle(source);
        }
        Poll::Ready(item.transpose())
    }
}
