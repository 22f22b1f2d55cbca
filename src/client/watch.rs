//! Watches of agent jobs. A [`Watch`] polls a job and returns its changes until the job finishes.

use std::fmt;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures_core::Stream;

use crate::agent_job::{AgentJob, GetAgentJob, JobStatus};
use crate::call::Call;
use crate::client::Client;
use crate::client::driver::{Declared, Exchange, Unsent, abortable, drive, step};
use crate::client::error::Error;
use crate::client::host::{BoxFuture, MaybeSend};
use crate::client::job_events::JobEvents;
use crate::client::race::{First, race};
use crate::client::settings::{Settings, settings};
use crate::client::stream::Items;
use crate::error::{DecodeError, IntegerRule, ValidationError};
use crate::event_stream::STREAM_PAUSE;
use crate::millis::Millis;
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

/// A watch of a job. [`next`](Self::next) returns each change, and [`wait`](Self::wait) returns the
/// finished job.
///
/// The first `next` starts the watch. A gateway streams the changes of a job, and the watch opens the
/// stream again after an interruption. Without a stream, it polls the job after delays that grow
/// from 2 to 30 s, and tries a stream again after a minute. A longer `Retry-After` extends a delay. It
/// fails after 5 transient failures of polls in a row.
///
/// # Example
#[doc = concat!("```\n", include_str!("../../tests/client/examples/watch.rs"), "```")]
#[must_use = "nothing is sent before `next` or `wait`"]
pub struct Watch {
    client: Client,
    call: Result<Call, ValidationError>,
    duration: Millis,
    settings: Settings,
    /// `None` before the first `next`, and while it is in `pending`.
    running: Option<Running>,
    /// A `next` whose result no caller has received. A dropped `next` continues with it.
    pending: Option<Pending>,
}

/// A watch that has started.
struct Running {
    task: Task,
    /// `None` while the watch polls.
    events: Option<JobEvents>,
    /// When the watch opens the next stream, in milliseconds since the Unix epoch.
    stream_at: Millis,
    /// The last known state.
    job: Option<AgentJob>,
}

/// The next change, and the watch.
type Pending = BoxFuture<'static, (Result<Option<JobChange>, Error>, Running)>;

/// Shows only the names of the arguments, because a value may be confidential.
impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch")
            .field("call", &self.call)
            .field("duration", &self.duration)
            .finish_non_exhaustive()
    }
}

impl Watch {
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
    /// [`Error::WatchTimeout`], with the last known state, if the job does not finish in time.
    /// Otherwise as [`ApiCall::send`](crate::client::ApiCall::send).
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../../tests/client/examples/watch.rs"), "```")]
    pub async fn next(&mut self) -> Result<Option<JobChange>, Error> {
        let pending = match self.pending.take() {
            Some(pending) => pending,
            None => self.resume()?,
        };
        let (next, running) = self.pending.insert(pending).await;
        self.pending = None;
        self.running = Some(running);
        next
    }

    fn resume(&mut self) -> Result<Pending, Error> {
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
                job: None,
            }
        };
        Ok(Box::pin(async move {
            let next = match running.next(&client, &settings).await {
                Err(Error::WatchTimeout(_)) => {
                    Err(Error::WatchTimeout(running.job.clone().map(Box::new)))
                }
                next => next,
            };
            (next, running)
        }))
    }

    /// Waits until the job has finished and returns it: completed, archived or failed.
    ///
    /// # Errors
    /// As [`Self::next`]. [`Error::WatchTimeout`] also if `next` has already returned an error.
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../../tests/client/examples/wait.rs"), "```")]
    pub async fn wait(mut self) -> Result<AgentJob, Error> {
        while let Some(change) = self.next().await? {
            if change.is_final {
                return Ok(change.job);
            }
        }
        // `next` has already returned the final change, or an error.
        let is_finished = |job: &AgentJob| job.status.as_ref().is_some_and(JobStatus::is_terminal);
        match self.running.and_then(|running| running.job) {
            Some(job) if is_finished(&job) => Ok(job),
            job => Err(Error::WatchTimeout(job.map(Box::new))),
        }
    }

    /// Converts the changes to a stream, which ends after the first error.
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../../tests/client/examples/watch_stream.rs"), "```")]
    pub fn into_stream(self) -> impl Stream<Item = Result<JobChange, Error>> + Unpin + MaybeSend {
        Items::new(self, |mut watch| {
            Box::pin(async move { (watch.next().await, watch) })
        })
    }
}

impl Running {
    async fn next(
        &mut self,
        client: &Client,
        settings: &Settings,
    ) -> Result<Option<JobChange>, Error> {
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
    async fn next_event(
        &mut self,
        client: &Client,
        settings: &Settings,
    ) -> Result<Option<JobChange>, Error> {
        while let Some(job) = self.receive(client, settings).await? {
            let is_news = self.job.as_ref() != Some(&job);
            self.job = Some(job.clone());
            let event = Event::Streamed {
                progress: JobStatus::progress(job.status.as_ref()),
                is_news,
            };
            let is_final = match step(client, &mut self.task, event) {
                Command::Yield => false,
                Command::YieldLast => {
                    self.events = None;
                    true
                }
                Command::Fail(_) => return Err(Error::WatchTimeout(None)),
                _ => continue,
            };
            return Ok(Some(JobChange { job, is_final }));
        }
        Ok(None)
    }

    /// Returns the next job from the event stream, or `None` if the client must poll.
    async fn receive(
        &mut self,
        client: &Client,
        settings: &Settings,
    ) -> Result<Option<AgentJob>, Error> {
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
        let next = race(events.next(client, settings, call), expiry);
        let next = abortable(settings, async { Ok(next.await) }).await;
        if next.is_err() {
            // The abort can have dropped a part of an event.
            self.events = None;
        }
        let received = match next? {
            First::Left(Ok(Some(job))) => return Ok(Some(job)),
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
    async fn next_poll(
        &mut self,
        client: &Client,
        settings: &Settings,
    ) -> Result<Option<JobChange>, Error> {
        let seen = &mut self.job;
        let poll = Poll(self.stream_at);
        let next = drive(
            client,
            settings,
            &mut self.task,
            &poll,
            |job, retry_after| {
                let is_news = seen.as_ref() != Some(job);
                if is_news {
                    *seen = Some(job.clone());
                }
                Event::Polled {
                    progress: JobStatus::progress(job.status.as_ref()),
                    is_news,
                    retry_after,
                }
            },
        );
        Ok(next.await?.map(|delivery| JobChange {
            job: delivery.response.result,
            is_final: delivery.is_last,
        }))
    }
}

fn is_past(time: Millis, client: &Client) -> bool {
    Millis::from(client.host.now()) >= time
}

/// A poll, until the time to try the event stream again.
struct Poll(Millis);

impl Exchange for Poll {
    type Output = AgentJob;

    fn request(&self, client: &Client, call: Option<&Call>) -> Option<Unsent> {
        call.filter(|_| !is_past(self.0, client))
            .map(|call| Unsent::new(call, client))
    }

    fn decode(&self, call: Option<&Call>, body: &str) -> Result<AgentJob, DecodeError> {
        Declared::<GetAgentJob>::NEW.decode(call, body)
    }
}
