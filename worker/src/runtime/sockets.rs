//! The sockets of watchers. Errors are only logged, because callers have further work to do.

use worker::WebSocket;

use crate::runtime::log_for_operator;

const NORMAL_CLOSURE: u16 = 1000;

pub fn send(socket: &WebSocket, text: &str) {
    log_failure("send to", socket.send_with_str(text));
}

pub fn close(socket: &WebSocket, reason: &str) {
    log_failure("close", socket.close(Some(NORMAL_CLOSURE), Some(reason)));
}

fn log_failure(action: &str, result: worker::Result<()>) {
    if let Err(error) = result {
        let message = format!("cannot {action} a watcher's socket: {error}");
        log_for_operator(&message);
    }
}
