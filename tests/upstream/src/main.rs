//! The simulator of Mintlify's admin API, which `README.md` describes.

mod agent_job;
mod analytics;
mod api_error;
mod auth;
mod automation;
mod body;
mod clock;
mod connection;
mod continuation;
mod control;
mod cursor;
mod data;
mod date;
mod deployment;
mod fault;
mod field;
mod held;
mod interceptor;
mod json_body;
mod limits;
mod operation;
mod options;
mod parameters;
mod platform;
mod random;
mod random_faults;
mod reports;
mod request_log;
mod routes;
mod ulid;

use std::io::{self, Write};
use std::net::Ipv4Addr;
use std::process::ExitCode;
use std::sync::Arc;

use clap::Parser;
use tokio::net::TcpListener;

use crate::options::Options;
use crate::platform::Platform;

#[tokio::main]
async fn main() -> ExitCode {
    match run(Options::parse()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("upstream: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run(options: Options) -> io::Result<()> {
    let stop = stop_signal()?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, options.port)).await?;
    let address = listener.local_addr()?;
    let router = routes::router(Arc::new(Platform::new(options)));
    tokio::spawn(connection::accept(listener, router));
    let mut stdout = io::stdout();
    writeln!(stdout, "upstream listening on http://{address}")?;
    stdout.flush()?;
    stop.await
}

/// Registers the signal handlers immediately, so that no signal is missed before the await.
#[cfg(unix)]
fn stop_signal() -> io::Result<impl Future<Output = io::Result<()>>> {
    use tokio::signal::unix::{SignalKind, signal};

    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => Ok(()),
            _ = terminate.recv() => Ok(()),
        }
    })
}

#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "as on Unix, where it can fail")]
fn stop_signal() -> io::Result<impl Future<Output = io::Result<()>>> {
    Ok(tokio::signal::ctrl_c())
}
