//! The loop that carries out what a [`Task`] decides: sends, waits, and gives the result.

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::call::Call;
use crate::client::Client;
use crate::client::error::Error;
use crate::client::exchange::{Answer, Unanswered, exchange};
use crate::client::host;
use crate::client::race::{First, race};
use crate::client::settings::Settings;
use crate::endpoint::Endpoint;
use crate::millis::Millis;
use crate::options::CallOptions;
use crate::response::{Head, decode};
use crate::retry::Failure;
use crate::task::{Command, Event, Reason, Task};

/// A result, and whether it is a watch's last.
pub struct Delivery<T> {
    pub value: T,
    pub is_last: bool,
}

/// An attempt without a result.
enum AttemptError {
    /// It was the caller's doing, and is final.
    Final(Error),
    /// It failed; whether that is final is the task's to say.
    Failed {
        error: Error,
        failure: Failure,
        retry_after: Option<Millis>,
    },
}

/// Goes on with a task until it delivers, ends (`None`) or fails. `report` says what a decoded
/// answer is to the task.
pub async fn drive<E, R>(
    client: &Client,
    settings: &Settings,
    task: &mut Task,
    mut report: R,
) -> Result<Option<Delivery<E::Output>>, Error>
where
    E: Endpoint,
    E::Output: DeserializeOwned,
    R: FnMut(&E::Output, Option<Millis>) -> Event<'_>,
{
    settings.check()?;
    let mut result = None;
    let mut failed = None;
    let mut request_id = None;
    let mut command = step(task, Event::Next(options_of(client, settings)));
    loop {
        command = match command {
            Command::Send(limit) => {
                let Some(call) = task.call() else {
                    return Ok(None);
                };
                match attempt::<E>(client, call, limit, settings).await {
                    Ok((head, value)) => {
                        let next = step(task, report(&value, head.wait(host::now())));
                        request_id = head.request_id;
                        result = Some(value);
                        next
                    }
                    Err(AttemptError::Final(error)) => return Err(error),
                    Err(AttemptError::Failed {
                        error,
                        failure,
                        retry_after,
                    }) => {
                        failed = Some(error);
                        let event = Event::Failed {
                            failure,
                            retry_after,
                        };
                        step(task, event)
                    }
                }
            }
            Command::Retry(wait) | Command::Wait(wait) => {
                let signal = settings.signal.as_ref();
                match race(host::wait_for_abort(signal), host::sleep(wait)).await {
                    First::Left(reason) => return Err(Error::Aborted(reason)),
                    First::Right(()) => step(task, Event::Waited),
                }
            }
            Command::Yield => return Ok(deliver(result, false)),
            Command::YieldLast => return Ok(deliver(result, true)),
            Command::Done => return Ok(None),
            Command::Fail(reason) => {
                return match (reason, failed) {
                    (Reason::Failure, Some(error)) => Err(error),
                    (Reason::TotalTimeout(total), _) => Err(Error::Timeout(total)),
                    (Reason::Page(error), _) => Err(Error::from_core(error.into(), request_id)),
                    (Reason::WatchTimeout | Reason::Failure, _) => Err(Error::WatchTimeout(None)),
                };
            }
        };
    }
}

fn deliver<T>(result: Option<T>, is_last: bool) -> Option<Delivery<T>> {
    result.map(|value| Delivery { value, is_last })
}

fn step(task: &mut Task, event: Event<'_>) -> Command {
    task.step(event, host::now(), host::random())
}

/// The options, with what the server makes of the call sent twice. What is forced would be done
/// again by every attempt.
fn options_of(client: &Client, settings: &Settings) -> CallOptions {
    CallOptions {
        is_deduplicated: client.server.deduplicates()
            && settings.key.is_some()
            && !settings.is_forced,
        ..settings.options
    }
}

async fn attempt<E>(
    client: &Client,
    call: &Call,
    limit: Millis,
    settings: &Settings,
) -> Result<(Head, E::Output), AttemptError>
where
    E: Endpoint,
    E::Output: DeserializeOwned,
{
    let Answer { head, body } = exchange(client, call, limit, settings)
        .await
        .map_err(|unanswered| AttemptError::from_unanswered(unanswered, limit))?;
    if !head.is_success() {
        return Err(AttemptError::from_refusal(head, &body));
    }
    match decode::<E>(body.as_bytes()) {
        Ok(value) => Ok((head, value)),
        Err(error) => Err(AttemptError::Failed {
            error: Error::Decode {
                error,
                request_id: head.request_id,
            },
            failure: Failure::Malformed,
            retry_after: None,
        }),
    }
}

impl AttemptError {
    fn from_unanswered(unanswered: Unanswered, limit: Millis) -> Self {
        let (error, failure) = match unanswered {
            Unanswered::Unsendable(error) => return Self::Final(error.into()),
            Unanswered::Aborted(reason) => return Self::Final(Error::Aborted(reason)),
            Unanswered::Timeout => (Error::Timeout(limit), Failure::Timeout),
            Unanswered::Connection(cause) => (Error::Connection(cause), Failure::Connection),
        };
        Self::Failed {
            error,
            failure,
            retry_after: None,
        }
    }

    fn from_refusal(head: Head, body: &str) -> Self {
        let json: Option<Value> = serde_json::from_str(body).ok();
        let failure = Failure::of_answer(head.status, json.as_ref().unwrap_or(&Value::Null));
        let error = head.api_error(json.as_ref(), host::now());
        Self::Failed {
            failure,
            retry_after: error.retry_after,
            error: error.into(),
        }
    }
}
