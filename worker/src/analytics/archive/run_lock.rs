use quillgate::Millis;

/// Prevents concurrent runs. After the lease expires, another run can take the lock.
#[derive(Debug, Default)]
pub struct RunLock {
    last_run: u64,
    held: Option<(RunId, Millis)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunId(u64);

impl RunLock {
    /// A run renews its lock before each request, which takes less time.
    pub const LEASE: Millis = Millis::from_seconds(600);

    /// Returns `None` while another run holds an unexpired lease.
    pub fn acquire(&mut self, now: Millis) -> Option<RunId> {
        if self.held.is_some_and(|(_, expires)| now < expires) {
            return None;
        }
        self.last_run += 1;
        let run = RunId(self.last_run);
        self.held = Some((run, now.plus(Self::LEASE)));
        Some(run)
    }

    /// Even an expired lease. Returns `false` if the run has lost the lock and must stop.
    #[must_use]
    pub fn renew(&mut self, run: RunId, now: Millis) -> bool {
        let is_held = self.held.is_some_and(|(holder, _)| holder == run);
        if is_held {
            self.held = Some((run, now.plus(Self::LEASE)));
        }
        is_held
    }

    pub fn release(&mut self, run: RunId) {
        self.held = self.held.filter(|(holder, _)| *holder != run);
    }
}
