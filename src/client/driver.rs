//! The loop that carries out the commands of a [`Task`].

use std::marker::PhantomData;

use http::HeaderMap;
use serde_json::Value;

use crate::call::Call;
use crate::client::Client;
use crate::client::call::ApiOperation;
use crate::client::connection_failure::{ConnectionFailure, explain_response};
use crate::client::error::{Error, HostError};
use crate::client::exchange::{Answer, Unanswered, exchange};
use crate::client::host::{MaybeSend, MaybeSync};
use crate::client::response::ApiResponse;
use crate::client::settings::Settings;
use crate::declaration::{Method, Repeat};
use crate::error::DecodeError;
use crate::millis::Millis;
use crate::options::CallOptions;
use crate::response::{Head, decode, decode_result};
use crate::retry::Failure;
use crate::task::{Command, Event, Reason, Task};

/// A result.
pub struct Delivery<T> {
    pub response: ApiResponse<T>,
    pub body: String,
    /// Whether it is the last result of a watch.
    pub is_last: bool,
}

/// A request without a base URL and credentials.
#[derive(Clone)]
pub struct Unsent {
    pub method: http::Method,
    /// The path and query.
    pub target: String,
    pub body: Option<String>,
}

impl Unsent {
    pub fn new(call: &Call, client: &Client) -> Self {
        let request = call.request(&client.project);
        Self {
            method: match request.method {
                Method::Get => http::Method::GET,
                Method::Post => http::Method::POST,
                Method::Delete => http::Method::DELETE,
            },
            target: request.target,
            body: request.body,
        }
    }
}

/// The request of a call and the decoder of its response.
pub trait Exchange: MaybeSync {
    type Output: MaybeSend;

    /// Returns the request, or `None` to end without a result.
    fn request(&self, client: &Client, call: Option<&Call>) -> Option<Unsent>;

    fn decode(&self, call: Option<&Call>, body: &str) -> Result<Self::Output, DecodeError>;
}

/// The exchange of an operation.
pub struct Declared<E>(PhantomData<fn() -> E>);

impl<E> Declared<E> {
    pub const NEW: Self = Self(PhantomData);
}

impl<E: ApiOperation> Exchange for Declared<E> {
    type Output = E::Output;

    fn request(&self, client: &Client, call: Option<&Call>) -> Option<Unsent> {
        call.map(|call| Unsent::new(call, client))
    }

    fn decode(&self, call: Option<&Call>, body: &str) -> Result<E::Output, DecodeError> {
        match call {
            Some(call) => decode_result::<E>(call, body.as_bytes()),
            None => decode::<E>(body.as_bytes()),
        }
    }
}

/// A failed attempt.
enum AttemptError {
    /// Nothing was sent, because the base URL is invalid.
    Final(Error),
    /// The task decides whether to retry.
    Failed {
        error: Error,
        failure: Failure,
        retry_after: Option<Millis>,
    },
}

/// Runs a task until it returns a result, ends (`None`) or fails. `report` converts a decoded
/// response to the task's event.
pub async fn drive<E, R>(
    client: &Client,
    settings: &Settings,
    task: &mut Task,
    sent: &E,
    report: R,
) -> Result<Option<Delivery<E::Output>>, Error>
where
    E: Exchange,
    R: FnMut(&E::Output, Option<Millis>) -> Event<'_>,
{
    settings.check()?;
    abortable(settings, run(client, settings, task, sent, report)).await
}

/// Runs `work` until it finishes or the signal of the settings aborts.
pub async fn abortable<T>(
    settings: &Settings,
    work: impl Future<Output = Result<T, Error>>,
) -> Result<T, Error> {
    #[cfg(target_arch = "wasm32")]
    {
        use crate::client::abort::wait_for_abort;
        use crate::client::race::{First, race};

        match race(wait_for_abort(settings.signal.as_ref()), work).await {
            First::Left(reason) => Err(Error::Aborted(reason)),
            First::Right(result) => result,
        }
    }
    #[cfg(not(target_arch = "wasm32"))]
    {
        let _ = settings;
        work.await
    }
}

async fn run<E, R>(
    client: &Client,
    settings: &Settings,
    task: &mut Task,
    sent: &E,
    mut report: R,
) -> Result<Option<Delivery<E::Output>>, Error>
where
    E: Exchange,
    R: FnMut(&E::Output, Option<Millis>) -> Event<'_>,
{
    let mut result = None;
    let mut failed = None;
    let mut request_id = None;
    let mut command = step(client, task, Event::Next(call_options(client, settings)));
    loop {
        command = match command {
            Command::Send(timeout) => {
                let call = task.call();
                let Some(request) = sent.request(client, call) else {
                    return Ok(None);
                };
                let decode = |body: &str| sent.decode(call, body);
                let repeat = task.repeat();
                match attempt(client, request, timeout, settings, repeat, decode).await {
                    Ok((head, delivery)) => {
                        let wait = head.wait(client.host.now().into());
                        let next = step(client, task, report(&delivery.response.result, wait));
                        request_id = head.request_id;
                        result = Some(delivery);
                        next
                    }
                    Err(AttemptError::Final(error)) => return Err(error),
                    Err(AttemptError::Failed {
                        error,
                        failure,
                        retry_after,
                    }) => {
                        // A later attempt that was not sent does not answer this one.
                        if task.repeat() == Repeat::Safe
                            || error.may_have_been_sent()
                            || !failed.as_ref().is_some_and(Error::may_have_been_sent)
                        {
                            failed = Some(error);
                        }
                        let event = Event::Failed {
                            failure,
                            retry_after,
                        };
                        step(client, task, event)
                    }
                }
            }
            Command::Retry(wait) | Command::Wait(wait) => {
                #[cfg(feature = "tracing")]
                tracing::debug!(
                    milliseconds = wait.0,
                    failed = failed.as_ref().map(tracing::field::display),
                    "waiting"
                );
                client.host.sleep(wait.into()).await;
                step(client, task, Event::Waited)
            }
            Command::Yield => return Ok(result),
            Command::YieldLast => {
                let last = |delivery| Delivery {
                    is_last: true,
                    ..delivery
                };
                return Ok(result.map(last));
            }
            Command::Done => return Ok(None),
            Command::Fail(reason) => return Err(fail(reason, failed, request_id)),
        };
    }
}

fn fail(reason: Reason, failed: Option<Error>, request_id: Option<String>) -> Error {
    match (reason, failed) {
        (Reason::Failure, Some(error)) => error,
        (Reason::TotalTimeout(total), _) => Error::Timeout(total.into()),
        (Reason::Page(error), _) => Error::from_core(error.into(), request_id),
        (Reason::WatchTimeout | Reason::Failure, _) => Error::WatchTimeout(None),
    }
}

pub fn step(client: &Client, task: &mut Task, event: Event<'_>) -> Command {
    task.step(event, client.host.now().into(), jitter(client))
}

/// Returns a random number from 0 to 1, or 0 if the host has no source of randomness.
pub fn jitter(client: &Client) -> f64 {
    let [a, b, c, d, ..] = client.host.random().unwrap_or_default();
    f64::from(u32::from_le_bytes([a, b, c, d])) / f64::from(u32::MAX)
}

/// Returns the options for the task. A forced `POST` is not retried, because the gateway might
/// process each attempt.
fn call_options(client: &Client, settings: &Settings) -> CallOptions {
    CallOptions {
        is_deduplicated: client.server.deduplicates()
            && settings.key.is_some()
            && !settings.is_forced,
        ..settings.options
    }
}

async fn attempt<T>(
    client: &Client,
    request: Unsent,
    timeout: Millis,
    settings: &Settings,
    repeat: Repeat,
    decode: impl FnOnce(&str) -> Result<T, DecodeError>,
) -> Result<(Head, Delivery<T>), AttemptError> {
    let Answer {
        head,
        status,
        headers,
        body,
    } = exchange(client, request, timeout, settings)
        .await
        .map_err(|unanswered| AttemptError::from_unanswered(unanswered, timeout, client))?;
    if !head.is_success() {
        // An incomplete body does not matter: the status is enough.
        let body = body.unwrap_or_default();
        return Err(AttemptError::from_refusal(head, &headers, &body, client));
    }
    let (error, failure) = match body.map(|body| (decode(&body), body)) {
        Ok((Ok(result), body)) => {
            let delivery = Delivery {
                response: ApiResponse {
                    result,
                    status,
                    headers,
                },
                body,
                is_last: false,
            };
            return Ok((head, delivery));
        }
        Ok((Err(error), _)) => {
            let request_id = head.request_id.clone();
            (Error::Decode { error, request_id }, Failure::Malformed)
        }
        Err(cause) => from_connection(cause, client),
    };
    Err(AttemptError::Failed {
        error: match repeat {
            Repeat::Safe => error,
            Repeat::Keyed | Repeat::Never => Error::from_unreadable_write(head, &error),
        },
        failure,
        retry_after: None,
    })
}

fn from_connection(cause: HostError, client: &Client) -> (Error, Failure) {
    let explained = ConnectionFailure::new(cause, client.server.base());
    let failure = if explained.can_retry {
        Failure::Connection
    } else {
        Failure::Unconnectable
    };
    (Error::Connection(Box::new(explained)), failure)
}

impl AttemptError {
    fn from_unanswered(unanswered: Unanswered, timeout: Millis, client: &Client) -> Self {
        let (error, failure) = match unanswered {
            Unanswered::Unsendable(error) => return Self::Final(error.into()),
            Unanswered::Timeout => (Error::Timeout(timeout.into()), Failure::Timeout),
            Unanswered::Connection(cause) => from_connection(cause, client),
        };
        Self::Failed {
            error,
            failure,
            retry_after: None,
        }
    }

    fn from_refusal(head: Head, headers: &HeaderMap, body: &str, client: &Client) -> Self {
        let mut json: Option<Value> = serde_json::from_str(body).ok();
        let failure = Failure::of_answer(head.status, json.as_ref().unwrap_or(&Value::Null));
        if let Some(json) = &mut json {
            redact(json, client);
        }
        let now = client.host.now().into();
        let retry_after = head.wait(now);
        let mut error = head.api_error(json.as_ref(), now);
        let explained = explain_response(&error.message, error.status, headers, json.is_some());
        let explained = explained.map(|text| client.server.redact(&text));
        error.message = explained.unwrap_or(error.message);
        Self::Failed {
            failure,
            retry_after,
            error: match failure {
                Failure::OutcomeUnknown => Error::OutcomeUnknown(Box::new(error)),
                _ => error.into(),
            },
        }
    }
}

/// Redacts the credential in the strings of a body.
fn redact(json: &mut Value, client: &Client) {
    match json {
        Value::String(text) => *text = client.server.redact(text),
        Value::Array(items) => items.iter_mut().for_each(|item| redact(item, client)),
        Value::Object(members) => members.values_mut().for_each(|item| redact(item, client)),
        _ => {}
    }
}
