//! Starting and stopping.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use crate::platform::Platform;
use crate::{Options, connection, routes};

/// The simulated platform.
#[derive(Debug)]
pub struct Simulator;

impl Simulator {
    /// Binds the loopback interface and serves from the current tokio runtime.
    ///
    /// # Errors
    ///
    /// Returns an error if the port is in use or not permitted.
    pub async fn start(options: Options) -> io::Result<Running> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, options.port)).await?;
        let addr = listener.local_addr()?;
        let router = routes::router(Arc::new(Platform::new(options)));
        let accepting = tokio::spawn(connection::accept(listener, router));
        Ok(Running { addr, accepting })
    }
}

/// A running simulator. Dropping it closes the listener and all connections.
#[derive(Debug)]
pub struct Running {
    /// The address that the simulator listens on.
    pub addr: SocketAddr,
    accepting: JoinHandle<()>,
}

impl Running {
    /// The base URL for clients, without a trailing slash.
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
