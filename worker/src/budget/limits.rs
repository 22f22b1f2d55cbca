//! The limits of the budgets. The Worker's variables set the limit of each policy and the length of
//! the window.

use quillgate::{Millis, RateLimitPolicy};

use crate::variable::{Range, VariableError, Variables, read_integer, read_seconds};

/// The limit of each policy, and the length of the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The maximum number of jobs to create in a project per window.
    pub create_job: u32,
    /// The maximum number of follow-ups to send in a project per window.
    pub send_message: u32,
    /// The maximum number of analytics requests of the whole organization per window.
    pub analytics: u32,
    /// The maximum number of job reads per caller, project and window. Each isolate counts
    /// separately.
    pub read_jobs: u32,
    /// The length of the window, an hour by default.
    pub window: Millis,
}

impl Limits {
    /// Reads the limits from the Worker's variables.
    ///
    /// # Errors
    /// Returns an error for the first malformed variable.
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

    /// Returns the maximum number of requests of a policy in any window, at least 1.
    pub const fn limit(&self, policy: RateLimitPolicy) -> u32 {
        match policy {
            RateLimitPolicy::CreateJob => self.create_job,
            RateLimitPolicy::SendMessage => self.send_message,
            RateLimitPolicy::Analytics => self.analytics,
            RateLimitPolicy::ReadJobs => self.read_jobs,
        }
    }
}
