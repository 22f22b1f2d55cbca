//! The alarm of a project's object. The alarm's handler polls jobs, delivers webhooks and deletes
//! expired records.

use std::rc::Rc;

use quillgate::Millis;

use crate::jobs::events::{CHARGE_TEXT, END_TEXT};
use crate::jobs::job_row::JobRow;
use crate::jobs::project_object::Project;
use crate::jobs::webhook::JobEnd;
use crate::runtime::{HostResult, SharedTask, log_for_operator, new_uuid, now, random, sockets};
use crate::upstream::request::Call;

/// The time between charging a watcher and polling. Within this time, the Worker closes the
/// watcher's socket if the watcher's caller has no reads left.
const CHARGE_TIME: Millis = Millis::from_seconds(1);

impl Project {
    /// Stops polling jobs that did not finish in time, and starts due polls and webhook deliveries.
    /// Then deletes expired records and schedules the next alarm.
    pub(super) async fn on_alarm(self: Rc<Self>) -> HostResult<()> {
        self.alarm.set(None);
        self.alarms.set(self.alarms.get() + 1);
        let now = now();
        // The project's id is unknown before the first request.
        if let Some(project) = self.jobs.project()? {
            let call = Call::begin(new_uuid(), project);
            for row in self.take_due(now)? {
                if row.is_given_up(self.settings.poll_duration, now) {
                    self.give_up(&row)?;
                } else if !row.is_listed && !self.take_charge(&row.id, now) {
                    self.charge_watcher(&row.id, now);
                } else if let Some(job) = row.job_id() {
                    let poll = self.poll(&call, &job)?;
                    self.spawn(async move { poll.wait().await.map(drop) })?;
                }
            }
            for webhook in self.outbox.take_due()? {
                let (project, project_id) = (Rc::clone(&self), call.project.clone());
                self.spawn(async move { project.outbox.deliver(&webhook, &project_id).await })?;
            }
        }
        let (jobs, events) = self.jobs.sweep(now.since(self.settings.retention))?;
        for job in &jobs {
            self.forget_failures(job);
        }
        self.broadcast_list(&events);
        self.schedule().await
    }

    /// Runs slow work in the background, and then schedules the next alarm. The runtime does not
    /// start another alarm before the handler of the current one has returned.
    pub(super) fn spawn(
        self: &Rc<Self>,
        work: impl Future<Output = HostResult<()>> + 'static,
    ) -> HostResult<SharedTask<()>> {
        let project = Rc::clone(self);
        SharedTask::spawn(&self.state, async move {
            let scheduled = async {
                work.await?;
                project.schedule().await
            };
            if let Err(error) = scheduled.await {
                log_for_operator(&error.to_string());
            }
        })
    }

    /// Returns the due jobs, least recently polled first. Leases the jobs that are due for their
    /// webhook. The poll budget limits only jobs that the gateway created and still polls.
    fn take_due(&self, now: Millis) -> HostResult<Vec<JobRow>> {
        let usage = self.jobs.poll_usage(now)?;
        let mut room = self.settings.poll_budget.count_allowed(&usage, now);
        let watched = self.find_watched_jobs(&usage)?.into_iter();
        let watched = watched.filter(|(at, _)| *at <= now).map(|(_, row)| row);
        let mut due: Vec<_> = self.jobs.due(now)?;
        let awaited: Vec<_> = due.iter().map(|row| row.id.clone()).collect();
        due.extend(watched.filter(|row| !awaited.contains(&row.id)));
        due.sort_by_key(|row| row.checked_at);
        // If the runtime evicts this instance during the poll, the job is due again after the
        // lease.
        let lease = now.plus(self.upstream.timeout);
        let mut taken = Vec::new();
        for row in due {
            if row.is_listed && !row.is_given_up(self.settings.poll_duration, now) {
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

    /// Stops polling a job that [`JobRow::is_given_up`]. Notifies the job's webhook, its watchers and
    /// the operator.
    fn give_up(&self, row: &JobRow) -> HostResult<()> {
        self.database.transaction(|| {
            if let Some(url) = &row.webhook {
                self.outbox.add(url, JobEnd::Unfinished, &row.data)?;
            }
            self.jobs.mark_given_up(&row.id)
        })?;
        self.polls.borrow_mut().remove(&row.id);
        let reason = if row.job_id().is_some() {
            let seconds = self.settings.poll_duration.0 / 1000;
            format!("has not ended within {seconds} s")
        } else {
            "has an id that cannot be part of a path".to_owned()
        };
        log_for_operator(&format!("job {} {reason} and is no longer polled", row.id));
        for socket in self.find_watchers(&row.id) {
            sockets::send(&socket, END_TEXT);
            sockets::close(&socket, "given up");
        }
        Ok(())
    }

    /// Charges one watcher for the next poll of a job that the gateway did not create. The Worker
    /// counts a read for the watcher's caller. If the caller has no reads left, the Worker closes
    /// the watcher's socket.
    fn charge_watcher(&self, job: &str, now: Millis) {
        let mut watchers = self.find_watchers(job);
        if watchers.is_empty() {
            return;
        }
        // A random choice charges all watchers equally often on average.
        let watcher = watchers.swap_remove(pick_index(watchers.len()));
        sockets::send(&watcher, CHARGE_TEXT);
        let mut polls = self.polls.borrow_mut();
        let poll = polls.entry(job.to_owned()).or_default();
        poll.charge_end = Some(now.plus(CHARGE_TIME));
    }

    /// Consumes the charge for a poll. Returns `true` if a watcher was charged at least
    /// [`CHARGE_TIME`] ago.
    fn take_charge(&self, job: &str, now: Millis) -> bool {
        let mut polls = self.polls.borrow_mut();
        let charge = polls.get_mut(job).map(|poll| &mut poll.charge_end);
        charge.is_some_and(|charge| charge.take_if(|end| *end <= now).is_some())
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "a number of sockets"
)]
fn pick_index(count: usize) -> usize {
    (random() * count as f64) as usize
}
