//! Polls of jobs. The project's object reads jobs from the upstream and records the responses.

use std::rc::Rc;

use quillgate::{Endpoint as _, GetAgentJob, JobId, Millis, Operation, ProjectId};

use crate::jobs::job_row::JobRow;
use crate::jobs::poll::{CREATION_DELAY, LOST_AFTER, MAX_READ_WAIT};
use crate::jobs::project_object::Project;
use crate::jobs::webhook::JobEnd;
use crate::runtime::{HostError, HostResult, SharedTask, limit_time, log_for_operator, now};
use crate::upstream::client::{Exchange, UpstreamResponse};
use crate::upstream::job_snapshot::JobSnapshot;
use crate::upstream::request::{Call, UpstreamRequest};

#[derive(Default)]
pub(super) struct PollState {
    /// The running poll, which all watchers share.
    pub(super) running: Option<SharedTask<Exchange<JobSnapshot>>>,
    /// Whether the stored job is newer than the response to the running poll.
    is_superseded: bool,
    pub(super) failures: u32,
    /// When the poll for which a watcher was charged is due.
    pub(super) charge_end: Option<Millis>,
}

impl Project {
    /// Polls a job. Returns the running poll if the job already has one.
    pub(super) fn poll(
        self: &Rc<Self>,
        call: &Call,
        job: &JobId,
    ) -> HostResult<SharedTask<Exchange<JobSnapshot>>> {
        let name = job.as_str().to_owned();
        let running = self
            .polls
            .borrow()
            .get(&name)
            .and_then(|poll| poll.running.clone());
        if let Some(task) = running {
            return Ok(task);
        }
        let project_id = ProjectId::new(&*call.project);
        let project_id = project_id.map_err(|error| HostError::new(error.message()))?;
        // Only polls of jobs that the gateway created use the poll budget.
        let is_counted = self.jobs.find(&name)?.is_some_and(|row| row.is_listed);
        let started = now();
        if is_counted {
            self.jobs.count_poll(started)?;
        }
        let target = GetAgentJob::new(job.clone()).request(&project_id).target;
        let (project, polled, call) = (Rc::clone(self), name.clone(), call.clone());
        let task = SharedTask::spawn(&self.state, async move {
            let request = UpstreamRequest {
                operation: Operation::GetAgentJob,
                call: &call,
                target: &target,
                body: None,
            };
            let mut pay = || !is_counted || project.count_retry().unwrap_or(false);
            let sent = project
                .connections
                .send(&project.upstream, &request, || Ok(()), &mut pay)
                .await;
            let read = |UpstreamResponse { head, body }| {
                JobSnapshot::read(head.status, &body, Some(&polled))
            };
            let exchange = sent.read(&request, read);
            let conclude = || {
                if is_counted && !exchange.is_sent() {
                    project.jobs.return_poll(started)?;
                }
                project.conclude_poll(&polled, &exchange)
            };
            if let Err(error) = conclude() {
                log_for_operator(&format!("the job could not be stored: {error}"));
            }
            exchange
        })?;
        let mut polls = self.polls.borrow_mut();
        polls.entry(name).or_default().running = Some(task.clone());
        Ok(task)
    }

    /// Waits until polls have finished, for at most [`MAX_READ_WAIT`]. The polls then continue, and
    /// the caller returns the stored states.
    pub(super) async fn await_polls(
        self: &Rc<Self>,
        polls: Vec<SharedTask<Exchange<JobSnapshot>>>,
    ) -> HostResult<()> {
        if polls.is_empty() {
            return Ok(());
        }
        let finished = self.spawn(async move {
            for poll in polls {
                poll.wait().await?;
            }
            Ok(())
        })?;
        let waited = limit_time(MAX_READ_WAIT, finished.wait()).await;
        waited.unwrap_or(Ok(()))
    }

    /// Counts the retry of a poll. Returns `false` if the rest of the poll budget is reserved for
    /// spaced polls, or if polls are paused. The retry must not be sent then.
    fn count_retry(&self) -> HostResult<bool> {
        let now = now();
        let usage = self.jobs.poll_usage(now)?;
        let has_budget = self.settings.poll_budget.count_immediate(&usage, now) > 0;
        if has_budget {
            self.jobs.count_poll(now)?;
        }
        Ok(has_budget)
    }

    /// Marks the running poll of a job as older than the stored job.
    pub(super) fn supersede_poll(&self, job: &str) {
        if let Some(poll) = self.polls.borrow_mut().get_mut(job) {
            poll.is_superseded = poll.running.is_some();
        }
    }

    /// Forgets the failed polls of a deleted job. A running poll removes its own entry.
    pub(super) fn forget_failures(&self, job: &str) {
        let mut polls = self.polls.borrow_mut();
        if polls.get(job).is_some_and(|poll| poll.running.is_none()) {
            polls.remove(job);
        }
    }

    /// Records the response to a poll. After a failure, records when the job may be polled again.
    fn conclude_poll(&self, job: &str, exchange: &Exchange<JobSnapshot>) -> HostResult<()> {
        let poll = self.polls.borrow_mut().remove(job).unwrap_or_default();
        match &exchange.outcome {
            // The stored job is newer than this response, which is therefore discarded.
            Ok(_) if poll.is_superseded => self.jobs.mark_found(job)?,
            Ok(reply) => self.record(job, reply)?,
            Err(failure) => {
                // A job without a row has no watchers, so its failed poll need not be repeated.
                if let Some(row) = self.jobs.find(job)? {
                    let failed = PollState {
                        running: None,
                        is_superseded: false,
                        failures: poll.failures.saturating_add(1),
                        ..poll
                    };
                    self.polls.borrow_mut().insert(job.to_owned(), failed);
                    let wait = failure.retry_after();
                    let wait = wait.map(|wait| wait.min(self.settings.poll_duration));
                    let not_before = wait.map_or(Millis(0), |wait| now().plus(wait));
                    self.jobs.mark_checked(job, not_before)?;
                    if failure.is_missing {
                        self.on_missing(&row)?;
                    }
                }
                if let Some(time) = failure.closed_for {
                    self.jobs.pause_polls(time, now())?;
                }
            }
        }
        self.plan_webhook_poll(job)
    }

    /// Handles a 404 from Mintlify for the job. Watchers of a new job stay connected, because Mintlify may not
    /// know the job yet.
    fn on_missing(&self, row: &JobRow) -> HostResult<()> {
        let now = now();
        match row.missing_since {
            None => self.jobs.mark_missing(&row.id, now)?,
            Some(since) if now.since(since) >= LOST_AFTER => self.queue_missing_webhook(row)?,
            Some(_) => {}
        }
        if now.since(row.created_at) >= CREATION_DELAY {
            self.close_watchers(&row.id);
        }
        Ok(())
    }

    /// Notifies the webhook that Mintlify no longer knows the job, and stops polling the job for
    /// the webhook.
    fn queue_missing_webhook(&self, row: &JobRow) -> HostResult<()> {
        let Some(url) = &row.webhook else {
            return Ok(());
        };
        log_for_operator(&format!(
            "job {} has been unknown to the upstream for 15 minutes: its webhook says so and waits \
             no longer",
            row.id
        ));
        self.database.transaction(|| {
            self.outbox.add(url, JobEnd::NotFound, &row.data)?;
            self.jobs.forget_webhook(&row.id)
        })
    }
}
