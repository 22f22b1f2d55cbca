//! Polls jobs and records the responses.

use std::cell::Cell;
use std::rc::Rc;

use quillgate::{Endpoint as _, GetAgentJob, JobId, Millis, Operation, ProjectId};

use crate::jobs::log::format_lost_job;
use crate::jobs::poll::{PollOutcome, is_lost, is_past_creation};
use crate::jobs::project_object::Project;
use crate::jobs::store::JobRow;
use crate::jobs::webhook::JobEnd;
use crate::log::format_operator_line;
use crate::runtime::{Call, HostError, HostResult, SharedTask, log_error, now, sockets};
use crate::upstream::breaker::Scope;
use crate::upstream::client::{Exchange, JobSnapshot};
use crate::upstream::permits::Lane;
use crate::upstream::request::UpstreamRequest;

/// The in-memory state of a job that is polled.
#[derive(Default)]
pub(super) struct PollState {
    running: Option<RunningPoll>,
    /// The number of polls that have failed in a row.
    pub(super) failures: u32,
    /// When a watcher was charged for the next poll.
    pub(super) charged_at: Option<Millis>,
}

/// A running poll, which all watchers share.
struct RunningPoll {
    task: SharedTask<Exchange<JobSnapshot>>,
    /// Whether the stored job is newer than the response to this poll.
    is_overtaken: Rc<Cell<bool>>,
}

impl Project {
    /// Polls a job. Callers share the poll that is running.
    pub(super) fn poll(
        self: &Rc<Self>,
        call: &Call,
        job: &JobId,
    ) -> HostResult<SharedTask<Exchange<JobSnapshot>>> {
        let name = job.as_str().to_owned();
        if let Some(task) = self.find_poll(&name, |poll| poll.task.clone()) {
            return Ok(task);
        }
        let project_id = ProjectId::new(&*call.project);
        let project_id = project_id.map_err(|error| HostError::new(error.message()))?;
        if self.is_listed(&name)? {
            self.poll_log.count(now())?;
        }
        let request = UpstreamRequest {
            scope: Scope {
                operation: Operation::GetAgentJob,
                project: call.project.clone(),
            },
            target: GetAgentJob::new(job.clone()).request(&project_id).target,
            body: None,
            traceparent: call.traceparent.clone(),
            tracestate: call.tracestate.clone(),
        };
        let is_overtaken = Rc::new(Cell::new(false));
        let (project, overtaken) = (Rc::clone(self), Rc::clone(&is_overtaken));
        let polled = name.clone();
        let task = SharedTask::spawn(&self.state, async move {
            let permit = project.acquire(Lane::ReadJob).await;
            let exchange = project.exchange(permit, &request).await;
            let outcome = match (&exchange.outcome, overtaken.get()) {
                (Err(_), _) => PollOutcome::Failed,
                (Ok(_), true) => PollOutcome::Overtaken,
                (Ok(_), false) => PollOutcome::Answered,
            };
            project.end_poll(&polled, outcome);
            if let Err(error) = project.on_polled(&polled, &exchange, outcome) {
                log_error(&format_operator_line(&format!(
                    "the ledger failed: {error}"
                )));
            }
            exchange
        })?;
        let mut polls = self.polls.borrow_mut();
        polls.entry(name).or_default().running = Some(RunningPoll {
            task: task.clone(),
            is_overtaken,
        });
        Ok(task)
    }

    /// Returns whether the gateway created a job. Only polls of such jobs use the poll budget.
    fn is_listed(&self, job: &str) -> HostResult<bool> {
        Ok(self.jobs.find(job)?.is_some_and(|row| row.is_listed()))
    }

    /// Returns whether a poll of the job is running.
    pub(super) fn is_poll_running(&self, job: &str) -> bool {
        self.find_poll(job, |_| ()).is_some()
    }

    /// Reads a field of the running poll of a job, if any.
    fn find_poll<T>(&self, job: &str, read: impl FnOnce(&RunningPoll) -> T) -> Option<T> {
        let polls = self.polls.borrow();
        polls.get(job)?.running.as_ref().map(read)
    }

    /// Marks the running poll of a job as older than the stored job.
    pub(super) fn overtake_poll(&self, job: &str) {
        if let Some(poll) = self.find_poll(job, |poll| Rc::clone(&poll.is_overtaken)) {
            poll.set(true);
        }
    }

    /// Forgets the failed polls of a deleted job. A running poll removes its own entry.
    pub(super) fn forget_failures(&self, job: &str) {
        let mut polls = self.polls.borrow_mut();
        if polls.get(job).is_some_and(|poll| poll.running.is_none()) {
            polls.remove(job);
        }
    }

    fn end_poll(&self, job: &str, outcome: PollOutcome) {
        let mut polls = self.polls.borrow_mut();
        if outcome != PollOutcome::Failed {
            polls.remove(job);
        } else if let Some(poll) = polls.get_mut(job) {
            poll.running = None;
            poll.failures = poll.failures.saturating_add(1);
        }
    }

    /// Records the response to a poll, or when the job may be polled again.
    fn on_polled(
        &self,
        job: &str,
        exchange: &Exchange<JobSnapshot>,
        outcome: PollOutcome,
    ) -> HostResult<()> {
        match &exchange.outcome {
            // The stored job is newer. The next poll reads the current state.
            Ok(_) if outcome == PollOutcome::Overtaken => self.jobs.mark_found(job)?,
            Ok(reply) => self.record(job, reply, None)?,
            Err(failure) => {
                if self.jobs.find(job)?.is_none() {
                    // No caller is waiting for a job that is not stored.
                    self.polls.borrow_mut().remove(job);
                }
                let wait = failure.retry_after();
                let wait = wait.map(|wait| wait.min(self.settings.poll_duration));
                let not_before = wait.map_or(Millis(0), |wait| now().plus(wait));
                self.jobs.mark_checked(job, not_before)?;
                if exchange.metrics.status == Some(429) {
                    self.poll_log.pause(failure.retry_after(), now())?;
                }
                if exchange.metrics.status == Some(404) {
                    self.on_missing(job)?;
                }
            }
        }
        self.plan_webhook_poll(job)
    }

    /// Handles a 404 from Mintlify. Watchers of a new job stay connected, because Mintlify may not
    /// know it yet.
    fn on_missing(&self, job: &str) -> HostResult<()> {
        let Some(row) = self.jobs.find(job)? else {
            return Ok(());
        };
        let now = now();
        match row.missing_since() {
            None => self.jobs.mark_missing(job, now)?,
            Some(since) if is_lost(since, now) => self.announce_missing(&row)?,
            Some(_) => {}
        }
        if !is_past_creation(row.created(), now) {
            return Ok(());
        }
        // Watchers that reconnect get a 404.
        for socket in self.find_watchers(job) {
            sockets::close(&socket, "gone");
        }
        Ok(())
    }

    /// Notifies the webhook that Mintlify no longer knows the job, and stops polling for it.
    fn announce_missing(&self, row: &JobRow) -> HostResult<()> {
        let (Some(url), Some(data)) = (&row.webhook, &row.data) else {
            return Ok(());
        };
        log_error(&format_lost_job(&row.id));
        self.database.transaction(|| {
            self.outbox.add(url, JobEnd::NotFound, data)?;
            self.jobs.forget_webhook(&row.id)
        })
    }
}
