//! Watches of agent jobs and deployments. A [`Watch`] returns the changes until the end.

use std::fmt;
use std::marker::PhantomData;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures_core::Stream;

use crate::agent_job::{AgentJob, GetAgentJob, JobStatus};
use crate::call::Call;
use crate::client::Client;
use crate::client::call::ApiOperation;
use crate::client::driver::{Declared, Exchange, Unsent, abortable, drive, step};
use crate::client::error::Error;
use crate::client::host::{BoxFuture, MaybeSend};
use crate::client::race::{First, race};
use crate::client::resource_events::ResourceEvents;
use crate::client::settings::{Settings, settings};
use crate::client::stream::Items;
use crate::deployment::{Deployment, DeploymentStatus, GetDeployment};
use crate::error::{DecodeError, IntegerRule, ValidationError};
use crate::event_stream::STREAM_PAUSE;
use crate::millis::Millis;
use crate::operation::Operation;
use crate::poll::Progress;
use crate::task::{Command, DEFAULT_WATCH, Event, Task};

/// A change of a watched job, in any of its properties.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct JobChange {
    /// The job after the change.
    pub job: AgentJob,
    /// Whether the job has finished, so that no further change follows.
    pub is_final: bool,
}

/// A change of a watched deployment, in any of its properties.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeploymentChange {
    /// The deployment after the change.
    pub deployment: Deployment,
    /// Whether the deployment has ended, so that no further change follows.
    pub is_final: bool,
}

/// An operation that reads a job or a deployment, which a client can watch.
pub trait WatchEndpoint: ApiOperation<Output: Clone + PartialEq> {
    /// A change of the job or the deployment.
    type Change: MaybeSend + 'static;

    #[doc(hidden)]
    const EVENTS: Operation;

    /// The name of an event with the state.
    #[doc(hidden)]
    const EVENT: &'static str;

    #[doc(hidden)]
    fn progress(state: &Self::Output) -> Progress;

    #[doc(hidden)]
    fn change(state: Self::Output, is_final: bool) -> Self::Change;

    /// Returns the error of a watch that reached its timeout.
    #[doc(hidden)]
    fn timeout(last: Option<Self::Output>) -> Error;
}

impl WatchEndpoint for GetAgentJob {
    type Change = JobChange;

    const EVENTS: Operation = Operation::StreamAgentJobEvents;
    const EVENT: &'static str = "job";

    fn progress(job: &AgentJob) -> Progress {
        JobStatus::progress(job.status.as_ref())
    }

    fn change(job: AgentJob, is_final: bool) -> JobChange {
        JobChange { job, is_final }
    }

    fn timeout(last: Option<AgentJob>) -> Error {
        Error::WatchTimeout(last.map(Box::new))
    }
}

impl WatchEndpoint for GetDeployment {
    type Change = DeploymentChange;

    const EVENTS: Operation = Operation::StreamDeploymentEvents;
    const EVENT: &'static str = "deployment";

    fn progress(deployment: &Deployment) -> Progress {
        DeploymentStatus::progress(deployment.status.as_ref())
    }

    fn change(deployment: Deployment, is_final: bool) -> DeploymentChange {
        DeploymentChange {
            deployment,
            is_final,
        }
    }

    fn timeout(last: Option<Deployment>) -> Error {
        Error::DeploymentWatchTimeout(last.map(Box::new))
    }
}

/// A watch of a job or a deployment. [`next`](Self::next) returns each change, and
/// [`wait`](Self::wait) returns the last state.
///
/// The first `next` starts the watch. A gateway streams the changes, and the watch opens the
/// stream again after an interruption. Without a stream, it polls after delays that grow
/// from 2 to 30 s, and tries a stream again after a minute. A longer `Retry-After` extends a delay. It
/// fails after 5 transient failures of polls in a row.
///
/// # Example
#[doc = concat!("```\n", include_str!("../../tests/client/examples/watch.rs"), "```")]
#[must_use = "nothing is sent before `next` or `wait`"]
pub struct Watch<E: WatchEndpoint = GetAgentJob> {
    client: Client,
    call: Result<Call, ValidationError>,
    duration: Millis,
    settings: Settings,
    /// `None` before the first `next`, and while it is in `pending`.
    running: Option<Running<E>>,
    /// A `next` whose result no caller has received. A dropped `next` continues with it.
    pending: Option<Pending<E>>,
}

/// A watch that has started.
struct Running<E: WatchEndpoint> {
    task: Task,
    /// `None` while the watch polls.
    events: Option<ResourceEvents>,
    /// When the watch opens the next stream, in milliseconds since the Unix epoch.
    stream_at: Millis,
    /// The last known state.
    state: Option<E::Output>,
}

/// A change, or `None` after the last.
type Next<E> = Result<Option<<E as WatchEndpoint>::Change>, Error>;

/// The next change, and the watch.
type Pending<E> = BoxFuture<'static, (Next<E>, Running<E>)>;

/// Shows only the names of the arguments, because a value may be confidential.
impl<E: WatchEndpoint> fmt::Debug for Watch<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch")
            .field("call", &self.call)
            .field("duration", &self.duration)
            .finish_non_exhaustive()
    }
}

impl<E: WatchEndpoint> Watch<E> {
    pub(super) fn new(client: &Client, call: Result<Call, ValidationError>) -> Self {
        Self {
            client: client.clone(),
            call,
            duration: DEFAULT_WATCH,
            settings: client.settings.clone(),
            running: None,
            pending: None,
        }
    }

    /// Sets the timeout of the watch, from its first `next`: 1 ms to 2^31 − 1 ms. Default: 30
    /// minutes.
    ///
    /// Outside these bounds, `next` or `wait` fails with [`Rule::MILLISECONDS`](crate::Rule).
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../../tests/client/examples/watch_timeout.rs"), "```")]
    pub fn watch_timeout(mut self, timeout: Duration) -> Self {
        self.duration = timeout.into();
        self
    }

    settings!();

    /// Returns the next change, or `None` after the last. The first change is the current state.
    ///
    /// A dropped future loses nothing: the next call continues the request or the wait.
    ///
    /// # Errors
    /// [`Error::WatchTimeout`] or [`Error::DeploymentWatchTimeout`], with the last known state, if the
    /// job or the deployment does not finish in time.
    /// Otherwise as [`ApiCall::send`](crate::client::ApiCall::send).
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../../tests/client/examples/watch.rs"), "```")]
    pub async fn next(&mut self) -> Result<Option<E::Change>, Error> {
        let pending = match self.pending.take() {
            Some(pending) => pending,
            None => self.resume()?,
        };
        let (next, running) = self.pending.insert(pending).await;
        self.pending = None;
        self.running = Some(running);
        next
    }

    fn resume(&mut self) -> Result<Pending<E>, Error> {
        IntegerRule::MILLISECONDS.check("watchTimeout", self.duration.0)?;
        self.settings.check()?;
        let (client, settings) = (self.client.clone(), self.settings.clone());
        let mut running = if let Some(running) = self.running.take() {
            running
        } else {
            let call = self.call.clone()?.check()?;
            Running {
                task: Task::watch(call, self.duration, client.host.now().into()),
                events: None,
                stream_at: Millis(client.next_stream_at.load(Ordering::Relaxed)),
                state: None,
            }
        };
        Ok(Box::pin(async move {
            let next = match running.next(&client, &settings).await {
                Err(Error::WatchTimeout(_)) => Err(E::timeout(running.state.clone())),
                next => next,
            };
            (next, running)
        }))
    }

    /// Waits until the job has finished (completed, archived or failed) or the deployment has ended,
    /// and returns it.
    ///
    /// # Errors
    /// As [`Self::next`]. The timeout's error also if `next` has already returned an error.
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../../tests/client/examples/wait.rs"), "```")]
    pub async fn wait(mut self) -> Result<E::Output, Error> {
        while self.next().await?.is_some() {}
        // Not finished if `next` had already returned an error.
        match self.running.and_then(|running| running.state) {
            Some(state) if E::progress(&state) == Progress::Finished => Ok(state),
            state => Err(E::timeout(state)),
        }
    }

    /// Converts the changes to a stream, which ends after the first error.
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../../tests/client/examples/watch_stream.rs"), "```")]
    pub fn into_stream(self) -> impl Stream<Item = Result<E::Change, Error>> + Unpin + MaybeSend {
        Items::new(self, |mut watch: Self| {
            Box::pin(async move { (watch.next().await, watch) })
        })
    }
}

impl<E: WatchEndpoint> Running<E> {
    async fn next(&mut self, client: &Client, settings: &Settings) -> Next<E> {
        while !self.task.is_finished() {
            let is_streaming = self.events.is_some() || is_past(self.stream_at, client);
            let change = if is_streaming {
                self.next_event(client, settings).await?
            } else {
                self.next_poll(client, settings).await?
            };
            if change.is_some() {
                return Ok(change);
            }
        }
        Ok(None)
    }

    /// Returns the next change from the event stream, or `None` if the client must poll.
    async fn next_event(&mut self, client: &Client, settings: &Settings) -> Next<E> {
        while let Some(state) = self.receive(client, settings).await? {
            let is_news = self.state.as_ref() != Some(&state);
            self.state = Some(state.clone());
            let progress = E::progress(&state);
            let event = Event::Streamed { progress, is_news };
            let is_final = match step(client, &mut self.task, event) {
                Command::Yield => false,
                Command::YieldLast => {
                    self.events = None;
                    true
                }
                Command::Fail(_) => return Err(Error::WatchTimeout(None)),
                _ => continue,
            };
            return Ok(Some(E::change(state, is_final)));
        }
        Ok(None)
    }

    /// Returns the next state from the event stream, or `None` if the client must poll.
    async fn receive(
        &mut self,
        client: &Client,
        settings: &Settings,
    ) -> Result<Option<E::Output>, Error> {
        let Some(call) = self.task.call() else {
            return Ok(None);
        };
        let left = self.task.time_left(client.host.now().into());
        if left == Some(Millis(0)) {
            // The last poll decides.
            self.stream_at = Millis(u64::MAX);
            self.events = None;
            return Ok(None);
        }
        let expiry = client.host.sleep(left.unwrap_or_default().into());
        let events = self.events.get_or_insert_default();
        let next = race(events.next::<E>(client, settings, call), expiry);
        let next = abortable(settings, async { Ok(next.await) }).await;
        if next.is_err() {
            // The abort can have dropped a part of an event.
            self.events = None;
        }
        let received = match next? {
            First::Left(Ok(Some(state))) => return Ok(Some(state)),
            First::Left(received) => {
                self.stream_at = Millis::from(client.host.now()).plus(STREAM_PAUSE);
                received
            }
            // At its timeout, the watch polls once more.
            First::Right(()) => {
                self.stream_at = Millis(u64::MAX);
                Ok(None)
            }
        };
        self.events = None;
        received
    }

    /// Returns the next change from polls, or `None` at the time to try the event stream again.
    async fn next_poll(&mut self, client: &Client, settings: &Settings) -> Next<E> {
        let seen = &mut self.state;
        let poll = Poll::<E>(self.stream_at, PhantomData);
        let next = drive(
            client,
            settings,
            &mut self.task,
            &poll,
            |state, retry_after| {
                let is_news = seen.as_ref() != Some(state);
                if is_news {
                    *seen = Some(state.clone());
                }
                Event::Polled {
                    progress: E::progress(state),
                    is_news,
                    retry_after,
                }
            },
        );
        let delivery = next.await?;
        Ok(delivery.map(|delivery| E::change(delivery.response.result, delivery.is_last)))
    }
}

fn is_past(time: Millis, client: &Client) -> bool {
    Millis::from(client.host.now()) >= time
}

/// A poll, until the time to try the event stream again.
struct Poll<E>(Millis, PhantomData<fn() -> E>);

impl<E: WatchEndpoint> Exchange for Poll<E> {
    type Output = E::Output;

    fn request(&self, client: &Client, call: Option<&Call>) -> Option<Unsent> {
        call.filter(|_| !is_past(self.0, client))
            .map(|call| Unsent::new(call, client))
    }

    fn decode(&self, call: Option<&Call>, body: &str) -> Result<E::Output, DecodeError> {
        Declared::<E>::NEW.decode(call, body)
    }
}
