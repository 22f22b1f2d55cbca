//! Charges watchers for polls of jobs that the gateway did not create.

use quillgate::Millis;

use crate::jobs::events::CHARGE_TEXT;
use crate::jobs::project_object::Project;
use crate::runtime::{random, sockets};

/// The delay between charging a watcher and polling. A watcher without reads leaves in this time.
const CHARGE_TIME: Millis = Millis::from_seconds(1);

impl Project {
    /// Charges one watcher for the next poll of a job. The Worker counts a read for the watcher's
    /// caller. It closes the socket if the caller has no reads left.
    pub(super) fn charge_watcher(&self, job: &str, now: Millis) {
        let mut watchers = self.find_watchers(job);
        if watchers.is_empty() {
            return;
        }
        let watcher = watchers.swap_remove(pick_index(watchers.len()));
        sockets::send(&watcher, CHARGE_TEXT);
        let mut polls = self.polls.borrow_mut();
        polls.entry(job.to_owned()).or_default().charged_at = Some(now);
    }

    /// Uses the charge for a poll. Returns `true` if a watcher was charged and had time to leave.
    pub(super) fn take_charge(&self, job: &str, now: Millis) -> bool {
        let is_over = |charged_at: &mut Millis| charged_at.plus(CHARGE_TIME) <= now;
        let mut polls = self.polls.borrow_mut();
        let charge = polls.get_mut(job).map(|poll| &mut poll.charged_at);
        charge.is_some_and(|charge| charge.take_if(is_over).is_some())
    }

    /// Returns when the poll that a watcher was charged for is due.
    pub(super) fn find_charge_end(&self, job: &str) -> Option<Millis> {
        let polls = self.polls.borrow();
        Some(polls.get(job)?.charged_at?.plus(CHARGE_TIME))
    }
}

/// Picks one of `count` watchers at random, so that all pay an equal share of the polls.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "a number of sockets"
)]
fn pick_index(count: usize) -> usize {
    (random() * count as f64) as usize
}
