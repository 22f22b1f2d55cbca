use quillgate::{Millis, RateLimitPolicy};

use crate::variable::{VariableError, Variables, variables};

variables! {
    /// Maximum number of jobs created per project and window.
    CREATE_LIMIT_PER_HOUR: Var = 100 in 1..=1_000_000;
    /// Maximum number of follow-ups per project and window.
    MESSAGE_LIMIT_PER_HOUR: Var = 100 in 1..=1_000_000;
    /// Maximum number of analytics requests of the whole organization per window.
    ANALYTICS_LIMIT_PER_HOUR: Var = 100 in 1..=1_000_000;
    /// Maximum number of deployments and runs of automations of the whole organization in any 10
    /// seconds.
    DEPLOYMENT_LIMIT_PER_10_SECONDS: Var = 10 in 1..=1_000_000;
    /// Maximum number of previews of the whole organization in any minute.
    PREVIEW_LIMIT_PER_MINUTE: Var = 5 in 1..=1_000_000;
    /// Maximum number of reads of jobs per caller, project and window. Reads of deployments have
    /// the same limit and their own count. Approximate, because each isolate counts separately.
    READ_LIMIT_PER_HOUR: Var = 6_000 in 1..=1_000_000;
    /// The sliding window of the limits per hour, in seconds.
    LIMIT_WINDOW_SECONDS: Var = 3_600 in 1..=86_400;
}

/// The maximum number of requests per window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    max: [u32; RateLimitPolicy::ALL.len()],
    /// Of all policies except those for deployments and previews.
    pub window: Millis,
}

impl Limits {
    pub fn read(variables: Variables<'_>) -> Result<Self, VariableError> {
        let mut max = [0; RateLimitPolicy::ALL.len()];
        for policy in RateLimitPolicy::ALL {
            let variable = match policy {
                RateLimitPolicy::CreateJob => CREATE_LIMIT_PER_HOUR,
                RateLimitPolicy::SendMessage => MESSAGE_LIMIT_PER_HOUR,
                RateLimitPolicy::Analytics => ANALYTICS_LIMIT_PER_HOUR,
                RateLimitPolicy::ReadJobs | RateLimitPolicy::ReadDeployments => READ_LIMIT_PER_HOUR,
                RateLimitPolicy::CreateDeployment => DEPLOYMENT_LIMIT_PER_10_SECONDS,
                RateLimitPolicy::CreatePreview => PREVIEW_LIMIT_PER_MINUTE,
            };
            max[policy as usize] = variable.read(variables)?;
        }
        let window = LIMIT_WINDOW_SECONDS.read_seconds(variables)?;
        Ok(Self { max, window })
    }

    pub const fn limit(&self, policy: RateLimitPolicy) -> u32 {
        self.max[policy as usize]
    }

    /// Mintlify's own windows for deployments and previews: docs/mintlify/rules.md, 8.
    pub const fn window(&self, policy: RateLimitPolicy) -> Millis {
        match policy {
            RateLimitPolicy::CreateDeployment => Millis::from_seconds(10),
            RateLimitPolicy::CreatePreview => Millis::from_seconds(60),
            RateLimitPolicy::CreateJob
            | RateLimitPolicy::SendMessage
            | RateLimitPolicy::Analytics
            | RateLimitPolicy::ReadJobs
            | RateLimitPolicy::ReadDeployments => self.window,
        }
    }
}
