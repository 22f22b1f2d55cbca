//! Serving connections and resetting them.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::task::JoinSet;

/// The connection of a request. Every request carries it as an extension.
#[derive(Clone, Default)]
pub(crate) struct ConnectionHandle(Arc<Notify>);

impl ConnectionHandle {
    /// Closes the connection with a TCP reset without sending anything more.
    pub(crate) fn reset(&self) {
        self.0.notify_one();
    }
}

/// Accepts connections until the future is dropped, which closes them all.
pub(crate) async fn accept(listener: TcpListener, router: Router) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    connections.spawn(serve(stream, router.clone()));
                }
                // Usually the process has run out of file descriptors.
                Err(_) => tokio::time::sleep(Duration::from_millis(10)).await,
            },
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn serve(stream: TcpStream, router: Router) {
    if stream.set_nodelay(true).is_err() {
        return;
    }
    let handle = ConnectionHandle::default();
    let router_service = TowerToHyperService::new(router);
    let service = service_fn(|mut request: Request<Incoming>| {
        request.extensions_mut().insert(handle.clone());
        router_service.call(request)
    });
    let mut connection = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
    tokio::select! {
        // An error means that the client disconnected or that a fault ended the connection.
        _ = &mut connection => {}
        () = handle.0.notified() => reset(&connection.into_parts().io.into_inner()),
    }
}

/// Turns the next close of the stream into a reset.
fn reset(stream: &TcpStream) {
    if let Err(error) = stream.set_zero_linger() {
        eprintln!("upstream: cannot reset a connection: {error}");
    }
}
