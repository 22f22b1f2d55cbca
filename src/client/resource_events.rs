//! The event stream of a job or a deployment, which only gateways have.

use std::sync::atomic::Ordering;

use http::header::{ACCEPT, CONTENT_TYPE, HeaderName, HeaderValue};
use http::{Request, StatusCode};

use crate::call::Call;
use crate::client::Client;
use crate::client::driver::{Unsent, jitter};
use crate::client::error::Error;
use crate::client::exchange::build_request;
use crate::client::host::{HostBody, HostStream};
use crate::client::race::{First, race};
use crate::client::settings::Settings;
use crate::client::watch::WatchEndpoint;
use crate::error::ValidationError;
use crate::event_stream::{EventParser, MAX_SILENCE, STREAM_PAUSE};
use crate::millis::Millis;
use crate::response::decode_result;

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
const EVENT_STREAM: &str = "text/event-stream";

/// The maximum number of attempts to open a stream without receiving an event. Then the client polls.
const MAX_ATTEMPTS: u32 = 3;

/// The reason why a stream ended.
#[derive(Clone, Copy, PartialEq)]
enum StreamEnd {
    /// The status of the response is 404: the resource does not exist.
    NotFound,
    /// The response is not an event stream.
    Refused,
    /// The connection failed or broke, or was silent for too long.
    Broken,
    /// The server ended the stream.
    Closed,
}

/// The stream of a resource. It reconnects after an interruption.
#[derive(Default)]
pub struct ResourceEvents {
    parser: EventParser,
    was_open: bool,
    /// The number of attempts to open a stream since the last event.
    attempts: u32,
    /// `None` while the stream is not open.
    body: Option<Box<dyn HostBody>>,
    /// The reason why the stream ended. It counts after the events that arrived before.
    end: Option<StreamEnd>,
}

impl ResourceEvents {
    /// Returns the next state of the resource that `call` reads, or `None` if the client must poll.
    pub async fn next<E: WatchEndpoint>(
        &mut self,
        client: &Client,
        settings: &Settings,
        call: &Call,
    ) -> Result<Option<E::Output>, Error> {
        loop {
            while let Some(event) = self.parser.pop() {
                if event.name == E::EVENT {
                    self.attempts = 0;
                    let state = decode_result::<E>(call, event.data.as_bytes());
                    let request_id = None;
                    return state
                        .map(Some)
                        .map_err(|error| Error::Decode { error, request_id });
                }
            }
            if let Some(end) = self.end.take() {
                self.body = None;
                // CORS may block the first connection for pages of another origin.
                let can_reopen = match end {
                    StreamEnd::NotFound | StreamEnd::Refused => false,
                    StreamEnd::Broken => self.was_open,
                    StreamEnd::Closed => true,
                };
                if !can_reopen || self.attempts >= MAX_ATTEMPTS {
                    if end != StreamEnd::NotFound {
                        let next = Millis::from(client.host.now()).plus(STREAM_PAUSE);
                        client.next_stream_at.store(next.0, Ordering::Relaxed);
                    }
                    return Ok(None);
                }
                // Also after a stream with events. Otherwise, streams that end immediately would cause a
                // busy loop.
                let pause = self.parser.retry(jitter(client));
                client.host.sleep(pause.into()).await;
            }
            self.end = self.read::<E>(client, settings, call).await.err();
        }
    }

    /// Reads the next chunk. Opens the stream first if it is not open.
    async fn read<E: WatchEndpoint>(
        &mut self,
        client: &Client,
        settings: &Settings,
        call: &Call,
    ) -> Result<(), StreamEnd> {
        let Some(body) = &mut self.body else {
            self.attempts += 1;
            let request = self.request::<E>(client, settings, call);
            let open = client.host.open(request.map_err(|_| StreamEnd::Refused)?);
            let timeout = settings.options.timeout.min(MAX_SILENCE);
            let response = match race(open, client.host.sleep(timeout.into())).await {
                First::Left(Ok(Some(response))) => response,
                First::Left(Ok(None)) => return Err(StreamEnd::Refused),
                First::Left(Err(_)) | First::Right(()) => return Err(StreamEnd::Broken),
            };
            if response.status() == StatusCode::NOT_FOUND {
                return Err(StreamEnd::NotFound);
            }
            if !is_event_stream(&response) {
                return Err(StreamEnd::Refused);
            }
            self.body = Some(response.into_body());
            self.was_open = true;
            self.parser.restart();
            return Ok(());
        };
        match race(body.chunk(), client.host.sleep(MAX_SILENCE.into())).await {
            First::Left(Ok(Some(chunk))) => {
                let pushed = self.parser.push(&chunk);
                pushed.map_err(|_| StreamEnd::Broken)
            }
            First::Left(Ok(None)) => Err(StreamEnd::Closed),
            First::Left(Err(_)) | First::Right(()) => Err(StreamEnd::Broken),
        }
    }

    fn request<E: WatchEndpoint>(
        &self,
        client: &Client,
        settings: &Settings,
        call: &Call,
    ) -> Result<Request<String>, ValidationError> {
        let events = E::EVENTS.declaration();
        let sent = Unsent::new(&call.convert(events, [])?, client);
        let mut request = build_request(client, sent, settings)?;
        let headers = request.headers_mut();
        headers.insert(ACCEPT, HeaderValue::from_static(EVENT_STREAM));
        let id = HeaderValue::from_str(self.parser.last_id());
        if let Some(id) = id.ok().filter(|id| !id.is_empty()) {
            headers.insert(LAST_EVENT_ID, id);
        }
        Ok(request)
    }
}

/// Returns whether a response is an event stream that the parser can read.
fn is_event_stream(response: &HostStream) -> bool {
    let content_type = response.headers().get(CONTENT_TYPE);
    let content_type = content_type.and_then(|value| value.to_str().ok());
    let media_type = content_type.and_then(|text| text.split(';').next());
    response.status() == StatusCode::OK
        && media_type.is_some_and(|name| name.trim().eq_ignore_ascii_case(EVENT_STREAM))
}
