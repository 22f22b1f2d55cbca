use quillgate::Millis;

use crate::jobs::job_row::JobRow;
use crate::jobs::machine::Interest;
use crate::jobs::poll_budget::PollUsage;
use crate::jobs::project_object::Project;
use crate::jobs::project_object::watchers::LIST_TAG;
use crate::jobs::store::DELETION_LIFE;
use crate::runtime::{HostResult, now};

/// The interval at which the alarm deletes expired records, in milliseconds.
const SWEEP_PERIOD: u64 = 3_600_000;

/// The minimum time until the next alarm. The runtime loses an alarm that is set during another one
/// for the current time (cloudflare/workerd#6866).
const MIN_DELAY: Millis = Millis(10);

/// The time after the end of a job's polling in which an alarm can still give up the job. The limit
/// applies to unfinished jobs while the list is watched.
const GIVE_UP_TIME: Millis = Millis::from_seconds(86_400);

impl Project {
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
            self.job_of(row).next_time(interest, now, &self.timing)
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
        let sweep = expiry
            .into_iter()
            .chain(deletion_expiry)
            .min()
            .map(round_up);
        self.sweep_at.set(sweep.unwrap_or(Millis(u64::MAX)));
        let times = [
            self.find_watched_jobs(&usage)?
                .into_iter()
                .map(|(at, _)| at)
                .min(),
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
        let set = storage.set_alarm(to_scheduled_time(next)).await;
        if set.is_err() {
            self.alarm.set(None);
        }
        Ok(set?)
    }
}

const fn round_up(end: Millis) -> Millis {
    Millis(end.0.div_ceil(SWEEP_PERIOD) * SWEEP_PERIOD)
}

#[expect(clippy::cast_precision_loss, reason = "far below 2^53")]
fn to_scheduled_time(instant: Millis) -> worker::ScheduledTime {
    worker::ScheduledTime::new(js_sys::Date::new(&(instant.0 as f64).into()))
}
