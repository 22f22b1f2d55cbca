//! Decides when jobs are polled, and sets the alarm.

use quillgate::Millis;

use crate::jobs::poll::{Audience, compute_pause};
use crate::jobs::poll_budget::PollUsage;
use crate::jobs::project_object::Project;
use crate::jobs::project_object::watchers::WatchedTargets;
use crate::jobs::store::JobRow;
use crate::jobs::store::search::BACKLOG_PAUSE;
use crate::runtime::{HostResult, now};

/// The interval at which the alarm deletes expired records.
const SWEEP_PERIOD: u64 = 3_600_000;

impl Project {
    /// Returns when the state of a job becomes stale for this audience.
    pub(super) fn next_poll(&self, row: &JobRow, audience: Audience) -> Millis {
        let polls = self.polls.borrow();
        let failures = polls.get(&row.id).map_or(0, |poll| poll.failures);
        let checked = row.checked_at();
        let age = checked.since(row.began());
        let pause = compute_pause(self.settings.poll_interval, audience, age, failures);
        checked.plus(pause).max(row.not_before())
    }

    /// Returns when the alarm next handles a watched job. It polls the job, not before `earliest`, or
    /// gives it up.
    fn next_visit(&self, row: &JobRow, earliest: Option<Millis>) -> Millis {
        let next = self.next_poll(row, Audience::Watchers);
        let next = earliest.map_or(next, |earliest| next.max(earliest));
        if row.is_finished() {
            return next;
        }
        next.min(self.find_poll_end(row))
    }

    /// Returns when a job is given up.
    fn find_poll_end(&self, row: &JobRow) -> Millis {
        row.began().plus(self.settings.poll_duration)
    }

    /// Returns whether polling ends because the job has not finished in time.
    pub(super) fn is_given_up(&self, row: &JobRow, now: Millis) -> bool {
        row.is_settled(self.settings.poll_duration, now) && !row.is_finished()
    }

    /// Plans the next poll for the webhook of a job.
    pub(super) fn plan_webhook_poll(&self, job: &str) -> HostResult<()> {
        let Some(row) = self.jobs.find(job)? else {
            return Ok(());
        };
        if row.webhook.is_none() {
            return Ok(());
        }
        let is_open = !row.is_settled(self.settings.poll_duration, now());
        let next = is_open.then(|| {
            let next = self.next_poll(&row, Audience::Webhook);
            next.min(self.find_poll_end(&row))
        });
        self.jobs.set_webhook_poll(job, next)
    }

    /// Returns the watched jobs and when the alarm handles each. List watchers watch all unfinished
    /// jobs.
    pub(super) fn find_watched_jobs(&self, usage: &PollUsage) -> HostResult<Vec<(JobRow, Millis)>> {
        let WatchedTargets {
            jobs,
            is_list_watched,
        } = self.find_watched_targets();
        let now = now();
        let mut rows = Vec::new();
        if is_list_watched {
            rows = self
                .jobs
                .unfinished(now.since(self.settings.poll_duration))?;
            rows.retain(|row| jobs.binary_search(&row.id).is_err());
        }
        if !jobs.is_empty() {
            rows.extend(self.jobs.find_all(&jobs)?);
        }
        let end = now.plus(self.upstream.timeout);
        let pace = self.poll_log.budget().find_next(usage);
        let mut watched = Vec::with_capacity(rows.len());
        for row in rows {
            let earliest = if row.is_listed() {
                pace
            } else {
                usage.paused_until.max(self.find_charge_end(&row.id))
            };
            // A running poll schedules the next alarm itself, unless this instance is evicted first.
            let at = if self.is_poll_running(&row.id) {
                end
            } else {
                self.next_visit(&row, earliest)
            };
            watched.push((row, at));
        }
        Ok(watched)
    }

    /// Sets the alarm to the next due time. Leaves it unset if nothing is due.
    pub(super) async fn schedule(&self) -> HostResult<()> {
        let usage = self.poll_log.usage(now())?;
        let pace = self.poll_log.budget().find_next(&usage);
        let polls = self
            .find_watched_jobs(&usage)?
            .into_iter()
            .map(|(_, at)| at);
        let others = [
            self.jobs
                .next_due()?
                .map(|due| pace.map_or(due, |pace| due.max(pace))),
            self.outbox.next_due()?,
            self.next_sweep()?,
            self.jobs.next_deletion_expiry()?.map(round_up),
            self.next_indexing()?,
        ];
        let Some(next) = polls.chain(others.into_iter().flatten()).min() else {
            return Ok(());
        };
        let now = now();
        let next = next.max(now.plus(Millis(1)));
        if self.alarm.get() == Some(next) && next > now {
            return Ok(());
        }
        self.alarm.set(Some(next));
        let set = self
            .state
            .storage()
            .set_alarm(to_scheduled_time(next))
            .await;
        if set.is_err() {
            self.alarm.set(None);
        }
        Ok(set?)
    }

    /// Returns when the oldest record expires, rounded up to the hour. Rounding lets one alarm delete
    /// many records.
    fn next_sweep(&self) -> HostResult<Option<Millis>> {
        let oldest = self.jobs.oldest()?;
        Ok(oldest.map(|began| round_up(began.plus(self.settings.retention))))
    }

    /// Returns when jobs of earlier releases are next added to the search index.
    pub(super) fn next_indexing(&self) -> HostResult<Option<Millis>> {
        let is_open = self.jobs.has_backlog()?;
        Ok(is_open.then(|| now().plus(BACKLOG_PAUSE)))
    }
}

/// Rounds an instant up to the next sweep.
const fn round_up(end: Millis) -> Millis {
    Millis(end.0.div_ceil(SWEEP_PERIOD) * SWEEP_PERIOD)
}

#[expect(clippy::cast_precision_loss, reason = "far below 2^53")]
fn to_scheduled_time(instant: Millis) -> worker::ScheduledTime {
    worker::ScheduledTime::new(js_sys::Date::new(&(instant.0 as f64).into()))
}
