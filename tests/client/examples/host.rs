use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use quillgate::Timestamp;
use quillgate::client::http::Request;
use quillgate::client::{BoxFuture, Host, HostError, HostResponse, HostStream};

/// Counts the requests of another host.
pub struct CountingHost<H> {
    pub inner: H,
    pub count: AtomicU32,
}

impl<H: Host> Host for CountingHost<H> {
    fn send(&self, request: Request<String>) -> BoxFuture<'_, Result<HostResponse, HostError>> {
        self.count.fetch_add(1, Ordering::Relaxed);
        self.inner.send(request)
    }

    fn open(
        &self,
        request: Request<String>,
    ) -> BoxFuture<'_, Result<Option<HostStream>, HostError>> {
        self.count.fetch_add(1, Ordering::Relaxed);
        self.inner.open(request)
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'_, ()> {
        self.inner.sleep(duration)
    }

    fn now(&self) -> Timestamp {
        self.inner.now()
    }

    fn random(&self) -> Option<[u8; 16]> {
        self.inner.random()
    }
}
