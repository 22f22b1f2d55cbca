//! The interface between the client and its environment.

use std::pin::Pin;
use std::time::Duration;

use http::{Request, Response};

use crate::client::error::HostError;
use crate::date::Timestamp;

/// [`Send`] in native programs. In WebAssembly, every type implements it, because futures with
/// JavaScript values never move to another thread.
#[cfg(not(target_arch = "wasm32"))]
pub trait MaybeSend: Send {}
#[cfg(not(target_arch = "wasm32"))]
impl<T: Send + ?Sized> MaybeSend for T {}

/// [`Send`] in native programs. In WebAssembly, every type implements it, because futures with
/// JavaScript values never move to another thread.
#[cfg(target_arch = "wasm32")]
pub trait MaybeSend {}
#[cfg(target_arch = "wasm32")]
impl<T: ?Sized> MaybeSend for T {}

/// [`Sync`] in native programs. In WebAssembly, every type implements it; see [`MaybeSend`].
#[cfg(not(target_arch = "wasm32"))]
pub trait MaybeSync: Sync {}
#[cfg(not(target_arch = "wasm32"))]
impl<T: Sync + ?Sized> MaybeSync for T {}

/// [`Sync`] in native programs. In WebAssembly, every type implements it; see [`MaybeSend`].
#[cfg(target_arch = "wasm32")]
pub trait MaybeSync {}
#[cfg(target_arch = "wasm32")]
impl<T: ?Sized> MaybeSync for T {}

/// A boxed future, which is `Send` in native programs.
#[cfg(not(target_arch = "wasm32"))]
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;
/// A boxed future.
#[cfg(target_arch = "wasm32")]
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + 'a>>;

/// A response. Its body is an error if the connection broke before the body was complete.
pub type HostResponse = Response<Result<String, HostError>>;

/// A response whose body is read in chunks.
pub type HostStream = Response<Box<dyn HostBody>>;

/// The body of a [`HostStream`]. Dropping it must close the connection.
pub trait HostBody: MaybeSend {
    /// Returns the next chunk, or `None` at the end.
    ///
    /// # Errors
    /// A [`HostError`] if the connection broke before the body was complete.
    fn chunk(&mut self) -> BoxFuture<'_, Result<Option<Vec<u8>>, HostError>>;
}

/// The environment of a client: it sends requests, waits, and provides the time and randomness.
///
/// `ReqwestHost` is the default in native programs and `FetchHost` in WebAssembly. Implement this
/// trait to use another HTTP client, or a fake server and clock in tests.
///
/// # Example
#[doc = concat!("```\n", include_str!("../../tests/client/examples/host.rs"), "```")]
pub trait Host: MaybeSend + MaybeSync + 'static {
    /// Sends a request. An empty body means no body.
    ///
    /// The future must not follow redirects, because the request contains a credential. Dropping it
    /// must abort the request. The client enforces timeouts.
    ///
    /// # Errors
    /// Returns a [`HostError`] if the host receives no response. If the connection breaks later,
    /// returns the response with the error as its body.
    fn send(&self, request: Request<String>) -> BoxFuture<'_, Result<HostResponse, HostError>>;

    /// Sends a request and returns the response as soon as its head has arrived. The client reads
    /// event streams with this method. Otherwise, as [`Self::send`].
    ///
    /// Returns `None` if the host cannot read the stream, for example because it is compressed. The
    /// default sends nothing and returns `None`. The client then polls.
    ///
    /// # Errors
    /// A [`HostError`] if the host receives no response.
    fn open(
        &self,
        request: Request<String>,
    ) -> BoxFuture<'_, Result<Option<HostStream>, HostError>> {
        drop(request);
        Box::pin(async { Ok(None) })
    }

    /// Waits for `duration`. Dropping the future must release its timer.
    fn sleep(&self, duration: Duration) -> BoxFuture<'_, ()>;

    /// Returns the current time.
    fn now(&self) -> Timestamp;

    /// Returns random bytes for idempotency keys and for jitter, or `None` if there is no source of
    /// secure randomness. Then a `POST` has no random key, so it is retried only if the caller sets
    /// a key.
    fn random(&self) -> Option<[u8; 16]>;
}
