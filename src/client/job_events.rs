//! The event stream of a job, which only gateways have.

use http::header::{ACCEPT, CONTENT_TYPE, HeaderName, HeaderValue};
use http::{Request, StatusCode};

use crate::agent_job::{AgentJob, GetAgentJob};
use crate::call::Call;
use crate::client::Client;
use crate::client::driver::Unsent;
use crate::client::error::Error;
use crate::client::exchange::build_request;
use crate::client::host::{HostBody, HostStream};
use crate::client::race::{First, race};
use crate::client::settings::Settings;
use crate::error::ValidationError;
use crate::event_stream::{EventParser, MAX_SILENCE, Reconnections, StreamEnd};
use crate::operation::Operation;
use crate::response::decode_result;

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
const EVENT_STREAM: &str = "text/event-stream";

/// The stream of a job. It reconnects after an interruption.
#[derive(Default)]
pub struct JobEvents {
    parser: EventParser,
    reconnections: Reconnections,
    /// `None` while the stream is not open.
    body: Option<Box<dyn HostBody>>,
    /// Whether to wait before the stream is opened again.
    is_waiting: bool,
}

impl JobEvents {
    /// Returns the next state of the job that `call` reads, or `None` if the client must poll.
    ///
    /// A dropped future loses no event.
    pub async fn next(
        &mut self,
        client: &Client,
        settings: &Settings,
        call: &Call,
    ) -> Result<Option<AgentJob>, Error> {
        loop {
            while let Some(event) = self.parser.pop() {
                if event.name == "job" {
                    self.reconnections.on_job();
                    let job = decode_result::<GetAgentJob>(call, event.data.as_bytes());
                    let request_id = None;
                    return job
                        .map(Some)
                        .map_err(|error| Error::Decode { error, request_id });
                }
            }
            if self.is_waiting {
                client.host.sleep(self.parser.retry().into()).await;
                self.is_waiting = false;
            }
            if let Err(end) = self.read(client, settings, call).await {
                self.body = None;
                if self.reconnections.after(end) {
                    self.is_waiting = true;
                } else {
                    return Ok(None);
                }
            }
        }
    }

    /// Reads the next chunk. Opens the stream first if it is not open.
    async fn read(
        &mut self,
        client: &Client,
        settings: &Settings,
        call: &Call,
    ) -> Result<(), StreamEnd> {
        let silence = client.host.sleep(MAX_SILENCE.into());
        let Some(body) = &mut self.body else {
            let request = self.request(client, settings, call);
            let open = client.host.open(request.map_err(|_| StreamEnd::Refused)?);
            self.body = match race(open, silence).await {
                First::Left(Ok(Some(response))) if is_event_stream(&response) => {
                    Some(response.into_body())
                }
                First::Left(Ok(_)) => return Err(StreamEnd::Refused),
                First::Left(Err(_)) | First::Right(()) => return Err(StreamEnd::Broken),
            };
            self.reconnections.on_open();
            self.parser.restart();
            return Ok(());
        };
        match race(body.chunk(), silence).await {
            First::Left(Ok(Some(chunk))) => {
                let pushed = self.parser.push(&chunk);
                pushed.map_err(|_| StreamEnd::Broken)
            }
            First::Left(Ok(None)) => Err(StreamEnd::Closed),
            First::Left(Err(_)) | First::Right(()) => Err(StreamEnd::Broken),
        }
    }

    fn request(
        &self,
        client: &Client,
        settings: &Settings,
        call: &Call,
    ) -> Result<Request<String>, ValidationError> {
        let events = Operation::StreamAgentJobEvents.declaration();
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
    let headers = response.headers();
    let content_type = headers.get(CONTENT_TYPE);
    let content_type = content_type.and_then(|value| value.to_str().ok());
    response.status() == StatusCode::OK
        && content_type.is_some_and(|name| name.starts_with(EVENT_STREAM))
}
