//! The sockets of watchers. These functions log the errors of a socket and never return them,
//! because the caller must continue. For example, an alarm has further jobs to poll, and a request
//! has a response to record.

use worker::WebSocket;

use crate::runtime::log_for_operator;

/// The close code for a stream that ended normally (RFC 6455, section 7.4.1).
const NORMAL_CLOSURE: u16 = 1000;

/// Sends a message, or logs why it could not be sent.
pub fn send(socket: &WebSocket, text: &str) {
    log_failure("send to", socket.send_with_str(text));
}

/// Closes a socket, or logs why it could not be closed.
pub fn close(socket: &WebSocket, reason: &str) {
    log_failure("close", socket.close(Some(NORMAL_CLOSURE), Some(reason)));
}

fn log_failure(action: &str, result: worker::Result<()>) {
    if let Err(error) = result {
        let message = format!("cannot {action} a watcher's socket: {error}");
        log_for_operator(&message);
    }
}
