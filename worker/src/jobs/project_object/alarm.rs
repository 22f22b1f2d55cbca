use std::rc::Rc;

use quillgate::Millis;

use crate::jobs::machine::{Effect, Event, Interest};
use crate::jobs::project_object::Project;
use crate::runtime::{HostResult, SharedTask, log_for_operator, new_uuid, now};
use crate::upstream::request::RequestIds;

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
            let (jobs, events) = self.jobs.sweep(now.since(self.settings.retention))?;
            for job in &jobs {
                self.forget(job);
            }
            self.broadcast_list(&events);
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
}
