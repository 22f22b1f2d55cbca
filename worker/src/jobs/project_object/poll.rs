use std::rc::Rc;

use quillgate::{JobId, ProjectId};

use crate::jobs::machine::{Event, PollFailure};
use crate::jobs::poll::MAX_READ_WAIT;
use crate::jobs::project_object::Project;
use crate::jobs::resource::Resource;
use crate::runtime::{HostError, HostResult, SharedTask, limit_time, log_for_operator, now};
use crate::upstream::client::{Exchange, UpstreamResponse};
use crate::upstream::request::{RequestIds, UpstreamRequest};
use crate::upstream::snapshot::Snapshot;

impl Project {
    /// Returns the running poll if the job already has one.
    pub(super) fn poll(
        self: &Rc<Self>,
        ids: &RequestIds,
        job: &JobId,
    ) -> HostResult<SharedTask<Exchange<Snapshot>>> {
        let name = job.as_str().to_owned();
        let running = self
            .polls
            .borrow()
            .get(&name)
            .and_then(|poll| poll.task.clone());
        if let Some(task) = running {
            return Ok(task);
        }
        let project_id = ProjectId::new(&*ids.project);
        let project_id = project_id.map_err(|error| HostError::new(error.message()))?;
        // Only polls of jobs that the gateway created use the poll budget.
        let is_counted = self.jobs.find(&name)?.is_some_and(|row| row.is_listed);
        let started = now();
        if is_counted {
            self.jobs.count_poll(started)?;
        }
        let number = self.polls_started.get() + 1;
        self.polls_started.set(number);
        self.begin_poll(&name, number);
        let resource = self.jobs.resource();
        let (operation, target) = resource
            .read_request(&project_id, &name)
            .map_err(|error| HostError::new(error.message()))?;
        let (project, polled, ids) = (Rc::clone(self), name.clone(), ids.clone());
        let task = SharedTask::spawn(&self.state, async move {
            let request = UpstreamRequest {
                operation,
                ids: &ids,
                target: &target,
                body: None,
            };
            let mut pay = || !is_counted || project.count_retry().unwrap_or(false);
            let sent = project
                .connections
                .send(&project.upstream, &request, || Ok(()), &mut pay)
                .await;
            let read = |UpstreamResponse { head, body }| match resource {
                Resource::Job => Snapshot::read_job(head.status, &body, Some(&polled)),
                Resource::Deployment => {
                    let owner = Some(ids.project.as_str());
                    Snapshot::read_deployment(head.status, &body, &polled, owner)
                }
            };
            let exchange = sent.read(&request, read);
            let conclude = || {
                if is_counted && !exchange.is_sent() {
                    project.jobs.return_poll(started)?;
                }
                project.conclude_poll(&polled, number, &exchange)
            };
            if let Err(error) = conclude() {
                project.abandon_poll(&polled, number);
                log_for_operator(&format!("the job could not be stored: {error}"));
            }
            exchange
        });
        let task = task.inspect_err(|_| self.abandon_poll(&name, number))?;
        let mut polls = self.polls.borrow_mut();
        polls.entry(name).or_default().task = Some(task.clone());
        Ok(task)
    }

    /// Waits for at most [`MAX_READ_WAIT`]. The polls then continue.
    pub(super) async fn await_polls(
        self: &Rc<Self>,
        polls: Vec<SharedTask<Exchange<Snapshot>>>,
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
    fn abandon_poll(&self, job: &str, number: u64) {
        let mut polling = self.polling(job);
        if polling.fail(number, now()) {
            self.set_polling(job, polling);
        }
    }

    fn conclude_poll(
        &self,
        job: &str,
        number: u64,
        exchange: &Exchange<Snapshot>,
    ) -> HostResult<()> {
        match &exchange.outcome {
            Ok(snapshot) => {
                let event = Event::PollAnswered(number, self.state_of(snapshot));
                self.apply(job, &event, Some(snapshot))?;
            }
            Err(failure) => {
                let reason = PollFailure {
                    is_missing: failure.is_missing,
                    retry_after: failure.retry_after(),
                };
                self.apply(job, &Event::PollFailed(number, reason), None)?;
                if let Some(time) = failure.closed_for {
                    self.jobs.pause_polls(time, now())?;
                }
            }
        }
        Ok(())
    }
}
