//! Starting and stopping.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use crate::platform::Platform;
use crate::{Options, connection, routes};

/// The simulated platform, to be started.
#[derive(Debug)]
pub struct Simulator;

impl Simulator {
    /// Binds the loopback interface and serves from the current tokio runtime.
    ///
    /// # Errors
    ///
    /// When the port is taken or not allowed.
    pub async fn start(options: Options) -> io::Result<Running> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, options.port)).await?;
        let addr = listener.local_addr()?;
        let router = routes::router(Arc::new(Platform::new(options)));
        let accepting = tokio::spawn(connection::accept(listener, router));
        Ok(Running { addr, accepting })
    }
}

/// A simulator that takes requests; it stops, with all its connections, when
/// this is dropped.
#[derive(Debug)]
pub struct Running {
    /// Where it listens.
    pub addr: SocketAddr,
    accepting: JoinHandle<()>,
}

impl Running {
    /// The base URL to give to a client, without a final slash.
    #[must_use]
    pub fn base_url(&self) -> String {
        format!("http://{}", self.addr)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}
