//! Watches of agent jobs. A [`Watch`] polls a job and returns its changes until the job finishes.

use std::fmt;
use std::time::Duration;

use futures_core::Stream;

use crate::agent_job::{AgentJob, GetAgentJob, JobStatus};
use crate::call::Call;
use crate::client::Client;
use crate::client::driver::{Declared, drive};
use crate::client::error::Error;
use crate::client::host::MaybeSend;
use crate::client::settings::{Settings, settings};
use crate::client::stream::{Source, SourceStream};
use crate::error::{IntegerRule, ValidationError};
use crate::millis::Millis;
use crate::task::{DEFAULT_WATCH, Event, Task};

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
/// The first `next` starts the watch. It polls the job after delays that grow from 2 to 30 s. A
/// longer `Retry-After` extends a delay. It fails after 5 transient failures in a row.
///
/// # Example
#[doc = concat!("```\n", include_str!("../../tests/client/examples/watch.rs"), "```")]
#[must_use = "nothing is sent before `next` or `wait`"]
pub struct Watch {
    client: Client,
    call: Result<Call, ValidationError>,
    duration: Millis,
    settings: Settings,
    task: Option<Task>,
    /// The last known state.
    job: Option<AgentJob>,
}

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
            task: None,
            job: None,
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
    /// A dropped future loses no change.
    ///
    /// # Errors
    /// [`Error::WatchTimeout`], with the last known state, if the job does not finish in time.
    /// Otherwise as [`ApiCall::send`](crate::client::ApiCall::send).
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../../tests/client/examples/watch.rs"), "```")]
    pub async fn next(&mut self) -> Result<Option<JobChange>, Error> {
        IntegerRule::MILLISECONDS.check("watchTimeout", self.duration.0)?;
        let task = match &mut self.task {
            Some(task) => task,
            task => {
                let call = self.call.clone()?.check()?;
                let now = self.client.host.now().into();
                task.insert(Task::watch(call, self.duration, now))
            }
        };
        let seen = &mut self.job;
        let settings = &self.settings;
        let sent = Declared::<GetAgentJob>::NEW;
        let next = drive(&self.client, settings, task, &sent, |job, retry_after| {
            let is_news = seen.as_ref() != Some(job);
            if is_news {
                *seen = Some(job.clone());
            }
            Event::Job {
                status: job.status.clone(),
                is_news,
                retry_after,
            }
        });
        match next.await {
            Ok(delivery) => Ok(delivery.map(|delivery| JobChange {
                job: delivery.response.result,
                is_final: delivery.is_last,
            })),
            Err(Error::WatchTimeout(_)) => Err(Error::WatchTimeout(self.job.clone().map(Box::new))),
            Err(error) => Err(error),
        }
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
        match self.job {
            Some(job) if is_finished(&job) => Ok(job),
            job => Err(Error::WatchTimeout(job.map(Box::new))),
        }
    }

    /// Converts the changes to a stream, which ends after the first error.
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../../tests/client/examples/watch_stream.rs"), "```")]
    pub fn into_stream(self) -> impl Stream<Item = Result<JobChange, Error>> + Unpin + MaybeSend {
        SourceStream::new(self)
    }
}

impl Source for Watch {
    type Item = JobChange;

    async fn next_item(&mut self) -> Result<Option<JobChange>, Error> {
        self.next().await
    }
}
