//! The state machine that runs an operation. It performs no I/O.
//!
//! A driver reports an [`Event`] to [`Task::step`] and carries out the returned [`Command`]: it
//! sends a request, waits, or returns a result. The npm package has a driver in TypeScript, and the
//! client has one in Rust.
//!
//! ```
//! use quillgate::task::{Command, Event, Task};
//! use quillgate::{Call, CallOptions, Failure, Millis, Operation};
//! use serde_json::json;
//!
//! let get = Call::parse(Operation::GetAgentJob.declaration(), &json!({ "id": "j1" }))?;
//! let mut task = Task::new(get);
//! let step = |task: &mut Task, event, now| task.step(event, Millis(now), 0.0);
//!
//! let begin = Event::Next(CallOptions::default());
//! assert_eq!(step(&mut task, begin, 0), Command::Send(Millis(60_000)));
//! let failed = Event::Failed { failure: Failure::Status(503), retry_after: None };
//! assert_eq!(step(&mut task, failed, 40), Command::Retry(Millis(500)));
//! assert_eq!(step(&mut task, Event::Waited, 540), Command::Send(Millis(60_000)));
//! assert_eq!(step(&mut task, Event::Result, 580), Command::Yield);
//! # Ok::<(), quillgate::ValidationError>(())
//! ```

use crate::agent_job::JobStatus;
use crate::call::Call;
use crate::declaration::{Repeat, Scope};
use crate::deployment::DeploymentStatus;
use crate::millis::Millis;
use crate::options::CallOptions;
use crate::pages::{PageError, PageInfo, Pages};
use crate::poll::{Poll, PollStep, Progress};
use crate::retry::{Failure, Idempotency, Retry};

/// The default timeout of a watch: 30 minutes.
pub const DEFAULT_WATCH: Millis = Millis(30 * 60_000);
/// The minimum time for the last poll of a watch: 1 s. So this poll can end after the deadline.
const MIN_POLL_TIMEOUT: Millis = Millis(1_000);

/// An event that a driver reports.
#[derive(Debug, Clone, PartialEq)]
pub enum Event<'a> {
    /// The caller requests the result: the next page of a list or the next change of a watched job.
    Next(CallOptions),
    /// A valid result was received.
    Result,
    /// A page of a list was received.
    Page(PageInfo<'a>),
    /// The state of a watched job was received from an event stream.
    Streamed {
        /// The job's progress.
        progress: Progress,
        /// Whether the job differs from its previous state.
        is_news: bool,
    },
    /// A poll received the state of a watched job.
    Polled {
        /// The job's progress.
        progress: Progress,
        /// Whether the job differs from its previous state.
        is_news: bool,
        /// The value of `Retry-After`, if any.
        retry_after: Option<Millis>,
    },
    /// An attempt failed.
    Failed {
        /// The reason.
        failure: Failure,
        /// The value of `Retry-After`, if any.
        retry_after: Option<Millis>,
    },
    /// The wait has ended.
    Waited,
}

/// The driver's next action.
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub enum Command {
    /// Send the request of [`Task::call`]. The response, including the body, must arrive within
    /// this time.
    Send(Millis),
    /// Wait this long after a failure, then report [`Event::Waited`].
    Retry(Millis),
    /// Wait this long before the next poll, then report [`Event::Waited`].
    Wait(Millis),
    /// Return the result to the caller.
    Yield,
    /// Return the result to the caller. It is the last one, because the job has finished.
    YieldLast,
    /// End without a result.
    Done,
    /// Return an error to the caller.
    Fail(Reason),
}

/// The reason for an error.
#[derive(Debug, Clone, PartialEq)]
pub enum Reason {
    /// The last attempt failed.
    Failure,
    /// The call exceeded its total timeout.
    TotalTimeout(Millis),
    /// The watch exceeded its timeout.
    WatchTimeout,
    /// A page contradicts its list.
    Page(PageError),
}

/// A running operation.
#[derive(Debug, Clone)]
pub struct Task {
    work: Work,
    attempts: Attempts,
    /// The idempotency of the last request sent. `None` if none was sent.
    sent: Option<Idempotency>,
}

#[derive(Debug, Clone)]
enum Work {
    Once(Call),
    /// A request that is not an operation. The driver has it.
    Raw(Repeat),
    List(Pages),
    Watch(Watch),
}

/// The attempts of one request.
#[derive(Debug, Clone)]
struct Attempts {
    options: CallOptions,
    began: Millis,
    retry: Retry,
}

/// The watch of a job or a deployment.
#[derive(Debug, Clone)]
struct Watch {
    call: Call,
    poll: Poll,
    /// The wait before the next poll.
    wait: Option<Millis>,
    is_finished: bool,
}

impl Task {
    /// Creates a task that runs a call once.
    ///
    /// Another [`Event::Next`] sends the request again. For a `POST` without deduplication, it
    /// returns [`Command::Done`] instead.
    #[must_use]
    pub fn new(call: Call) -> Self {
        Self::with(Work::Once(call))
    }

    /// Creates a task that sends a request once which is not an operation.
    ///
    /// The driver builds the request, so [`Self::call`] returns `None`.
    #[must_use]
    pub fn raw(repeat: Repeat) -> Self {
        Self::with(Work::Raw(repeat))
    }

    /// Creates a task that fetches one page of a list per [`Event::Next`].
    #[must_use]
    pub fn list(pages: Pages) -> Self {
        Self::with(Work::List(pages))
    }

    /// Creates a task that watches the job or the deployment that `call` reads.
    ///
    /// The watch starts at `now` and ends when the job finishes or `timeout` has passed.
    /// Drivers use [`DEFAULT_WATCH`] by default. Each [`Event::Next`] waits for the job's next
    /// change.
    #[must_use]
    pub fn watch(call: Call, timeout: Millis, now: Millis) -> Self {
        Self::with(Work::Watch(Watch {
            call,
            poll: Poll::new(now, Some(timeout)),
            wait: None,
            is_finished: false,
        }))
    }

    fn with(work: Work) -> Self {
        let options = CallOptions::default();
        let attempts = Attempts::new(options, options.idempotency(Repeat::Safe), Millis(0));
        Self {
            work,
            attempts,
            sent: None,
        }
    }

    /// Returns the call to send, or `None` after the last page of a list and for a raw request.
    #[must_use]
    pub const fn call(&self) -> Option<&Call> {
        match &self.work {
            Work::Once(call) | Work::Watch(Watch { call, .. }) => Some(call),
            Work::List(pages) => pages.next(),
            Work::Raw(_) => None,
        }
    }

    /// Returns the progress that a status means, of the job or the deployment that the call reads.
    #[must_use]
    pub fn progress(&self, status: Option<String>) -> Progress {
        let scope = self.call().map(|call| call.declaration().scope);
        if scope == Some(Scope::ReadDeployments) {
            DeploymentStatus::progress(status.map(DeploymentStatus::from).as_ref())
        } else {
            JobStatus::progress(status.map(JobStatus::from).as_ref())
        }
    }

    /// Returns the pages of a list, or `None` for other tasks.
    #[must_use]
    pub const fn pages(&self) -> Option<&Pages> {
        match &self.work {
            Work::List(pages) => Some(pages),
            Work::Once(_) | Work::Raw(_) | Work::Watch(_) => None,
        }
    }

    /// Processes an event and returns the next action.
    ///
    /// `random` is a random number from 0 to 1, used for jitter. You can report [`Event::Next`] at
    /// any time. It abandons the current request or wait, but lists and watches keep their
    /// position.
    pub fn step(&mut self, event: Event<'_>, now: Millis, random: f64) -> Command {
        match event {
            Event::Next(options) => self.begin(options, now),
            Event::Waited => self.send(now),
            Event::Result => Command::Yield,
            Event::Page(page) => self.take_page(&page),
            Event::Polled {
                progress,
                is_news,
                retry_after,
            } => match &mut self.work {
                Work::Watch(watch) => {
                    let step = watch.poll.on_progress(progress, retry_after, now, random);
                    watch.take_job(step, is_news)
                }
                _ => Command::Yield,
            },
            Event::Streamed { progress, is_news } => match &mut self.work {
                Work::Watch(watch) => {
                    let step = watch.poll.on_event(progress, now, random);
                    watch.take_job(step, is_news)
                }
                _ => Command::Yield,
            },
            Event::Failed {
                failure,
                retry_after,
            } => self.take_failure(failure, retry_after, now, random),
        }
    }

    fn begin(&mut self, options: CallOptions, now: Millis) -> Command {
        self.attempts = Attempts::new(options, options.idempotency(self.repeat()), now);
        match &self.work {
            _ if self.is_finished() => Command::Done,
            Work::Watch(Watch {
                wait: Some(wait),
                poll,
                ..
            }) => Command::Wait(poll.time_left(now).map_or(*wait, |left| left.min(*wait))),
            _ => self.send(now),
        }
    }

    /// Returns how the request may be repeated.
    #[must_use]
    pub fn repeat(&self) -> Repeat {
        match &self.work {
            Work::Raw(repeat) => *repeat,
            _ => self.call().map_or(Repeat::Safe, Call::repeat),
        }
    }

    /// Returns the remaining time of a watch, or `None` for other tasks.
    #[must_use]
    pub fn time_left(&self, now: Millis) -> Option<Millis> {
        match &self.work {
            Work::Watch(watch) => watch.poll.time_left(now),
            Work::Once(_) | Work::Raw(_) | Work::List(_) => None,
        }
    }

    /// Returns whether the task has no further result.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        match &self.work {
            Work::Once(_) | Work::Raw(_) => {
                let next = self.attempts.options.idempotency(self.repeat());
                let is_none = |idempotency| idempotency == Idempotency::NonIdempotent;
                self.sent.is_some_and(|sent| is_none(sent) || is_none(next))
            }
            Work::List(pages) => pages.next().is_none(),
            Work::Watch(watch) => watch.is_finished,
        }
    }

    fn send(&mut self, now: Millis) -> Command {
        if self.is_finished() {
            return Command::Done;
        }
        if let Work::Watch(watch) = &mut self.work {
            watch.wait = None;
            let left = watch.poll.time_left(now).unwrap_or(MIN_POLL_TIMEOUT);
            return Command::Send(
                self.attempts
                    .options
                    .timeout
                    .min(left.max(MIN_POLL_TIMEOUT)),
            );
        }
        let command = self.attempts.send(now);
        if matches!(command, Command::Send(_)) {
            self.sent = Some(self.attempts.options.idempotency(self.repeat()));
        }
        command
    }

    fn take_page(&mut self, page: &PageInfo<'_>) -> Command {
        let Work::List(pages) = &mut self.work else {
            return Command::Yield;
        };
        match pages.advance(page) {
            Ok(()) => Command::Yield,
            Err(error) => Command::Fail(Reason::Page(error)),
        }
    }

    fn take_failure(
        &mut self,
        failure: Failure,
        retry_after: Option<Millis>,
        now: Millis,
        random: f64,
    ) -> Command {
        let Work::Watch(watch) = &mut self.work else {
            let command = self
                .attempts
                .take_failure(failure, retry_after, now, random);
            let is_final = command == Command::Fail(Reason::Failure);
            return if is_final && self.change_request(failure) {
                self.send(now)
            } else {
                command
            };
        };
        if !failure.is_transient() {
            return Command::Fail(Reason::Failure);
        }
        let step = watch.poll.on_failure(retry_after, now, random);
        watch.take_job(step, false)
    }

    /// Changes the request for a list's next page after a final failure. Returns `false` if no other
    /// request can succeed.
    fn change_request(&mut self, failure: Failure) -> bool {
        let (Work::List(pages), Failure::Status(status)) = (&mut self.work, failure) else {
            return false;
        };
        let is_changed = pages.after_failure(status);
        if is_changed {
            self.attempts.renew();
        }
        is_changed
    }
}

impl Attempts {
    fn new(options: CallOptions, idempotency: Idempotency, now: Millis) -> Self {
        let retry = Retry::new(idempotency, options.max_retries);
        Self {
            options,
            began: now,
            // An earlier attempt that is still running gets as much time as a new one.
            retry: retry.with_patience(options.timeout),
        }
    }

    /// Allows all retries again, for another request of the same call.
    fn renew(&mut self) {
        let idempotency = self.options.idempotency(Repeat::Safe);
        *self = Self::new(self.options, idempotency, self.began);
    }

    /// Returns the remaining time until the total timeout, or `None` without one.
    fn time_left(&self, now: Millis) -> Option<Millis> {
        let total = self.options.total_timeout?;
        Some(total.since(now.since(self.began)))
    }

    fn send(&self, now: Millis) -> Command {
        let timeout = self.options.timeout;
        match self.time_left(now) {
            Some(Millis(0)) => {
                let total = self.options.total_timeout.unwrap_or(timeout);
                Command::Fail(Reason::TotalTimeout(total))
            }
            left => Command::Send(left.unwrap_or(timeout).min(timeout)),
        }
    }

    fn take_failure(
        &mut self,
        failure: Failure,
        retry_after: Option<Millis>,
        now: Millis,
        random: f64,
    ) -> Command {
        match self.retry.after(failure, retry_after, random) {
            Some(wait) if self.time_left(now).is_none_or(|left| wait < left) => {
                Command::Retry(wait)
            }
            _ => Command::Fail(Reason::Failure),
        }
    }
}

impl Watch {
    fn take_job(&mut self, step: PollStep, is_news: bool) -> Command {
        match step {
            PollStep::Wait(wait) => {
                self.wait = Some(wait);
                if is_news {
                    Command::Yield
                } else {
                    Command::Wait(wait)
                }
            }
            PollStep::Done => {
                self.is_finished = true;
                Command::YieldLast
            }
            PollStep::Expired => Command::Fail(Reason::WatchTimeout),
            PollStep::GiveUp => Command::Fail(Reason::Failure),
        }
    }
}
