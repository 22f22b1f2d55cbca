//! The lock that keeps two runs of the archive from overlapping.

use quillgate::Millis;

/// A lock with a lease. A holder that stops renewing it loses it when the lease expires.
#[derive(Debug, Default)]
pub struct RunLock {
    last_run: u64,
    held: Option<(RunId, Millis)>,
}

/// The id of a run of the archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunId(u64);

impl RunLock {
    /// The time after which a lock that is not renewed expires: ten minutes. A run renews its lock
    /// before each request. A request takes less time, including its retries and D1 queries.
    pub const LEASE: Millis = Millis::from_seconds(600);

    /// Takes the lock for a new run. Returns `None` while another run holds it.
    pub fn acquire(&mut self, now: Millis) -> Option<RunId> {
        if self.held.is_some_and(|(_, expires)| now < expires) {
            return None;
        }
        self.last_run += 1;
        let run = RunId(self.last_run);
        self.held = Some((run, now.plus(Self::LEASE)));
        Some(run)
    }

    /// Extends the lease of a run. Returns `false` if the run has lost the lock and must stop.
    #[must_use]
    pub fn renew(&mut self, run: RunId, now: Millis) -> bool {
        let is_held = self.held.is_some_and(|(holder, _)| holder == run);
        if is_held {
            self.held = Some((run, now.plus(Self::LEASE)));
        }
        is_held
    }

    /// Releases the lock if `run` still holds it.
    pub fn release(&mut self, run: RunId) {
        self.held = self.held.filter(|(holder, _)| *holder != run);
    }
}
