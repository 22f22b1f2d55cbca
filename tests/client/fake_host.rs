use std::collections::VecDeque;
use std::future::pending;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use quillgate::client::http::{Request, Response, response};
use quillgate::client::{
    ApiCall, BoxFuture, Client, ClientBuilder, Host, HostBody, HostError, HostResponse, HostStream,
    Watch,
};
use quillgate::{CreateAgentJob, GetAgentJob, SendMessage, Timestamp};
use serde_json::{Value, json};
use tokio::time::Instant;

pub const TOKEN: &str = "eyJ0b2tlbg.secret-part";
pub const KEY: &str = "mint_secret_of_the_organisation";

/// 2024-01-01T00:00:00Z, the initial time of every host.
const START: u64 = 1_704_067_200_000;

#[derive(Clone)]
pub struct FakeHost(Arc<State>);

struct State {
    start: Instant,
    responses: Mutex<VecDeque<Value>>,
    /// The method, URL, headers, body and time of every request.
    requests: Mutex<Vec<Value>>,
    active: AtomicUsize,
    keys: AtomicU8,
    can_stream: bool,
}

/// Counts a request or a timer as active until it is dropped.
struct Active(Arc<State>);

impl Active {
    fn new(state: &Arc<State>) -> Self {
        state.active.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(state))
    }
}

impl Drop for Active {
    fn drop(&mut self) {
        self.0.active.fetch_sub(1, Ordering::Relaxed);
    }
}

impl FakeHost {
    /// Creates a host that answers requests with these responses, in order:
    /// `{ "status", "headers"?, "json"? | "text"? }`, with optional faults.
    ///
    /// - `"stall": "head" | "body"`: stops there until the request is dropped
    /// - `"after"`: delays the response by that many milliseconds
    /// - `"broken"`: fails with this message
    /// - `"broken_body"`: breaks off in the body with this message
    pub fn new<T: AsRef<str>>(responses: impl IntoIterator<Item = T>) -> Self {
        Self::with(responses, false)
    }

    /// Creates a host that can also open streams: `{ "status", "headers"?, "chunks" }`.
    pub fn streaming<T: AsRef<str>>(responses: impl IntoIterator<Item = T>) -> Self {
        Self::with(responses, true)
    }

    fn with<T: AsRef<str>>(responses: impl IntoIterator<Item = T>, can_stream: bool) -> Self {
        let parse = |json: T| serde_json::from_str(json.as_ref()).expect("responses are JSON");
        Self(Arc::new(State {
            start: Instant::now(),
            responses: Mutex::new(responses.into_iter().map(parse).collect()),
            requests: Mutex::default(),
            active: AtomicUsize::new(0),
            keys: AtomicU8::new(0),
            can_stream,
        }))
    }

    /// A builder of a client of a gateway.
    pub fn builder(&self) -> ClientBuilder {
        let builder = Client::builder().gateway("https://gate.example", TOKEN);
        builder.project("acme").host(self.clone())
    }

    pub fn client(&self) -> Client {
        self.builder().build().unwrap()
    }

    /// A builder of a client of Mintlify.
    pub fn platform(&self) -> ClientBuilder {
        self.builder().platform(KEY)
    }

    pub fn count(&self) -> usize {
        self.0.requests.lock().unwrap().len()
    }

    pub fn request(&self, at: usize, name: &str) -> Value {
        self.0.requests.lock().unwrap()[at][name].clone()
    }

    pub fn header(&self, at: usize, name: &str) -> Option<String> {
        self.request(at, "headers")[name]
            .as_str()
            .map(str::to_owned)
    }

    /// The URL of the request at index `at`, relative to the gateway.
    pub fn target(&self, at: usize) -> String {
        let url = self.request(at, "url");
        url.as_str().unwrap().replace("https://gate.example", "")
    }

    pub fn times(&self) -> Vec<u64> {
        let requests = self.0.requests.lock().unwrap();
        requests
            .iter()
            .map(|request| request["at"].as_u64().unwrap())
            .collect()
    }

    pub fn elapsed(&self) -> u64 {
        u64::try_from(self.0.start.elapsed().as_millis()).unwrap()
    }

    /// Panics if a request or a timer was not finished or dropped.
    #[track_caller]
    pub fn assert_idle(&self) {
        let active = self.0.active.load(Ordering::Relaxed);
        assert_eq!(active, 0, "requests or timers are left");
    }

    fn record(&self, request: &Request<String>) {
        let headers = request.headers().iter().map(|(name, value)| {
            let value = value.to_str().unwrap();
            (name.as_str().to_owned(), Value::from(value))
        });
        self.0.requests.lock().unwrap().push(json!({
            "method": request.method().as_str(),
            "url": request.uri().to_string(),
            "headers": headers.collect::<serde_json::Map<_, _>>(),
            "body": request.body(),
            "at": self.elapsed(),
        }));
    }

    fn next_response(&self) -> Value {
        let next = self.0.responses.lock().unwrap().pop_front();
        next.unwrap_or_else(|| json!({ "broken": "the test expects no further request" }))
    }
}

/// A body that is sent in chunks.
struct FakeBody {
    chunks: VecDeque<Value>,
    is_broken: bool,
    _active: Active,
}

impl HostBody for FakeBody {
    fn chunk(&mut self) -> BoxFuture<'_, Result<Option<Vec<u8>>, HostError>> {
        Box::pin(async {
            while let Some(millis) = self.chunks.front().and_then(Value::as_u64) {
                tokio::time::sleep(Duration::from_millis(millis)).await;
                self.chunks.pop_front();
            }
            match self.chunks.pop_front() {
                Some(chunk) => Ok(Some(chunk.as_str().unwrap().into())),
                None if self.is_broken => Err(HostError::new("reset")),
                None => Ok(None),
            }
        })
    }
}

impl FakeHost {
    /// Records the request, and returns its response as soon as its head is complete.
    async fn answer(
        &self,
        request: &Request<String>,
    ) -> Result<(Value, response::Builder), HostError> {
        self.record(request);
        let response = self.next_response();
        if let Some(message) = response["broken"].as_str() {
            return Err(HostError::new(message));
        }
        if let Some(millis) = response["after"].as_u64() {
            tokio::time::sleep(Duration::from_millis(millis)).await;
        }
        if response["stall"].is_string() {
            pending::<()>().await;
        }
        let status = response["status"].as_u64().unwrap();
        let mut answer = Response::builder().status(u16::try_from(status).unwrap());
        for (name, value) in response["headers"].as_object().into_iter().flatten() {
            answer = answer.header(name, value.as_str().unwrap());
        }
        Ok((response, answer))
    }
}

impl Host for FakeHost {
    fn send(&self, request: Request<String>) -> BoxFuture<'_, Result<HostResponse, HostError>> {
        Box::pin(async move {
            let _active = Active::new(&self.0);
            let (response, answer) = self.answer(&request).await?;
            let body = match (&response["broken_body"], &response["json"]) {
                (Value::String(message), _) => Err(HostError::new(message.as_str())),
                (_, Value::Null) if response.get("json").is_none() => {
                    Ok(response["text"].as_str().unwrap_or_default().to_owned())
                }
                (_, json) => Ok(json.to_string()),
            };
            Ok(answer.body(body).unwrap())
        })
    }

    fn open(
        &self,
        request: Request<String>,
    ) -> BoxFuture<'_, Result<Option<HostStream>, HostError>> {
        Box::pin(async move {
            if !self.0.can_stream {
                return Ok(None);
            }
            let active = Active::new(&self.0);
            let (response, answer) = self.answer(&request).await?;
            let chunks = response["chunks"].as_array().cloned().unwrap_or_default();
            let body: Box<dyn HostBody> = Box::new(FakeBody {
                chunks: chunks.into(),
                is_broken: response["broken_body"].is_string(),
                _active: active,
            });
            Ok(Some(answer.body(body).unwrap()))
        })
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            let _active = Active::new(&self.0);
            tokio::time::sleep(duration).await;
        })
    }

    fn now(&self) -> Timestamp {
        Timestamp::from_millis(START + self.elapsed())
    }

    /// Zero for jitter, and another number for each key.
    fn random(&self) -> Option<[u8; 16]> {
        let mut bytes = [0; 16];
        bytes[15] = self.0.keys.fetch_add(1, Ordering::Relaxed);
        Some(bytes)
    }
}

pub fn get_job(client: &Client) -> ApiCall<GetAgentJob> {
    client.agent_jobs().get("j1")
}

pub fn create(client: &Client) -> ApiCall<CreateAgentJob> {
    client.agent_jobs().create("p")
}

pub fn send_message(client: &Client) -> ApiCall<SendMessage> {
    client.agent_jobs().send_message("j1", "p")
}

pub fn watch(host: &FakeHost) -> Watch {
    host.client().agent_jobs().watch("j1")
}

/// A response that opens a stream of events.
pub fn stream(chunks: &Value) -> String {
    let headers = json!({ "content-type": "text/event-stream" });
    json!({ "status": 200, "headers": headers, "chunks": chunks }).to_string()
}
