use std::cell::Cell;
use std::rc::Rc;

use js_sys::{Array, Promise, Uint8Array};
use quillgate::{JobId, Millis, Operation};
use wasm_bindgen::prelude::wasm_bindgen;

use crate::app::admission::reserve_read;
use crate::app::context::Context;
use crate::app::handlers::HostResponse;
use crate::app::isolate::{open_stream, with_admission};
use crate::hash::fingerprint;
use crate::http::problem::Problem;
use crate::http::response::{GatewayResponse, stream_headers};
use crate::jobs::events::{
    CHARGE_TEXT, HEARTBEAT, HEARTBEAT_TEXT, LongPoll, MAX_STREAM_LIFETIME, OPENING_TEXT,
    READ_TIMEOUT, StreamEvent, limit_stream, parse_event_number,
};
use crate::jobs::project_stub::WatchCall;
use crate::jobs::resource::Resource;
use crate::runtime::{SocketMessages, Timer, into_promise, limit_time, now};

const FIRST_EVENT_TIMEOUT: Millis = Millis::from_seconds(5);

/// A `HEAD` request opens no stream and causes no poll, so its status is 200 even if Mintlify does
/// not know the job.
pub async fn stream_events(
    context: &Context,
    operation: Operation,
) -> Result<HostResponse, Problem> {
    let resource = Resource::of(operation);
    let job = match operation {
        Operation::StreamProjectJobEvents | Operation::StreamProjectDeploymentEvents => None,
        _ => Some(context.job(resource)?),
    };
    if context.is_head() {
        return Ok(GatewayResponse::new(200, stream_headers(), None).into());
    }
    let after = context.head.header("last-event-id");
    let after = after.and_then(parse_event_number);
    let messages = match watch(context, resource, job.as_ref(), after, MAX_STREAM_LIFETIME).await? {
        Ok(messages) => messages,
        Err(refusal) => return Ok(refusal.into()),
    };
    let source = EventBody {
        opening: Cell::new(Some(OPENING_TEXT)),
        read_timeout: Rc::new(Cell::new(Some(messages.end_after(READ_TIMEOUT)))),
        messages: Rc::new(messages),
    };
    let body = open_stream(source, &context.request.signal())?;
    Ok(HostResponse::new(200, stream_headers(), body))
}

#[wasm_bindgen]
pub struct EventBody {
    opening: Cell<Option<&'static str>>,
    messages: Rc<SocketMessages>,
    /// Ends the messages if the client does not request the next chunk in time.
    read_timeout: Rc<Cell<Option<Timer>>>,
}

#[wasm_bindgen]
impl EventBody {
    /// See [`open_stream`].
    pub fn next(&self) -> Promise {
        let opening = self.opening.take().map(str::to_owned);
        let messages = Rc::clone(&self.messages);
        let read_timeout = Rc::clone(&self.read_timeout);
        read_timeout.take();
        into_promise(async move {
            let text = if opening.is_some() {
                opening
            } else {
                let message = limit_time(HEARTBEAT, messages.next()).await;
                message.unwrap_or_else(|| Some(HEARTBEAT_TEXT.to_owned()))
            };
            read_timeout.set(text.as_ref().map(|_| messages.end_after(READ_TIMEOUT)));
            let chunk = text.map(|text| Uint8Array::from(text.as_bytes()));
            // The second chunk is sent only if the module traps. The chunk is empty, because
            // clients reconnect automatically when a stream ends early.
            let chunk = chunk.map(|chunk| Array::of2(&chunk, &Uint8Array::new_with_length(0)));
            Ok(chunk.unwrap_or_default().into())
        })
    }

    pub fn cancel(&self) {
        self.messages.end();
    }
}

/// Waits for at most `seconds`. Returns the job's latest state.
pub async fn long_poll(
    context: &Context,
    resource: Resource,
    job: &JobId,
    seconds: u64,
) -> Result<HostResponse, Problem> {
    let time = Millis::from_seconds(seconds);
    let limit = FIRST_EVENT_TIMEOUT.plus(time);
    let messages = match watch(context, resource, Some(job), None, limit).await? {
        Ok(messages) => messages,
        Err(refusal) => return Ok(refusal.into()),
    };
    let mut poll = LongPoll::new(context.head.header("if-none-match"));
    wait_for_change(&messages, &mut poll, time).await;
    // There is no response if the socket closed before the first event.
    let response = poll.to_response(seconds);
    Ok(response.ok_or_else(Problem::object_unavailable)?.into())
}

/// Waits until `time` has passed since the first event, which contains the current state. A remote
/// object can need longer than a short `time` to send that event.
pub async fn wait_for_change(messages: &SocketMessages, poll: &mut LongPoll, time: Millis) {
    let mut timer = messages.end_after(FIRST_EVENT_TIMEOUT);
    while let Some(message) = messages.next().await {
        let Some(event) = StreamEvent::from_text(&message) else {
            continue;
        };
        if poll.on_event(event) {
            break;
        }
        timer = messages.end_after(time);
    }
    drop(timer);
}

/// Each [`CHARGE_TEXT`] message counts as a read by the caller. The messages end when the caller
/// has no reads left. If the object refuses the request, the inner `Err` is its response.
async fn watch(
    context: &Context,
    resource: Resource,
    job: Option<&JobId>,
    after: Option<u64>,
    time: Millis,
) -> Result<Result<SocketMessages, GatewayResponse>, Problem> {
    let caller = Rc::clone(context.caller()?);
    let watch = WatchCall {
        ids: context.ids(),
        resource,
        job: job.map(|job| job.as_str().to_owned()),
        // The caller becomes the tag of a WebSocket, which the runtime limits to 256 characters.
        // The caller's key can be longer, so its fingerprint is used.
        caller: fingerprint(&[&caller.key()]),
        after,
    };
    let socket = match context.project_stub(resource)?.watch(&watch).await? {
        Ok(socket) => socket,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let project = context.project()?.clone();
    let policy = context.facts.policy.ok_or_else(Problem::internal)?;
    let config = Rc::clone(&context.config);
    let in_session = context.session.is_some();
    let time = time.min(limit_stream(caller.expires, now(), in_session));
    let accept = move |message: &str| {
        message != CHARGE_TEXT
            || with_admission(|(_, reads)| {
                reserve_read(&config, &caller, policy, Some(&project), now(), reads)
            })
            .is_ok()
    };
    let signal = context.request.signal();
    let messages = SocketMessages::listen(&socket, &signal, time, accept)?;
    Ok(Ok(messages))
}
