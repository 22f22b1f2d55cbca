//! Everything the simulated platform knows.

use std::sync::Arc;

use parking_lot::Mutex;

use crate::Options;
use crate::agent_job::Jobs;
use crate::auth::Keys;
use crate::clock::Clock;
use crate::data::Sites;
use crate::fault::FaultQueue;
use crate::ledger::Ledger;
use crate::limits::HourlyLimit;

pub(crate) struct Platform {
    pub(crate) options: Options,
    pub(crate) clock: Clock,
    pub(crate) keys: Mutex<Keys>,
    pub(crate) create_limit: Mutex<HourlyLimit>,
    pub(crate) message_limit: Mutex<HourlyLimit>,
    pub(crate) analytics_limit: Mutex<HourlyLimit>,
    pub(crate) jobs: Mutex<Jobs>,
    pub(crate) sites: Mutex<Sites>,
    pub(crate) faults: Mutex<FaultQueue>,
    pub(crate) ledger: Arc<Ledger>,
}

impl Platform {
    pub(crate) fn new(options: Options) -> Self {
        let clock = Clock::start();
        Self {
            keys: Mutex::new(Keys::new(options.key.clone())),
            create_limit: Mutex::new(HourlyLimit::new(options.create_limit)),
            message_limit: Mutex::new(HourlyLimit::new(options.message_limit)),
            analytics_limit: Mutex::new(HourlyLimit::new(options.analytics_limit)),
            jobs: Mutex::new(Jobs::new(&options, clock.started_at())),
            sites: Mutex::new(Sites::new(&options)),
            faults: Mutex::default(),
            ledger: Arc::default(),
            clock,
            options,
        }
    }

    /// Forgets all that requests have brought about; keys and data stay.
    pub(crate) fn reset(&self) {
        self.ledger.clear();
        self.faults.lock().clear();
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
