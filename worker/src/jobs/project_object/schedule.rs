use std::rc::Rc;

use quillgate::Millis;
use worker::ScheduledTime;

use crate::jobs::job_row::JobRow;
use crate::jobs::machine::{Effect, Event, Interest};
use crate::jobs::poll_budget::PollUsage;
use crate::jobs::project_object::Project;
use crate::jobs::project_object::watch::LIST_TAG;
use crate::jobs::store::DELETION_LIFE;
use crate::runtime::{HostResult, SharedTask, log_for_operator, new_uuid, now, to_date};
use crate::upstream::request::RequestIds;

/// The interval at which the alarm deletes expired records, in milliseconds.
const SWEEP_PERIOD: u64 = 3_600_000;

/// The minimum time until the next alarm. The runtime loses an alarm that is set during another one
/// for the current time (cloudflare/workerd#6866).
const MIN_DELAY: Millis = Millis(10);

/// The time after the end of a job's polling in which an alarm can still give up the job. The limit
/// applies to unfinished jobs while the list is watched.
const GIVE_UP_TIME: Millis = Millis::from_seconds(86_400);

impl Project {
    pub(super) async fn on_alarm(self: Rc<Self>) -> HostResult<()> {
        self.alarm.set(None);
        self.alarms.set(self.alarms.get() + 1);
        let now = now();
        // The project's id is unknown before the first request.
        if let Some(project) = self.jobs.project() {
            let ids = RequestIds::begin(new_uuid(), project);
            self.start_due_polls(&ids, now)?;
            for webhook in self.outbox.take_due()? {
                let (project, id) = (Rc::clone(&self), ids.project.clone());
                let resource = self.jobs.resource();
                self.spawn(async move { project.outbox.deliver(&webhook, &id, resource).await })?;
            }
        }
        if now >= self.sweep_at.get() {
            for (job, event) in self.jobs.sweep(now.since(self.settings.retention))? {
                self.forget(&job, event);
            }
        }
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

    /// The least recently polled jobs come first. The poll budget limits only polls of jobs that
    /// the gateway created.
    fn start_due_polls(self: &Rc<Self>, ids: &RequestIds, now: Millis) -> HostResult<()> {
        let usage = self.jobs.poll_usage(now)?;
        let mut room = self.poll_budget().count_allowed(&usage, now);
        let watched = self.find_watched_jobs(&usage)?.into_iter();
        let watched = watched.filter(|(at, _)| *at <= now);
        let mut due: Vec<_> = watched.map(|(_, row)| (row, true)).collect();
        for row in self.jobs.due(&self.polled_jobs(), now)? {
            if due.iter().all(|(other, _)| other.id != row.id) {
                due.push((row, false));
            }
        }
        due.sort_by_key(|(row, _)| row.checked_at);
        for (row, is_watched) in due {
            let has_room = !row.is_listed || room > 0;
            let interest = Interest {
                is_watched,
                // Without room, the alarm only gives up jobs.
                earliest_poll: (!has_room).then_some(Millis(u64::MAX)),
            };
            let effects = self.apply(&row.id, &Event::Due(interest), None)?;
            if effects.contains(&Effect::Poll)
                && let Some(job) = row.job_id()
            {
                room = room.saturating_sub(u32::from(row.is_listed));
                let poll = self.poll(ids, &job)?;
                self.spawn(async move { poll.wait().await.map(drop) })?;
            }
        }
        Ok(())
    }

    /// Each job has the time when the alarm polls the job or gives it up. Watchers of the list
    /// watch the jobs of [`JobStore::unfinished`](crate::jobs::store::JobStore::unfinished).
    pub(super) fn find_watched_jobs(&self, usage: &PollUsage) -> HostResult<Vec<(Millis, JobRow)>> {
        let mut targets = self.find_watched_targets();
        let is_list_watched = targets.remove(LIST_TAG);
        let now = now();
        let mut rows = Vec::new();
        if is_list_watched {
            let earliest = now.since(self.settings.poll_duration.plus(GIVE_UP_TIME));
            rows = self.jobs.unfinished(earliest)?;
            rows.retain(|row| !targets.contains(&row.id));
        }
        if !targets.is_empty() {
            rows.extend(self.jobs.find_all(&targets)?);
        }
        let pace = self.poll_budget().find_next(usage);
        let find_time = |row: &JobRow| {
            let interest = Interest {
                is_watched: true,
                earliest_poll: if row.is_listed {
                    pace
                } else {
                    usage.paused_until
                },
            };
            self.job(&row.id, Some(row))
                .next_time(interest, now, &self.timing)
        };
        let rows = rows.into_iter();
        Ok(rows
            .filter_map(|row| Some((find_time(&row)?, row)))
            .collect())
    }

    pub(super) async fn schedule(&self) -> HostResult<()> {
        let usage = self.jobs.poll_usage(now())?;
        let pace = self.poll_budget().find_next(&usage);
        let next = self.jobs.next_times(&self.polled_jobs())?;
        // Rounding up lets one alarm delete many records.
        let expiry = next
            .oldest
            .map(|started| started.plus(self.settings.retention));
        let deletion_expiry = next.oldest_deletion.map(|at| at.plus(DELETION_LIFE));
        let expiry = [expiry, deletion_expiry].into_iter().flatten().min();
        let sweep = expiry.map(|end| Millis(end.0.next_multiple_of(SWEEP_PERIOD)));
        self.sweep_at.set(sweep.unwrap_or(Millis(u64::MAX)));
        let watched = self.find_watched_jobs(&usage)?;
        let times = [
            watched.iter().map(|(at, _)| *at).min(),
            next.next_poll.map(|due| due.max(pace.unwrap_or(due))),
            // The polls end by then. This time applies if the runtime evicts the instance.
            next.is_polling.then(|| now().plus(self.timing.timeout)),
            self.outbox.next_due()?,
            sweep,
        ];
        let Some(due) = times.into_iter().flatten().min() else {
            return Ok(());
        };
        let next = due.max(now().plus(MIN_DELAY));
        // The current alarm may be due but not have fired yet. Setting the alarm again would
        // postpone the alarm.
        let is_set = |alarm| due <= alarm && alarm <= next;
        if self.alarm.get().is_some_and(is_set) {
            return Ok(());
        }
        self.alarm.set(Some(next));
        let storage = self.state.storage();
        let set = storage.set_alarm(ScheduledTime::new(to_date(next))).await;
        if set.is_err() {
            self.alarm.set(None);
        }
        Ok(set?)
    }
}
