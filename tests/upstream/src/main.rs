//! The `upstream` command. See the documentation of the library.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;
use upstream::{Options, Simulator};

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
    let running = Simulator::start(options).await?;
    let mut stdout = io::stdout();
    writeln!(stdout, "upstream listening on {}", running.base_url())?;
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
