//! Everything the simulated platform knows.

use std::sync::Arc;

use parking_lot::Mutex;

use crate::Options;
use crate::agent_job::Jobs;
use crate::auth::Keys;
use crate::clock::Clock;
use crate::data::Sites;
use crate::fault::FaultQueue;
use crate::held::Held;
use crate::holes::Holes;
use crate::ledger::Ledger;
use crate::limits::{HOUR_MS, SlidingLimit};
use crate::random_faults::RandomFaults;

pub(crate) struct Platform {
    pub(crate) options: Options,
    pub(crate) clock: Clock,
    pub(crate) keys: Mutex<Keys>,
    pub(crate) create_limit: Mutex<SlidingLimit>,
    pub(crate) message_limit: Mutex<SlidingLimit>,
    pub(crate) analytics_limit: Mutex<SlidingLimit>,
    pub(crate) jobs: Mutex<Jobs>,
    pub(crate) sites: Mutex<Sites>,
    pub(crate) holes: Mutex<Holes>,
    pub(crate) faults: Mutex<FaultQueue>,
    pub(crate) random_faults: Mutex<RandomFaults>,
    pub(crate) held: Held,
    pub(crate) ledger: Arc<Ledger>,
}

impl Platform {
    pub(crate) fn new(options: Options) -> Self {
        let clock = Clock::start();
        Self {
            keys: Mutex::new(Keys::new(options.key.clone(), options.read_key.clone())),
            create_limit: Mutex::new(SlidingLimit::hourly(options.create_limit)),
            message_limit: Mutex::new(SlidingLimit::hourly(options.message_limit)),
            analytics_limit: Mutex::new(SlidingLimit::hourly(options.analytics_limit)),
            jobs: Mutex::new(Jobs::new(&options, clock.started_at())),
            sites: Mutex::new(Sites::new(&options)),
            holes: Mutex::default(),
            faults: Mutex::default(),
            random_faults: Mutex::default(),
            held: Held::default(),
            ledger: Arc::default(),
            clock,
            options,
        }
    }

    /// Back to the limits of the start; what has been taken remains taken.
    pub(crate) fn restore_limits(&self) {
        let options = &self.options;
        for (limit, uses) in [
            (&self.create_limit, options.create_limit),
            (&self.message_limit, options.message_limit),
            (&self.analytics_limit, options.analytics_limit),
        ] {
            limit.lock().set(Some(uses), HOUR_MS);
        }
    }

    /// Forgets all that requests have brought about, what came late, and holes; the clock, keys,
    /// limits and all other data stay.
    pub(crate) fn reset(&self) {
        self.ledger.clear();
        self.faults.lock().clear();
        *self.random_faults.lock() = RandomFaults::default();
        self.held.forget();
        self.holes.lock().clear();
        self.sites.lock().late.clear();
        for limit in [
            &self.create_limit,
            &self.message_limit,
            &self.analytics_limit,
        ] {
            limit.lock().clear();
        }
        self.jobs.lock().clear();
    }
}
