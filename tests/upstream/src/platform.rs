//! The state of the simulated Mintlify.

use std::sync::Arc;

use parking_lot::Mutex;

use crate::agent_job::Jobs;
use crate::auth::Keys;
use crate::automation::Runs;
use crate::clock::Clock;
use crate::continuation::Continuations;
use crate::data::Sites;
use crate::deployment::Deployments;
use crate::fault::FaultQueue;
use crate::held::HeldRequests;
use crate::limits::Limits;
use crate::options::Options;
use crate::random_faults::RandomFaults;
use crate::request_log::RequestLog;

pub(crate) struct Platform {
    pub(crate) options: Options,
    pub(crate) continuations: Mutex<Continuations>,
    pub(crate) clock: Clock,
    pub(crate) keys: Mutex<Keys>,
    pub(crate) limits: Mutex<Limits>,
    pub(crate) jobs: Mutex<Jobs>,
    pub(crate) deployments: Mutex<Deployments>,
    pub(crate) automation_runs: Mutex<Runs>,
    pub(crate) sites: Mutex<Sites>,
    pub(crate) faults: Mutex<FaultQueue>,
    pub(crate) random_faults: Mutex<RandomFaults>,
    pub(crate) held: HeldRequests,
    pub(crate) request_log: Arc<RequestLog>,
}

impl Platform {
    pub(crate) fn new(options: Options) -> Self {
        let clock = Clock::start(options.clock_rate);
        Self {
            keys: Mutex::new(Keys::new(&options)),
            limits: Mutex::new(Limits::new(&options)),
            deployments: Mutex::new(Deployments::new(&options, clock.started_at())),
            automation_runs: Mutex::new(Runs::new(&options, clock.started_at())),
            jobs: Mutex::new(Jobs::new(&options, clock.started_at())),
            sites: Mutex::new(Sites::new(&options)),
            faults: Mutex::default(),
            random_faults: Mutex::default(),
            held: HeldRequests::default(),
            request_log: Arc::default(),
            clock,
            continuations: Mutex::default(),
            options,
        }
    }

    /// Clears requests, counters, faults, late counts, uses of limits, jobs, deployments and
    /// runs of automations, and aborts held requests. Keeps the clock, keys, limits and generated data.
    pub(crate) fn reset(&self) {
        self.request_log.clear();
        self.faults.lock().clear();
        *self.random_faults.lock() = RandomFaults::default();
        self.held.cancel();
        self.sites.lock().late.clear();
        self.limits.lock().clear();
        self.jobs.lock().clear();
        self.deployments.lock().clear();
        self.automation_runs.lock().clear();
    }
}
