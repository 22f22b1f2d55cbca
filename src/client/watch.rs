//! Watching a job until it has come to its end.

use std::fmt;
use std::future::IntoFuture;

use futures_core::Stream;

use crate::agent_job::{AgentJob, GetAgentJob};
use crate::client::Client;
use crate::client::call::Boxed;
use crate::client::driver::drive;
use crate::client::error::Error;
use crate::client::host;
use crate::client::settings::{Settings, settings};
use crate::client::stream::{Source, SourceStream};
use crate::endpoint::Endpoint;
use crate::error::IntegerRule;
use crate::millis::Millis;
use crate::task::{DEFAULT_WATCH, Event, Task};

/// A job in another state than before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobChange {
    /// The job as it is now.
    pub job: AgentJob,
    /// Whether it has come to its end, so that nothing follows.
    pub is_final: bool,
}

/// A watch of a job, change by change.
///
/// Its time begins with the first `next`. A poll that fails in a way that may pass is passed over,
/// until 5 in a row have failed; retries and the time limit of a whole call do not apply to it.
///
/// # Errors
/// By `next`: [`Error::WatchTimeout`] with the job as it was last seen; any other as
/// [`ApiCall`](crate::client::ApiCall).
///
/// # Example
#[doc = concat!("```\n", include_str!("../../tests/client/examples/watch.rs"), "```")]
#[must_use = "nothing is sent before the first `next`"]
pub struct Watch {
    client: Client,
    get: GetAgentJob,
    timeout: Option<Millis>,
    settings: Settings,
    task: Option<Task>,
    /// The job as it was last seen.
    job: Option<AgentJob>,
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch")
            .field("call", &self.get.to_call())
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

impl Watch {
    pub(super) fn new(client: &Client, get: GetAgentJob) -> Self {
        Self {
            client: client.clone(),
            get,
            timeout: None,
            settings: client.settings.clone(),
            task: None,
            job: None,
        }
    }

    /// The same, given up after this time: 1 to 2^31 − 1 ms, 30 minutes by default.
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../../tests/client/examples/watch_timeout.rs"), "```")]
    pub const fn with_timeout(mut self, timeout: Millis) -> Self {
        self.timeout = Some(timeout);
        self
    }

    settings! {
        /// # Example
        #[doc = concat!("```\n", include_str!("../../tests/client/examples/watch_timeout.rs"), "```")]
    }

    /// The next change, the first one being the job as it is; `None` after the last.
    ///
    /// A future that was dropped has lost nothing: the next call goes on where it was.
    ///
    /// # Errors
    /// See [`Watch`].
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../../tests/client/examples/watch.rs"), "```")]
    pub async fn next(&mut self) -> Result<Option<JobChange>, Error> {
        if let Some(timeout) = self.timeout {
            IntegerRule::MILLISECONDS.check("timeout", timeout.0)?;
        }
        let (get, timeout) = (&self.get, self.timeout);
        let begin = || Task::watch(get.to_call(), timeout.unwrap_or(DEFAULT_WATCH), host::now());
        let task = self.task.get_or_insert_with(begin);
        let seen = &mut self.job;
        let settings = &self.settings;
        let next = drive::<GetAgentJob, _>(&self.client, settings, task, |job, retry_after| {
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
                job: delivery.value,
                is_final: delivery.is_last,
            })),
            Err(Error::WatchTimeout(_)) => Err(Error::WatchTimeout(self.job.clone().map(Box::new))),
            Err(error) => Err(error),
        }
    }

    /// The changes as a stream, which ends after the first error.
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../../tests/client/examples/watch_stream.rs"), "```")]
    pub fn into_stream(self) -> impl Stream<Item = Result<JobChange, Error>> + Unpin {
        SourceStream::new(self)
    }
}

impl Source for Watch {
    type Item = JobChange;

    async fn next_item(&mut self) -> Result<Option<JobChange>, Error> {
        self.next().await
    }
}

/// A wait for a job to come to its end: `.await` gives the job as it then is.
///
/// # Errors
/// As [`Watch`].
///
/// # Example
#[doc = concat!("```\n", include_str!("../../tests/client/examples/wait.rs"), "```")]
#[derive(Debug)]
#[must_use = "nothing is sent before `.await`"]
pub struct Wait {
    watch: Watch,
}

impl Wait {
    pub(super) const fn new(watch: Watch) -> Self {
        Self { watch }
    }

    /// The same, given up after this time: 1 to 2^31 − 1 ms, 30 minutes by default.
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../../tests/client/examples/wait.rs"), "```")]
    pub const fn with_timeout(mut self, timeout: Millis) -> Self {
        self.watch.timeout = Some(timeout);
        self
    }

    /// The same, with the time limit of a poll: see [`Watch::with_options`].
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../../tests/client/examples/wait_options.rs"), "```")]
    pub fn with_options(mut self, options: crate::CallOptions) -> Self {
        self.watch = self.watch.with_options(options);
        self
    }

    /// The same, aborted at once when the signal is: see [`Watch::with_signal`].
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../../tests/client/examples/wait_options.rs"), "```")]
    pub fn with_signal(mut self, signal: crate::client::AbortSignal) -> Self {
        self.watch = self.watch.with_signal(signal);
        self
    }

    /// The same, with these header fields besides: see [`Watch::with_headers`].
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../../tests/client/examples/wait_options.rs"), "```")]
    pub fn with_headers(mut self, headers: &crate::client::Headers) -> Self {
        self.watch = self.watch.with_headers(headers);
        self
    }
}

impl IntoFuture for Wait {
    type Output = Result<AgentJob, Error>;
    type IntoFuture = Boxed<Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        let mut watch = self.watch;
        Box::pin(async move {
            while let Some(change) = watch.next().await? {
                if change.is_final {
                    return Ok(change.job);
                }
            }
            // A watch ends with a final change, or an error.
            Err(Error::WatchTimeout(watch.job.map(Box::new)))
        })
    }
}
