//! The recent polls of a project, in the database, because the runtime can evict the object between
//! two polls.

use quillgate::Millis;

use super::JobStore;
use crate::budget::find_step;
use crate::jobs::poll_budget::PollUsage;
use crate::runtime::HostResult;

impl JobStore {
    pub fn poll_usage(&self, now: Millis) -> HostResult<PollUsage> {
        let query = "SELECT coalesce(sum(polls), 0) AS used, max(latest) AS latest,
              min(step_end) FILTER (WHERE polls > 0) AS oldest_step,
              (SELECT polls_paused_until FROM project) AS paused_until
            FROM poll_step WHERE step_end > ?";
        let since = now.since(self.poll_window);
        let usage: Option<PollUsage> = self.database.first(query, &[&since])?;
        Ok(usage.unwrap_or_default())
    }

    /// Deletes the steps that have left the window when a step begins.
    pub fn count_poll(&self, now: Millis) -> HostResult<()> {
        let insert = "INSERT INTO poll_step (step_end, polls, latest) VALUES (?1, 1, ?2)
            ON CONFLICT (step_end) DO UPDATE SET polls = polls + 1, latest = excluded.latest
            RETURNING polls";
        let step = find_step(self.poll_window, now);
        let polls: Option<u64> = self.database.value(insert, &[&step, &now])?;
        if polls == Some(1) {
            let delete = "DELETE FROM poll_step WHERE step_end <= ?";
            let since = now.since(self.poll_window);
            self.database.execute(delete, &[&since])?;
        }
        Ok(())
    }

    /// A poll counted at `counted` was not sent. The time of the latest poll stays, so that the
    /// spacing of polls also limits attempts.
    pub fn return_poll(&self, counted: Millis) -> HostResult<()> {
        let update = "UPDATE poll_step SET polls = polls - 1 WHERE step_end = ? AND polls > 0";
        let step = find_step(self.poll_window, counted);
        self.database.execute(update, &[&step])
    }

    /// A pause that ends later stays in effect.
    pub fn pause_polls(&self, time: Millis, now: Millis) -> HostResult<()> {
        let update = "UPDATE project SET polls_paused_until =
            max(coalesce(polls_paused_until, 0), ?)";
        self.database.execute(update, &[&now.plus(time)])
    }
}
