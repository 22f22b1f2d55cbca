//! An operation from its call to its result: one state machine, which does no I/O.
//!
//! A driver reports what has happened ([`Event`]) and carries out what follows ([`Command`]): it
//! sends requests, waits, and hands over results. There are two drivers, the npm package's in
//! TypeScript and the Rust client's, and each is a loop over [`Task::step`].
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
use crate::declaration::Method;
use crate::millis::Millis;
use crate::options::CallOptions;
use crate::pages::{PageError, PageInfo, Pages};
use crate::poll::{Poll, PollStep};
use crate::retry::{Failure, Idempotency, Retry};

/// How long a watch may take when nothing else is said: 30 minutes.
pub const DEFAULT_WATCH: Millis = Millis(30 * 60_000);
/// The least time that the last poll gets, however near the deadline is.
const LAST_POLL: Millis = Millis(1_000);

/// What has happened.
#[derive(Debug, Clone, PartialEq)]
pub enum Event<'a> {
    /// The caller wants the result: of a list its next page, of a watch the job's next change.
    Next(CallOptions),
    /// The result of a call has come, and is what its operation promises.
    Result,
    /// A page of a list has come.
    Page(PageInfo<'a>),
    /// The state of a watched job has come, in answer to a request or by itself.
    Job {
        /// Its status.
        status: Option<JobStatus>,
        /// Whether anything of the job differs from its state before.
        is_news: bool,
        /// What `Retry-After` asks to wait.
        retry_after: Option<Millis>,
    },
    /// An attempt failed.
    Failed {
        /// How.
        failure: Failure,
        /// What `Retry-After` asks to wait.
        retry_after: Option<Millis>,
    },
    /// The wait is over.
    Waited,
}

/// What to do next.
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub enum Command {
    /// Send [`Task::call`]'s request; the answer, body included, may take this long.
    Send(Millis),
    /// Wait this long because of the failure: then the request is sent again.
    Retry(Millis),
    /// Wait this long before the job is asked for again.
    Wait(Millis),
    /// Yield the result.
    Yield,
    /// Yield the result, which is the last: the job is finished.
    YieldLast,
    /// End without a result.
    Done,
    /// Return an error.
    Fail(Reason),
}

/// Why there is no result.
#[derive(Debug, Clone, PartialEq)]
pub enum Reason {
    /// The attempt that failed.
    Failure,
    /// The call has taken this long, as long as it may.
    TotalTimeout(Millis),
    /// The watch has taken as long as it may.
    WatchTimeout,
    /// A page contradicts its list.
    Page(PageError),
}

/// An operation under way.
#[derive(Debug, Clone)]
pub struct Task {
    work: Work,
    attempts: Attempts,
    /// What the server makes of the request that was sent last, when one was.
    sent: Option<Idempotency>,
}

#[derive(Debug, Clone)]
enum Work {
    Once(Call),
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

/// A watch of a job.
#[derive(Debug, Clone)]
struct Watch {
    call: Call,
    poll: Poll,
    /// How long to wait before the next poll.
    wait: Option<Millis>,
    is_over: bool,
}

impl Task {
    /// Carries out a call once. A `POST` that was sent is not sent again when [`Event::Next`] comes
    /// again, unless the server deduplicates both: there is nothing more to give.
    #[must_use]
    pub fn new(call: Call) -> Self {
        Self::with(Work::Once(call))
    }

    /// Goes through the pages of a list, one for each [`Event::Next`].
    #[must_use]
    pub fn list(pages: Pages) -> Self {
        Self::with(Work::List(pages))
    }

    /// Watches the job that a call reads, from `now` on until it has come to its end or `timeout`
    /// has passed ([`DEFAULT_WATCH`] where nothing else is said): each [`Event::Next`] asks for a
    /// change.
    #[must_use]
    pub fn watch(call: Call, timeout: Millis, now: Millis) -> Self {
        Self::with(Work::Watch(Watch {
            call,
            poll: Poll::new(now, Some(timeout)),
            wait: None,
            is_over: false,
        }))
    }

    fn with(work: Work) -> Self {
        let options = CallOptions::default();
        let attempts = Attempts::new(options, options.idempotency(Method::Get), Millis(0));
        Self {
            work,
            attempts,
            sent: None,
        }
    }

    /// The call whose request is to be sent; `None` when a list is over. Of a list its arguments
    /// are where it goes on.
    #[must_use]
    pub const fn call(&self) -> Option<&Call> {
        match &self.work {
            Work::Once(call) | Work::Watch(Watch { call, .. }) => Some(call),
            Work::List(pages) => pages.next(),
        }
    }

    /// The call that asks for a list's next page; `None` when it is over, or no list.
    #[must_use]
    pub const fn next_page(&self) -> Option<&Call> {
        match &self.work {
            Work::List(pages) => pages.next(),
            Work::Once(_) | Work::Watch(_) => None,
        }
    }

    /// Takes in what has happened, and says what to do next.
    ///
    /// `random` is a number from 0 to 1, for jitter. [`Event::Next`] may come at any time: what was
    /// under way is forgotten, and of a list or a watch nothing is lost.
    pub fn step(&mut self, event: Event<'_>, now: Millis, random: f64) -> Command {
        match event {
            Event::Next(options) => self.begin(options, now),
            Event::Waited => self.send(now),
            Event::Result => Command::Yield,
            Event::Page(page) => self.take_page(&page),
            Event::Job {
                status,
                is_news,
                retry_after,
            } => match &mut self.work {
                Work::Watch(watch) => {
                    let step = watch
                        .poll
                        .on_status(status.as_ref(), retry_after, now, random);
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
        let method = self.call().map_or(Method::Get, Call::method);
        self.attempts = Attempts::new(options, options.idempotency(method), now);
        match &self.work {
            _ if self.is_over() => Command::Done,
            Work::Watch(Watch {
                wait: Some(wait),
                poll,
                ..
            }) => Command::Wait(poll.time_left(now).map_or(*wait, |left| left.min(*wait))),
            _ => self.send(now),
        }
    }

    /// Whether there is nothing left to send.
    fn is_over(&self) -> bool {
        match &self.work {
            Work::Once(call) => {
                let next = self.attempts.options.idempotency(call.method());
                let is_none = |idempotency| idempotency == Idempotency::None;
                self.sent.is_some_and(|sent| is_none(sent) || is_none(next))
            }
            Work::List(pages) => pages.next().is_none(),
            Work::Watch(watch) => watch.is_over,
        }
    }

    fn send(&mut self, now: Millis) -> Command {
        if self.is_over() {
            return Command::Done;
        }
        if let Work::Watch(watch) = &mut self.work {
            watch.wait = None;
            let left = watch.poll.time_left(now).unwrap_or(LAST_POLL);
            return Command::Send(self.attempts.options.timeout.min(left.max(LAST_POLL)));
        }
        let command = self.attempts.send(now);
        if matches!(command, Command::Send(_)) {
            let method = self.call().map_or(Method::Get, Call::method);
            self.sent = Some(self.attempts.options.idempotency(method));
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
            return self
                .attempts
                .take_failure(failure, retry_after, now, random);
        };
        if !failure.is_transient() {
            return Command::Fail(Reason::Failure);
        }
        let step = watch.poll.on_failure(retry_after, now, random);
        watch.take_job(step, false)
    }
}

impl Attempts {
    fn new(options: CallOptions, idempotency: Idempotency, now: Millis) -> Self {
        let retry = Retry::new(idempotency, options.max_retries);
        Self {
            options,
            began: now,
            // What is carried out though its answer was lost gets the time that an attempt has.
            retry: retry.with_patience(options.timeout),
        }
    }

    /// How much of the call's time is left.
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
                self.is_over = true;
                Command::YieldLast
            }
            PollStep::Expired => Command::Fail(Reason::WatchTimeout),
            PollStep::GiveUp => Command::Fail(Reason::Failure),
        }
    }
}
