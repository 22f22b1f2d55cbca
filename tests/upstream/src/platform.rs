//! The state of the simulated platform.

use std::sync::Arc;

use parking_lot::Mutex;

use crate::Options;
use crate::agent_job::Jobs;
use crate::auth::Keys;
use crate::automation::Runs;
use crate::clock::Clock;
use crate::continuation::Continuations;
use crate::data::Sites;
use crate::deployment::Deployments;
use crate::fault::FaultQueue;
use crate::held::HeldRequests;
use crate::limits::{HOUR_MS, MINUTE_MS, SlidingLimit, TEN_SECONDS_MS};
use crate::random_faults::RandomFaults;
use crate::request_log::RequestLog;

pub(crate) struct Platform {
    pub(crate) options: Options,
    pub(crate) continuations: Mutex<Continuations>,
    pub(crate) clock: Clock,
    pub(crate) keys: Mutex<Keys>,
    pub(crate) create_limit: Mutex<SlidingLimit>,
    pub(crate) message_limit: Mutex<SlidingLimit>,
    pub(crate) analytics_limit: Mutex<SlidingLimit>,
    /// Deployments and runs of automations.
    pub(crate) deployment_limit: Mutex<SlidingLimit>,
    pub(crate) preview_limit: Mutex<SlidingLimit>,
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
            keys: Mutex::new(Keys::new(options.key.clone(), options.read_key.clone())),
            create_limit: Mutex::new(SlidingLimit::hourly(options.create_limit)),
            message_limit: Mutex::new(SlidingLimit::hourly(options.message_limit)),
            analytics_limit: Mutex::new(SlidingLimit::hourly(options.analytics_limit)),
            deployment_limit: Mutex::new(SlidingLimit::new(
                options.deployment_limit,
                TEN_SECONDS_MS,
            )),
            preview_limit: Mutex::new(SlidingLimit::new(options.preview_limit, MINUTE_MS)),
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

    /// Restores the limits of the options. Earlier uses still count.
    pub(crate) fn restore_limits(&self) {
        let options = &self.options;
        for (limit, uses, window_ms) in [
            (&self.create_limit, options.create_limit, HOUR_MS),
            (&self.message_limit, options.message_limit, HOUR_MS),
            (&self.analytics_limit, options.analytics_limit, HOUR_MS),
            (
                &self.deployment_limit,
                options.deployment_limit,
                TEN_SECONDS_MS,
            ),
            (&self.preview_limit, options.preview_limit, MINUTE_MS),
        ] {
            limit.lock().set(Some(uses), window_ms);
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
        for limit in [
            &self.create_limit,
            &self.message_limit,
            &self.analytics_limit,
            &self.deployment_limit,
            &self.preview_limit,
        ] {
            limit.lock().clear();
        }
        self.jobs.lock().clear();
        self.deployments.lock().clear();
        self.automation_runs.lock().clear();
    }
}
