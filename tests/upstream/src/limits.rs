//! Sliding-window limits.

use std::collections::{HashMap, VecDeque};

use serde::Deserialize;

use crate::api_error::ApiError;
use crate::clock::Timestamp;
use crate::field::Field;
use crate::options::Options;

const HOUR_MS: u64 = 60 * 60 * 1000;

/// The scope of a limit that all projects share.
pub(crate) const ORGANISATION: &str = "organisation";

/// The limits of the API.
pub(crate) struct Limits {
    pub(crate) create: SlidingLimit,
    pub(crate) message: SlidingLimit,
    pub(crate) analytics: SlidingLimit,
    /// Deployments and runs of automations.
    pub(crate) deployment: SlidingLimit,
    pub(crate) preview: SlidingLimit,
}

/// Changes of limits. A limit that is `null` is unlimited.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(crate) struct LimitSettings {
    create: Field<u32>,
    message: Field<u32>,
    analytics: Field<u32>,
    deployment: Field<u32>,
    preview: Field<u32>,
    window_ms: Option<u64>,
}

impl Limits {
    pub(crate) fn new(options: &Options) -> Self {
        Self {
            create: SlidingLimit::new(options.create_limit, HOUR_MS),
            message: SlidingLimit::new(options.message_limit, HOUR_MS),
            analytics: SlidingLimit::new(options.analytics_limit, HOUR_MS),
            deployment: SlidingLimit::new(options.deployment_limit, 10 * 1000),
            preview: SlidingLimit::new(options.preview_limit, 60 * 1000),
        }
    }

    fn all(&mut self) -> [&mut SlidingLimit; 5] {
        [
            &mut self.create,
            &mut self.message,
            &mut self.analytics,
            &mut self.deployment,
            &mut self.preview,
        ]
    }

    /// Changes limits. Without a window, each limit has its usual one. Earlier uses still count.
    pub(crate) fn set(&mut self, settings: LimitSettings) {
        let uses = [
            settings.create,
            settings.message,
            settings.analytics,
            settings.deployment,
            settings.preview,
        ];
        for (limit, uses) in self.all().into_iter().zip(uses) {
            limit.uses = uses.value_or(limit.uses);
            limit.window_ms = settings.window_ms.unwrap_or(limit.usual_window_ms);
        }
    }

    /// Forgets all uses.
    pub(crate) fn clear(&mut self) {
        for limit in self.all() {
            limit.used.clear();
        }
    }
}

/// A maximum number of uses in any window, counted separately for each scope.
pub(crate) struct SlidingLimit {
    usual_window_ms: u64,
    /// The maximum, or `None` for no limit.
    uses: Option<u32>,
    window_ms: u64,
    used: HashMap<String, VecDeque<Timestamp>>,
}

impl SlidingLimit {
    fn new(uses: u32, window_ms: u64) -> Self {
        Self {
            usual_window_ms: window_ms,
            uses: Some(uses),
            window_ms,
            used: HashMap::new(),
        }
    }

    /// Counts a use, unless the uses of the window are exhausted.
    pub(crate) fn take(&mut self, scope: &str, now: Timestamp) -> Result<(), ApiError> {
        let used = self.used.entry(scope.to_owned()).or_default();
        while used
            .front()
            .is_some_and(|first| now.since(*first) >= self.window_ms)
        {
            used.pop_front();
        }
        let used_up = |uses| usize::try_from(uses).is_ok_and(|uses: usize| used.len() >= uses);
        if self.uses.is_some_and(used_up) {
            return Err(ApiError::RateLimited);
        }
        used.push_back(now);
        Ok(())
    }
}
