use quillgate::{Millis, RateLimitPolicy};

use crate::variable::{Range, VariableError, Variables, read_integer, read_seconds};

/// The maximum number of requests per window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    pub create_job: u32,
    pub send_message: u32,
    /// Of the whole organization.
    pub analytics: u32,
    /// Per caller and project. Each isolate counts separately.
    pub read_jobs: u32,
    pub window: Millis,
}

impl Limits {
    pub fn read(variables: Variables<'_>) -> Result<Self, VariableError> {
        let limit = |name, default| read_integer(name, variables(name), default, Range::TO_MILLION);
        Ok(Self {
            create_job: limit("CREATE_LIMIT_PER_HOUR", 100)?,
            send_message: limit("MESSAGE_LIMIT_PER_HOUR", 100)?,
            analytics: limit("ANALYTICS_LIMIT_PER_HOUR", 100)?,
            read_jobs: limit("READ_LIMIT_PER_HOUR", 6_000)?,
            window: read_seconds("LIMIT_WINDOW_SECONDS", variables, 3600, Range::TO_DAY)?,
        })
    }

    pub const fn limit(&self, policy: RateLimitPolicy) -> u32 {
        match policy {
            RateLimitPolicy::CreateJob => self.create_job,
            RateLimitPolicy::SendMessage => self.send_message,
            RateLimitPolicy::Analytics => self.analytics,
            RateLimitPolicy::ReadJobs => self.read_jobs,
        }
    }
}
