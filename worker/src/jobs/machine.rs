//! The state machine of a job, without I/O. [`Job::apply`] returns the effects that the project's
//! object carries out.

use quillgate::Millis;

use crate::jobs::poll::{CREATION_DELAY, LOST_AFTER, RESTART_TIME, compute_pause};
use crate::jobs::webhook::JobEnd;

/// The time between charging a watcher and polling. Within this time, the Worker closes the
/// watcher's socket if the watcher's caller has no reads left.
pub const CHARGE_TIME: Millis = Millis::from_seconds(1);

#[derive(Debug, Clone, Copy)]
pub struct Timing {
    pub poll_interval: Millis,
    pub webhook_poll_interval: Millis,
    pub poll_duration: Millis,
    pub timeout: Millis,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Job {
    pub record: Option<Record>,
    /// A restart loses the polls.
    pub polling: Polling,
}

#[expect(
    clippy::struct_excessive_bools,
    reason = "independent facts, as stored"
)]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Created through the gateway. Only polls of such jobs use the poll budget.
    pub is_listed: bool,
    /// Whether the job's id can be part of a path. A job with any other id is given up.
    pub is_pollable: bool,
    pub has_webhook: bool,
    /// For a job that was not created through the gateway, the first poll.
    pub created_at: Millis,
    /// The last start: the creation, a follow-up, or a poll that found the finished job active.
    pub started_at: Millis,
    /// The time of the latest response or poll.
    pub checked_at: Millis,
    /// Mintlify allows no poll before this time.
    pub not_before: Millis,
    /// The first 404 since Mintlify last returned the job.
    pub missing_since: Option<Millis>,
    /// `None` for a job that an early release stored.
    pub changed_at: Option<Millis>,
    /// The job did not finish in time after its last start.
    pub is_given_up: bool,
    /// Counted from 1.
    pub version: u64,
    pub state: State,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct State {
    /// Two states are equal if their data is equal.
    pub data: String,
    pub end: Option<JobEnd>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Polling {
    /// The response to any other poll is ignored.
    pub running: Option<u64>,
    pub failures: u32,
    pub failed_at: Millis,
    /// When the poll for which a watcher was charged is due.
    pub charge_end: Option<Millis>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    Created {
        state: State,
        has_webhook: bool,
    },
    /// `None` if the response was lost.
    FollowedUp(Option<State>),
    /// The number is unique.
    PollStarted(u64),
    PollAnswered(u64, State),
    PollFailed(u64, PollFailure),
    /// At the time of [`Job::next_time`].
    Due(Interest),
    Deleted,
}

/// Interest in the job, besides its webhook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interest {
    /// The job, or the list that contains the job, has a watcher.
    pub is_watched: bool,
    /// The earliest time that the project's poll budget allows.
    pub earliest_poll: Option<Millis>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PollFailure {
    /// Mintlify responded 404.
    pub is_missing: bool,
    pub retry_after: Option<Millis>,
}

/// A task for the object, which also stores a changed record and its webhooks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    Poll,
    /// A watcher is charged for the next poll.
    Charge,
    Notify,
    QueueWebhook(JobEnd),
    /// Unless the first attempt of the webhook for this end has begun.
    UpdateWebhook(JobEnd),
    CloseWatchers(CloseReason),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CloseReason {
    Finished,
    /// A watcher that reconnects causes a poll.
    Gone,
    GivenUp,
}

impl Polling {
    /// Returns `false` if another poll is running.
    pub fn fail(&mut self, poll: u64, now: Millis) -> bool {
        if self.running != Some(poll) {
            return false;
        }
        self.running = None;
        self.failed_at = now;
        self.failures = self.failures.saturating_add(1);
        true
    }
}

impl Record {
    /// Neither listed nor with a webhook.
    fn new(state: State, now: Millis) -> Self {
        Self {
            is_listed: false,
            is_pollable: true,
            has_webhook: false,
            created_at: now,
            started_at: now,
            checked_at: now,
            not_before: Millis(0),
            missing_since: None,
            changed_at: Some(now),
            is_given_up: false,
            version: 1,
            state,
        }
    }

    pub const fn is_finished(&self) -> bool {
        self.state.end.is_some()
    }

    /// The stored state has not changed since the restart. Mintlify processes follow-ups in the
    /// background, so the response to a follow-up can repeat the earlier state.
    pub fn is_restarted(&self) -> bool {
        let is_older = |at| at <= self.started_at;
        self.started_at > self.created_at && self.changed_at.is_some_and(is_older)
    }

    pub fn is_closed(&self, timing: &Timing, now: Millis) -> bool {
        self.is_finished() || self.is_late(timing, now)
    }

    pub fn is_late(&self, timing: &Timing, now: Millis) -> bool {
        !self.is_finished()
            && (self.is_given_up || !self.is_pollable || now >= self.poll_end(timing))
    }

    fn poll_end(&self, timing: &Timing) -> Millis {
        self.started_at.plus(timing.poll_duration)
    }

    /// Returns when polling for the webhook ends. A finished job is polled for its webhook only
    /// after a restart, for at most [`RESTART_TIME`].
    fn webhook_poll_end(&self, timing: &Timing) -> Option<Millis> {
        if !self.has_webhook || self.is_given_up {
            return None;
        }
        if !self.is_finished() {
            return Some(self.poll_end(timing));
        }
        self.restart_end(timing)
    }

    /// Returns when the wait for the first change after a restart ends.
    fn restart_end(&self, timing: &Timing) -> Option<Millis> {
        let end = self.started_at.plus(timing.poll_duration.min(RESTART_TIME));
        self.is_restarted().then_some(end)
    }

    /// Whether a 404 can mean that Mintlify does not know the new job yet.
    pub fn may_be_unknown(&self, now: Millis) -> bool {
        now.since(self.created_at) < CREATION_DELAY
    }

    fn set_state(&mut self, state: State, now: Millis) -> Vec<Effect> {
        self.checked_at = now;
        self.not_before = Millis(0);
        self.missing_since = None;
        if self.state.data == state.data {
            return Vec::new();
        }
        let announced = self.announced_end();
        let is_silent = self.is_given_up;
        if self.is_finished() && state.end.is_none() {
            self.started_at = now;
            self.is_given_up = false;
        }
        self.version += 1;
        self.changed_at = Some(now);
        self.state = state;
        let mut effects = vec![Effect::Notify];
        if let Some(end) = self.state.end {
            if self.has_webhook && !is_silent {
                effects.push(if announced == Some(end) {
                    Effect::UpdateWebhook(end)
                } else {
                    Effect::QueueWebhook(end)
                });
            }
            effects.push(Effect::CloseWatchers(CloseReason::Finished));
        }
        effects
    }

    /// The end for which the webhook is already queued or sent. The next end of a restarted job
    /// needs a new webhook, even if the job ends in the same way.
    fn announced_end(&self) -> Option<JobEnd> {
        self.state.end.filter(|_| !self.is_restarted())
    }
}

impl Job {
    pub fn apply(&mut self, event: Event, now: Millis, timing: &Timing) -> Vec<Effect> {
        match event {
            Event::Created { state, has_webhook } => {
                // The record can already exist: a caller may have watched the job before the
                // response to its creation arrived. The state that the poll returned is then newer.
                let record = self.record.get_or_insert_with(|| Record::new(state, now));
                record.is_listed = true;
                record.has_webhook = has_webhook;
                let end = record.state.end.filter(|_| has_webhook);
                end.map(Effect::QueueWebhook).into_iter().collect()
            }
            Event::FollowedUp(state) => {
                // The record may have been deleted since the follow-up was sent.
                let Some(record) = &mut self.record else {
                    return Vec::new();
                };
                self.polling = Polling::default();
                let checked_at = record.checked_at;
                let effects = state.map(|state| record.set_state(state, now));
                if record.is_finished() {
                    // The response can repeat the earlier end, so the next watcher needs a poll.
                    record.checked_at = checked_at;
                }
                record.started_at = now;
                record.is_given_up = false;
                effects.unwrap_or_default()
            }
            Event::PollStarted(poll) => {
                self.polling.running = Some(poll);
                Vec::new()
            }
            Event::PollAnswered(poll, state) if self.polling.running == Some(poll) => {
                self.polling = Polling::default();
                let mut effects = if let Some(record) = &mut self.record {
                    record.set_state(state, now)
                } else {
                    self.record = Some(Record::new(state, now));
                    vec![Effect::Notify]
                };
                effects.extend(self.give_up_if_late(now, timing));
                effects
            }
            Event::PollFailed(poll, failure) => self.on_failure(poll, failure, now, timing),
            Event::Due(interest) => self.on_due(interest, now, timing),
            Event::Deleted => {
                *self = Self::default();
                vec![Effect::CloseWatchers(CloseReason::Gone)]
            }
            // A follow-up or a deletion is newer than the response to this poll.
            Event::PollAnswered(..) => Vec::new(),
        }
    }

    fn on_failure(
        &mut self,
        poll: u64,
        failure: PollFailure,
        now: Millis,
        timing: &Timing,
    ) -> Vec<Effect> {
        let mut effects = Vec::new();
        if !self.polling.fail(poll, now) {
            return effects;
        }
        let Some(record) = &mut self.record else {
            self.polling = Polling::default();
            return effects;
        };
        let after = |wait: Millis| now.plus(wait.min(timing.poll_duration));
        record.not_before = failure.retry_after.map_or(Millis(0), after);
        record.checked_at = now;
        if failure.is_missing {
            let since = *record.missing_since.get_or_insert(now);
            if now.since(since) >= LOST_AFTER && record.has_webhook && !record.is_given_up {
                record.has_webhook = false;
                effects.push(Effect::QueueWebhook(JobEnd::NotFound));
            }
            if !record.may_be_unknown(now) {
                effects.push(Effect::CloseWatchers(CloseReason::Gone));
            }
        }
        effects.extend(self.give_up_if_late(now, timing));
        effects
    }

    fn on_due(&mut self, interest: Interest, now: Millis, timing: &Timing) -> Vec<Effect> {
        let next = self.next_time(interest, now, timing);
        if next.is_none_or(|at| at > now) {
            return Vec::new();
        }
        if self.is_last_poll_due(interest, now, timing) {
            return vec![Effect::Poll];
        }
        let effects = self.give_up_if_late(now, timing);
        if !effects.is_empty() {
            return effects;
        }
        let is_listed = self.record.as_ref().is_some_and(|record| record.is_listed);
        if is_listed || self.polling.charge_end.take().is_some() {
            return vec![Effect::Poll];
        }
        self.polling.charge_end = Some(now.plus(CHARGE_TIME));
        vec![Effect::Charge]
    }

    /// Whether to poll a job with a webhook at its limit, because the last poll can be long ago.
    fn is_last_poll_due(&self, interest: Interest, now: Millis, timing: &Timing) -> bool {
        self.record.as_ref().is_some_and(|record| {
            let polled_at = record.checked_at.max(self.polling.failed_at);
            let may_poll = interest.earliest_poll.is_none_or(|at| at <= now);
            let is_open = record.has_webhook && record.is_pollable && !record.is_given_up;
            let is_unseen = record.is_late(timing, now) && polled_at < record.poll_end(timing);
            is_open && is_unseen && may_poll && now >= record.not_before
        })
    }

    fn give_up_if_late(&mut self, now: Millis, timing: &Timing) -> Vec<Effect> {
        let Some(record) = &mut self.record else {
            return Vec::new();
        };
        if record.is_given_up || !record.is_late(timing, now) {
            return Vec::new();
        }
        record.is_given_up = true;
        self.polling = Polling::default();
        let webhook = Effect::QueueWebhook(JobEnd::Unfinished);
        let webhook = record.has_webhook.then_some(webhook);
        let close = Effect::CloseWatchers(CloseReason::GivenUp);
        webhook.into_iter().chain([close]).collect()
    }

    /// `None` if the job has no watcher and no webhook.
    pub fn next_time(&self, interest: Interest, now: Millis, timing: &Timing) -> Option<Millis> {
        let record = self.record.as_ref()?;
        let webhook = self.webhook_due(now, timing);
        let watched = interest.is_watched && !record.is_given_up;
        let watched = watched.then(|| self.next_poll(record, timing.poll_interval));
        let next = [webhook, watched].into_iter().flatten().min()?;
        if self.polling.running.is_some() {
            // The poll ends by then. This time applies if the runtime evicts the instance.
            return Some(now.plus(timing.timeout));
        }
        let next = next.max(interest.earliest_poll.unwrap_or(next));
        let next = next.max(self.polling.charge_end.unwrap_or(next));
        Some(if record.is_finished() {
            next
        } else {
            next.min(record.poll_end(timing))
        })
    }

    /// The object stores this time, which ignores the poll budget.
    pub fn webhook_due(&self, now: Millis, timing: &Timing) -> Option<Millis> {
        let record = self.record.as_ref()?;
        let end = record.webhook_poll_end(timing)?;
        if self.polling.running.is_some() {
            return Some(now.plus(timing.timeout));
        }
        if record.is_finished() && now >= end {
            return None;
        }
        Some(
            self.next_poll(record, timing.webhook_poll_interval)
                .min(end),
        )
    }

    /// Whether to poll the job before a list or a record contains its state.
    pub fn is_stale(&self, now: Millis, timing: &Timing) -> bool {
        self.record.as_ref().is_none_or(|record| {
            let is_awaited = record.restart_end(timing).is_some_and(|end| now < end);
            let may_change = !record.is_finished() || is_awaited;
            may_change && now >= self.next_poll(record, timing.poll_interval)
        })
    }

    /// Whether to poll the job before a new watcher receives its state. A closed job is polled,
    /// because another client may have restarted it, unless the watcher resumes `after` a change
    /// and only needs the stored ones. After a restart, the next watcher always causes a poll.
    pub fn is_poll_due(&self, after: Option<u64>, now: Millis, timing: &Timing) -> bool {
        let Some(record) = &self.record else {
            return true;
        };
        let is_unseen =
            record.is_finished() && record.is_restarted() && record.checked_at <= record.started_at;
        let may_have_changed = !record.is_closed(timing, now) || after.is_none();
        let is_stale = now.since(record.checked_at) >= timing.poll_interval;
        (is_unseen || may_have_changed && is_stale) && now >= record.not_before
    }

    fn next_poll(&self, record: &Record, interval: Millis) -> Millis {
        let age = record.checked_at.since(record.started_at);
        let pause = compute_pause(interval, age, self.polling.failures);
        // The end of a poll whose result could not be stored is only known here.
        let polled_at = record.checked_at.max(self.polling.failed_at);
        let from = polled_at.max(record.started_at);
        from.plus(pause).max(record.not_before)
    }
}
