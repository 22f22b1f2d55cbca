//! Connections, and breaking them.

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

/// The connection a request came on: every request carries it.
#[derive(Clone, Default)]
pub(crate) struct Line(Arc<Notify>);

impl Line {
    /// Breaks the connection with a TCP reset; nothing more is sent on it.
    pub(crate) fn reset(&self) {
        self.0.notify_one();
    }
}

/// Serves until it is dropped, and all connections with it.
pub(crate) async fn accept(listener: TcpListener, router: Router) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    connections.spawn(serve(stream, router.clone()));
                }
                // No descriptors left, as a rule: some will be closed soon.
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
    let line = Line::default();
    let answering = TowerToHyperService::new(router);
    let service = service_fn(|mut request: Request<Incoming>| {
        request.extensions_mut().insert(line.clone());
        answering.call(request)
    });
    let mut connection = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
    tokio::select! {
        // An error here is a client that went away, or a fault.
        _ = &mut connection => {}
        () = line.0.notified() => reset(&connection.into_parts().io.into_inner()),
    }
}

/// Makes the coming close a reset.
fn reset(stream: &TcpStream) {
    if let Err(error) = stream.set_zero_linger() {
        eprintln!("upstream: cannot reset a connection: {error}");
    }
}
