//! Handlers that watch jobs: event streams and long polls.

use std::cell::RefCell;
use std::rc::Rc;

use quillgate::{JobId, Millis};
use wasm_bindgen::JsValue;
use wasm_bindgen::closure::Closure;
use web_sys::{Response, WebSocket};
use worker::worker_sys::ext::ResponseExt as _;

use crate::app::pending_request::PendingRequest;
use crate::app::reply::Reply;
use crate::app::request_context::reserve_read;
use crate::hash::fingerprint;
use crate::http::problem::Problem;
use crate::http::problem_kind::ProblemKind;
use crate::http::response::HeaderFields;
use crate::jobs::events::{
    CHARGE_TEXT, HEARTBEAT, HEARTBEAT_TEXT, LongPoll, OPENING_TEXT, PollProgress, StreamEvent,
    limit_stream, parse_event_number,
};
use crate::jobs::project_stub::{PROBLEM_HEADER, WatchCall};
use crate::runtime::{StreamSettings, event_stream, now, response_headers, wait_for_message};

/// Streams the events of a job, or of all jobs of the project.
pub async fn stream_events(
    pending: &mut PendingRequest,
    job: Option<&JobId>,
) -> Result<Reply, Problem> {
    let after = pending.head.last_event_id.as_deref();
    let after = after.and_then(parse_event_number);
    let socket = match watch(pending, job, after).await? {
        Ok(socket) => socket,
        Err(refusal) => return Ok(refusal),
    };
    let signal = pending.request.signal();
    let count_poll = poll_counter(pending)?;
    let stream = event_stream(
        &socket,
        &signal,
        &StreamSettings {
            opening: OPENING_TEXT,
            heartbeat: HEARTBEAT_TEXT,
            period: HEARTBEAT.0,
            lifetime: stream_lifetime(pending)?.0,
            charge: CHARGE_TEXT,
        },
        Box::new(move || count_poll().then_some(()).ok_or(JsValue::NULL)),
    );
    let stream = stream.map_err(|error| pending.gate_failed(&error))?;
    if pending.context.is_head {
        // A reply to `HEAD` has no body, so no reader would close the socket.
        let _ = stream.cancel();
    }
    let content_type = "text/event-stream; charset=utf-8";
    Ok(Reply {
        status: 200,
        headers: HeaderFields::default().with("content-type", content_type),
        body: stream.into(),
        problem: None,
    })
}

/// Waits until a job changes, at most this many seconds.
pub async fn long_poll(
    pending: &mut PendingRequest,
    job: &JobId,
    seconds: u64,
) -> Result<Reply, Problem> {
    let socket = match watch(pending, Some(job), None).await? {
        Ok(socket) => socket,
        Err(refusal) => return Ok(refusal),
    };
    let poll = LongPoll::new(pending.head.if_none_match.as_deref());
    let poll = Rc::new(RefCell::new(poll));
    let shared = Rc::clone(&poll);
    let count_poll = poll_counter(pending)?;
    let on_message = Closure::new(move |text: String| {
        if text == CHARGE_TEXT {
            return !count_poll();
        }
        let event = StreamEvent::from_text(&text);
        let progress = event.map(|event| shared.borrow_mut().on_event(event));
        progress == Some(PollProgress::Done)
    });
    let signal = pending.request.signal();
    let lifetime = stream_lifetime(pending)?;
    let time = Millis::from_seconds(seconds).min(lifetime);
    let received = wait_for_message(&socket, &signal, time, on_message).await;
    received.map_err(|error| pending.gate_failed(&error))?;
    // `None` means that the socket closed before the first event.
    let response = poll.borrow().to_response(seconds);
    response
        .map(Reply::from)
        .ok_or_else(Problem::gate_unavailable)
}

/// Returns the maximum lifetime of the caller's stream.
fn stream_lifetime(pending: &PendingRequest) -> Result<Millis, Problem> {
    let in_session = pending.context.session.is_some();
    Ok(limit_stream(pending.caller()?.expires, now(), in_session))
}

/// Opens a WebSocket that receives changes, or returns the object's refusal.
async fn watch(
    pending: &mut PendingRequest,
    job: Option<&JobId>,
    after: Option<u64>,
) -> Result<Result<WebSocket, Reply>, Problem> {
    let watch = WatchCall {
        call: pending.call()?,
        job: job.map(|job| job.as_str().to_owned()),
        // The key has any length, but the runtime limits a tag to 256 characters.
        caller: fingerprint(&[&pending.caller()?.key()]),
        after,
    };
    let opened = async { pending.project_stub()?.watch(&watch).await };
    let response = opened.await.map_err(|error| pending.gate_failed(&error))?;
    match response.websocket() {
        Some(socket) => Ok(Ok(socket)),
        None => Ok(Err(forward(&response))),
    }
}

/// Returns a function that counts a poll as a read of this caller. It returns whether the poll is
/// within the caller's limits.
fn poll_counter(pending: &PendingRequest) -> Result<impl Fn() -> bool + use<>, Problem> {
    let caller = Rc::clone(pending.caller()?);
    let (project, config) = (pending.project()?.clone(), Rc::clone(&pending.config));
    Ok(move || reserve_read(&caller, &project, &config).is_ok())
}

/// Forwards the object's response.
fn forward(response: &Response) -> Reply {
    let headers = response_headers(response);
    let problem = headers.get(PROBLEM_HEADER).and_then(ProblemKind::from_name);
    Reply {
        status: response.status(),
        headers: headers.without(PROBLEM_HEADER),
        body: response.body().map_or(JsValue::NULL, JsValue::from),
        problem,
    }
}
