//! Handles the alarm: polls, webhook deliveries and expired records.

use std::rc::Rc;

use quillgate::{JobId, Millis};

use crate::http::trace::continue_trace;
use crate::jobs::events::END_TEXT;
use crate::jobs::project_object::Project;
use crate::jobs::store::JobRow;
use crate::jobs::webhook::JobEnd;
use crate::log::format_operator_line;
use crate::runtime::{Call, HostResult, SharedTask, log_error, new_uuid, now, sockets};

impl Project {
    /// Starts due polls and webhook deliveries, then deletes expired records.
    pub(super) async fn on_alarm(self: Rc<Self>) -> HostResult<()> {
        self.alarm.set(None);
        self.alarms.set(self.alarms.get() + 1);
        let now = now();
        if let Some(call) = self.own_call()? {
            for row in self.take_due(now)? {
                if self.is_given_up(&row, now) {
                    self.give_up(&row)?;
                } else if !row.is_listed() && !self.take_charge(&row.id, now) {
                    self.charge_watcher(&row.id, now);
                } else if let Some(job) = row.job_id() {
                    self.begin_poll(&call, &job)?;
                }
            }
            for row in self.outbox.take_due()? {
                let project_id = call.project.clone();
                self.spawn(|project| async move {
                    project.outbox.deliver(row, &project_id).await?;
                    project.schedule().await
                })?;
            }
        }
        self.jobs.index_backlog()?;
        let swept = self.jobs.sweep(now.since(self.settings.retention))?;
        for job in &swept.jobs {
            self.forget_failures(job);
        }
        self.broadcast_list(&swept.events);
        self.schedule().await
    }

    /// Creates a call with a new trace for work that no request caused.
    fn own_call(&self) -> HostResult<Option<Call>> {
        let id = new_uuid();
        let trace = continue_trace(None, &id.replace('-', ""));
        Ok(self.jobs.project()?.map(|project| Call {
            id,
            project: project.to_owned(),
            traceparent: trace.traceparent,
            tracestate: None,
        }))
    }

    /// Polls a job in the background, then schedules the next alarm.
    fn begin_poll(self: &Rc<Self>, call: &Call, job: &JobId) -> HostResult<()> {
        let poll = self.poll(call, job)?;
        self.spawn(|project| async move {
            poll.wait().await?;
            project.schedule().await
        })
    }

    /// Runs slow work in the background. Otherwise the next alarm would wait for it.
    fn spawn<F>(self: &Rc<Self>, work: impl FnOnce(Rc<Self>) -> F) -> HostResult<()>
    where
        F: Future<Output = HostResult<()>> + 'static,
    {
        let work = work(Rc::clone(self));
        SharedTask::spawn(&self.state, async move {
            if let Err(error) = work.await {
                log_error(&format_operator_line(&error.to_string()));
            }
        })?;
        Ok(())
    }

    /// Takes the due jobs that the poll budget allows, least recently polled first.
    fn take_due(&self, now: Millis) -> HostResult<Vec<JobRow>> {
        let usage = self.poll_log.usage(now)?;
        let mut room = self.poll_log.budget().count_allowed(&usage, now);
        let watched = self.find_watched_jobs(&usage)?.into_iter();
        let watched = watched.filter(|(_, at)| *at <= now).map(|(row, _)| row);
        let mut due: Vec<_> = self.jobs.due(now)?;
        let awaited: Vec<_> = due.iter().map(|row| row.id.clone()).collect();
        due.extend(watched.filter(|row| !awaited.contains(&row.id)));
        due.sort_by_key(JobRow::checked_at);
        // If this instance is evicted during the poll, the job is due again after the lease.
        let lease = now.plus(self.upstream.timeout);
        let mut taken = Vec::new();
        for row in due {
            if row.is_listed() && !self.is_given_up(&row, now) {
                if room == 0 {
                    continue;
                }
                room -= 1;
            }
            if awaited.contains(&row.id) {
                self.jobs.set_webhook_poll(&row.id, Some(lease))?;
            }
            taken.push(row);
        }
        Ok(taken)
    }

    /// Stops polling a job that has not ended in time. Notifies its webhook, its watchers and the
    /// operator.
    fn give_up(&self, row: &JobRow) -> HostResult<()> {
        self.database.transaction(|| {
            if let (Some(url), Some(data)) = (&row.webhook, &row.data) {
                self.outbox.add(url, JobEnd::Unfinished, data)?;
            }
            self.jobs.set_webhook_poll(&row.id, None)
        })?;
        self.polls.borrow_mut().remove(&row.id);
        let seconds = self.settings.poll_duration.0 / 1000;
        log_error(&format_operator_line(&format!(
            "job {} has not ended within {seconds} s and is no longer polled",
            row.id
        )));
        for socket in self.find_watchers(&row.id) {
            sockets::send(&socket, END_TEXT);
            sockets::close(&socket, "given up");
        }
        Ok(())
    }
}
