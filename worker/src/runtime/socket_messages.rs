use std::cell::RefCell;
use std::future::poll_fn;
use std::rc::Rc;

use futures_channel::mpsc::{UnboundedReceiver, unbounded};
use futures_util::StreamExt as _;
use js_sys::Function;
use quillgate::Millis;
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;
use web_sys::{AbortSignal, MessageEvent, WebSocket};
use worker::worker_sys::ext::WebSocketExt as _;

use crate::runtime::error::HostResult;
use crate::runtime::timer::Timer;

/// The messages of a socket. They end when the socket closes, the client disconnects, the time is
/// up or a message is rejected. Dropping this value closes the socket.
pub struct SocketMessages {
    received: RefCell<UnboundedReceiver<String>>,
    end: Rc<dyn Fn()>,
    on_end: Function,
    _timer: Timer,
}

impl SocketMessages {
    /// Closes the socket after `time`, when `signal` aborts, or when `accept` returns `false`.
    pub fn listen(
        socket: &WebSocket,
        signal: &AbortSignal,
        time: Millis,
        accept: impl Fn(&str) -> bool + 'static,
    ) -> HostResult<Self> {
        let (sender, received) = unbounded();
        // The socket's listeners keep `end` alive. If `end` kept the socket alive, the cycle across
        // the boundary of the wasm module would never be released.
        let open = RefCell::new(Some(socket.clone()));
        let channel = sender.clone();
        let end: Rc<dyn Fn()> = Rc::new(move || {
            channel.close_channel();
            if let Some(socket) = open.take() {
                let _ = socket.close_with_code_and_reason(1000, "left");
            }
        });
        let stop = Rc::clone(&end);
        let on_message = Closure::<dyn Fn(MessageEvent)>::new(move |event: MessageEvent| {
            let text = event.data().as_string().unwrap_or_default();
            if sender.is_closed() || !accept(&text) || sender.unbounded_send(text).is_err() {
                stop();
            }
        });
        let stop = Rc::clone(&end);
        let on_end = Closure::<dyn Fn()>::new(move || stop());
        let on_message: Function = on_message.into_js_value().unchecked_into();
        let on_end: Function = on_end.into_js_value().unchecked_into();
        socket.add_event_listener_with_callback("message", &on_message)?;
        socket.add_event_listener_with_callback("close", &on_end)?;
        socket.add_event_listener_with_callback("error", &on_end)?;
        signal.add_event_listener_with_callback("abort", &on_end)?;
        socket.accept()?;
        if signal.aborted() {
            end();
        }
        Ok(Self {
            received: RefCell::new(received),
            end,
            _timer: Timer::begin(time, &on_end),
            on_end,
        })
    }

    pub async fn next(&self) -> Option<String> {
        poll_fn(|context| self.received.borrow_mut().poll_next_unpin(context)).await
    }

    /// Ends the messages after `time`, unless the returned timer is dropped earlier.
    pub fn end_after(&self, time: Millis) -> Timer {
        Timer::begin(time, &self.on_end)
    }

    pub fn end(&self) {
        (self.end)();
    }
}

impl Drop for SocketMessages {
    fn drop(&mut self) {
        self.end();
    }
}
