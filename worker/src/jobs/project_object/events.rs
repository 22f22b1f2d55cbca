//! Applies events to the state machine of a job, stores its new state, and carries out the effects.

use std::collections::HashSet;

use quillgate::JobId;

use crate::jobs::events::{CHARGE_TEXT, END_TEXT, StreamEvent};
use crate::jobs::job_row::JobRow;
use crate::jobs::machine::{CloseReason, Effect, Event, Job, Polling, State};
use crate::jobs::project_object::Project;
use crate::jobs::project_object::poll::PollTask;
use crate::jobs::project_object::watch::LIST_TAG;
use crate::jobs::webhook::JobEnd;
use crate::jobs::write::Write;
use crate::runtime::{HostResult, log_for_operator, now, random, sockets};
use crate::upstream::snapshot::Snapshot;

#[derive(Default)]
pub(super) struct JobPoll {
    pub(super) polling: Polling,
    pub(super) task: Option<PollTask>,
}

/// The effects of a stored event are not carried out yet.
#[derive(Default)]
#[must_use]
pub(super) struct Stored {
    id: String,
    job_event: Option<StreamEvent>,
    polling: Polling,
    effects: Vec<Effect>,
    /// Set if the job is listed.
    list_event: Option<StreamEvent>,
}

impl Project {
    pub(super) fn state_of(&self, snapshot: &Snapshot) -> State {
        State {
            data: snapshot.data.clone(),
            end: self.jobs.resource().find_end(snapshot.status.as_deref()),
        }
    }

    pub(super) fn job(&self, id: &str, row: Option<&JobRow>) -> Job {
        let polls = self.polls.borrow();
        let polling = polls.get(id).map(|poll| poll.polling.clone());
        Job {
            record: row.map(|row| row.record(self.jobs.resource())),
            polling: polling.unwrap_or_default(),
        }
    }

    pub(super) fn polled_jobs(&self) -> HashSet<String> {
        let polls = self.polls.borrow();
        let is_running = |poll: &JobPoll| poll.polling.running.is_some();
        let running = polls.iter().filter(|(_, poll)| is_running(poll));
        running.map(|(id, _)| id.clone()).collect()
    }

    /// Returns the effects that it carried out.
    pub(super) fn apply(
        &self,
        id: &str,
        event: &Event,
        snapshot: Option<&Snapshot>,
    ) -> HostResult<Vec<Effect>> {
        let stored = self
            .database
            .transaction(|| self.store_event(id, event.clone(), snapshot, None))?;
        self.publish(&stored);
        Ok(stored.effects)
    }

    /// Runs within the current transaction. `snapshot` is the response whose state the event
    /// contains.
    pub(super) fn store_event(
        &self,
        id: &str,
        event: Event,
        snapshot: Option<&Snapshot>,
        creation: Option<&Write>,
    ) -> HostResult<Stored> {
        let row = self.jobs.find(id)?;
        let mut job = self.job(id, row.as_ref());
        let now = now();
        let is_follow_up = matches!(event, Event::FollowedUp(_));
        let effects = job.apply(event, now, &self.timing);
        let is_changed = effects.contains(&Effect::Notify);
        let mut list_event = None;
        if let Some(record) = &job.record {
            let due = job.webhook_due(now, &self.timing);
            list_event = if let (Some(write), Some(snapshot)) = (creation, snapshot) {
                self.jobs.add(id, write, snapshot, due)?
            } else {
                let is_revised = is_changed || is_follow_up;
                let row = row.as_ref();
                self.jobs.save(id, row, record, snapshot, due, is_revised)?
            };
            let created = creation.and_then(|write| write.webhook.clone());
            let url = created.or_else(|| row.and_then(|row| row.webhook));
            for effect in &effects {
                match (effect, &url) {
                    (Effect::QueueWebhook(end), Some(url)) => {
                        self.outbox.add(url, *end, &record.state.data)?;
                    }
                    (Effect::UpdateWebhook(end), _) => {
                        self.outbox.update_unsent(id, *end, &record.state.data)?;
                    }
                    _ => {}
                }
            }
        }
        let record = job.record.filter(|_| is_changed);
        Ok(Stored {
            id: id.to_owned(),
            job_event: record.map(|record| StreamEvent {
                id: record.version,
                name: self.jobs.resource().as_str().to_owned(),
                data: record.state.data,
            }),
            polling: job.polling,
            effects,
            list_event,
        })
    }

    pub(super) fn publish(&self, stored: &Stored) {
        let id = &stored.id;
        self.set_polling(id, stored.polling.clone());
        for effect in &stored.effects {
            match effect {
                Effect::Notify => self.broadcast(id, stored.job_event.as_ref()),
                Effect::Charge => self.charge_watcher(id),
                Effect::CloseWatchers(reason) => self.close_watchers(id, *reason),
                Effect::QueueWebhook(JobEnd::NotFound) => log_for_operator(&format!(
                    "job {id} has been unknown to Mintlify for 15 minutes: its webhook says \
                     so and waits no longer"
                )),
                // The caller starts the poll. Webhooks are already stored.
                Effect::Poll | Effect::QueueWebhook(_) | Effect::UpdateWebhook(_) => {}
            }
        }
        self.broadcast(LIST_TAG, stored.list_event.as_ref());
    }

    /// `list_event` is the event of the deletion.
    pub(super) fn forget(&self, id: &str, list_event: Option<StreamEvent>) {
        let mut job = self.job(id, None);
        let effects = job.apply(Event::Deleted, now(), &self.timing);
        self.publish(&Stored {
            id: id.to_owned(),
            effects,
            list_event,
            ..Stored::default()
        });
    }

    pub(super) fn set_polling(&self, id: &str, polling: Polling) {
        let mut polls = self.polls.borrow_mut();
        if polling == Polling::default() {
            polls.remove(id);
            return;
        }
        let poll = polls.entry(id.to_owned()).or_default();
        if polling.running != poll.polling.running {
            poll.task = None;
        }
        poll.polling = polling;
    }

    /// The Worker counts a read for the watcher's caller, and closes the watcher's socket if the
    /// caller has no reads left.
    fn charge_watcher(&self, id: &str) {
        let watchers = self.find_watchers(id).into_iter();
        // A random choice charges all watchers equally often on average.
        let drawn = watchers.map(|watcher| (random(), watcher));
        if let Some((_, watcher)) = drawn.max_by(|(a, _), (b, _)| a.total_cmp(b)) {
            sockets::send(&watcher, CHARGE_TEXT);
        }
    }

    fn close_watchers(&self, id: &str, reason: CloseReason) {
        if reason == CloseReason::GivenUp {
            let reason = if JobId::new(id).is_ok() {
                let seconds = self.settings.poll_duration.0 / 1000;
                format!("has not ended within {seconds} s")
            } else {
                "has an id that cannot be part of a path".to_owned()
            };
            log_for_operator(&format!("job {id} {reason} and is no longer polled"));
        }
        for socket in self.find_watchers(id) {
            let text = match reason {
                CloseReason::Finished => "finished",
                CloseReason::Gone => "gone",
                CloseReason::GivenUp => {
                    sockets::send(&socket, END_TEXT);
                    "given up"
                }
            };
            sockets::close(&socket, text);
        }
    }
}
