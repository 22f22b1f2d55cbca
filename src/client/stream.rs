//! Converts an async `next` method to a [`Stream`].

use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::Stream;

use crate::client::error::Error;
use crate::client::host::BoxFuture;

/// The next item of a source, and the source.
type Next<S, T> = (Result<Option<T>, Error>, S);

/// The items of a source until the first error.
pub struct Items<S, T> {
    state: State<S, T>,
    next: fn(S) -> BoxFuture<'static, Next<S, T>>,
}

enum State<S, T> {
    Idle(S),
    Busy(BoxFuture<'static, Next<S, T>>),
    Done,
}

impl<S, T> Items<S, T> {
    /// Creates a stream. `next` returns the next item of the source, or `None` after the last.
    pub fn new(source: S, next: fn(S) -> BoxFuture<'static, Next<S, T>>) -> Self {
        let state = State::Idle(source);
        Self { state, next }
    }
}

impl<S, T> Unpin for Items<S, T> {}

impl<S, T> Stream for Items<S, T> {
    type Item = Result<T, Error>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        let mut pending = match std::mem::replace(&mut this.state, State::Done) {
            State::Idle(source) => (this.next)(source),
            State::Busy(pending) => pending,
            State::Done => return Poll::Ready(None),
        };
        let Poll::Ready((item, source)) = pending.as_mut().poll(context) else {
            this.state = State::Busy(pending);
            return Poll::Pending;
        };
        if let Ok(Some(_)) = item {
            this.state = State::Idle(source);
        }
        Poll::Ready(item.transpose())
    }
}
