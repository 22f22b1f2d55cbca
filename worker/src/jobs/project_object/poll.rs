use std::rc::Rc;

use quillgate::{JobId, Millis, Operation, ProjectId};

use crate::jobs::machine::{Event, PollFailure};
use crate::jobs::poll::MAX_READ_WAIT;
use crate::jobs::project_object::Project;
use crate::jobs::resource::Resource;
use crate::runtime::{HostResult, SharedTask, limit_time, log_for_operator, now};
use crate::upstream::client::UpstreamResponse;
use crate::upstream::failure::UpstreamFailure;
use crate::upstream::request::{RequestIds, UpstreamRequest};
use crate::upstream::snapshot::Snapshot;

/// Returns the failure of the poll, if any.
pub(super) type PollTask = SharedTask<Option<UpstreamFailure>>;

struct Poll {
    job: String,
    number: u64,
    operation: Operation,
    target: String,
    /// Only polls of jobs that the gateway created use the poll budget.
    counted_at: Option<Millis>,
}

impl Project {
    /// Returns the running poll if the job already has one.
    pub(super) fn poll(self: &Rc<Self>, ids: &RequestIds, job: &JobId) -> HostResult<PollTask> {
        let id = job.as_str();
        let polls = self.polls.borrow();
        if let Some(task) = polls.get(id).and_then(|poll| poll.task.clone()) {
            return Ok(task);
        }
        drop(polls);
        let project_id = ProjectId::new(&*ids.project)?;
        let (operation, target) = self.jobs.resource().read_request(&project_id, id)?;
        let now = now();
        let is_counted = self.jobs.find(id)?.is_some_and(|row| row.is_listed);
        if is_counted {
            self.jobs.count_poll(now)?;
        }
        let number = self.polls_started.get() + 1;
        self.polls_started.set(number);
        let poll = Poll {
            job: id.to_owned(),
            number,
            operation,
            target,
            counted_at: is_counted.then_some(now),
        };
        // Nothing is stored, because an instance that restarts polls again.
        let mut polled = self.job(id, None);
        polled.apply(Event::PollStarted(number), now, &self.timing);
        self.set_polling(id, polled.polling);
        let (project, ids) = (Rc::clone(self), ids.clone());
        let task = SharedTask::spawn(
            &self.state,
            async move { project.send_poll(&ids, &poll).await },
        );
        let task = task.inspect_err(|_| self.abandon_poll(id, number))?;
        let mut polls = self.polls.borrow_mut();
        polls.entry(id.to_owned()).or_default().task = Some(task.clone());
        Ok(task)
    }

    async fn send_poll(&self, ids: &RequestIds, poll: &Poll) -> Option<UpstreamFailure> {
        let request = UpstreamRequest {
            operation: poll.operation,
            ids,
            target: &poll.target,
            body: None,
        };
        let mut pay = || poll.counted_at.is_none() || self.count_retry().unwrap_or(false);
        let sent = self
            .connections
            .send(&self.upstream, &request, || Ok(()), &mut pay)
            .await;
        let read = |UpstreamResponse { head, body }| match self.jobs.resource() {
            Resource::Job => Snapshot::read_job(head.status, &body, Some(&poll.job)),
            Resource::Deployment => {
                let owner = Some(ids.project.as_str());
                Snapshot::read_deployment(head.status, &body, &poll.job, owner)
            }
        };
        let exchange = sent.read(&request, read);
        let conclude = || {
            if let Some(counted_at) = poll.counted_at.filter(|_| !exchange.is_sent()) {
                self.jobs.return_poll(counted_at)?;
            }
            let snapshot = exchange.outcome.as_ref();
            let event = match snapshot {
                Ok(snapshot) => Event::PollAnswered(poll.number, self.state_of(snapshot)),
                Err(failure) => {
                    let reason = PollFailure {
                        is_missing: failure.is_missing,
                        retry_after: failure.retry_after(),
                    };
                    Event::PollFailed(poll.number, reason)
                }
            };
            self.apply(&poll.job, &event, snapshot.ok())?;
            match snapshot.err().and_then(|failure| failure.closed_for) {
                Some(time) => self.jobs.pause_polls(time, now()),
                None => Ok(()),
            }
        };
        if let Err(error) = conclude() {
            self.abandon_poll(&poll.job, poll.number);
            log_for_operator(&format!("the job could not be stored: {error}"));
        }
        exchange.outcome.err()
    }

    /// Waits for at most [`MAX_READ_WAIT`]. The polls then continue.
    pub(super) async fn await_polls(self: &Rc<Self>, polls: Vec<PollTask>) -> HostResult<()> {
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

    /// Returns `false` if the rest of the poll budget is reserved for spaced polls, or if polls are
    /// paused.
    fn count_retry(&self) -> HostResult<bool> {
        let now = now();
        let usage = self.jobs.poll_usage(now)?;
        let has_budget = self.poll_budget().count_immediate(&usage, now) > 0;
        if has_budget {
            self.jobs.count_poll(now)?;
        }
        Ok(has_budget)
    }

    /// The response could not be stored.
    fn abandon_poll(&self, id: &str, number: u64) {
        let mut job = self.job(id, None);
        if job.polling.fail(number, now()) {
            self.set_polling(id, job.polling);
        }
    }
}
