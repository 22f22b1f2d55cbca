use quillgate::{Millis, RateLimitPolicy};

use crate::variable::{VariableError, Variables, variables};

variables! {
    /// Maximum number of jobs created per project and window.
    CREATE_LIMIT_PER_HOUR: Var = 100 in TO_MILLION;
    /// Maximum number of follow-ups per project and window.
    MESSAGE_LIMIT_PER_HOUR: Var = 100 in TO_MILLION;
    /// Maximum number of analytics requests of the whole organization per window.
    ANALYTICS_LIMIT_PER_HOUR: Var = 100 in TO_MILLION;
    /// Maximum number of deployments and runs of automations of the whole organization in any 10
    /// seconds.
    DEPLOYMENT_LIMIT_PER_10_SECONDS: Var = 10 in TO_MILLION;
    /// Maximum number of previews of the whole organization in any minute.
    PREVIEW_LIMIT_PER_MINUTE: Var = 5 in TO_MILLION;
    /// Maximum number of reads of jobs per caller, project and window. Reads of deployments have
    /// the same limit and their own count. Approximate, because each isolate counts separately.
    READ_LIMIT_PER_HOUR: Var = 6_000 in TO_MILLION;
    /// The sliding window of the limits per hour, in seconds.
    LIMIT_WINDOW_SECONDS: Var = 3_600 in TO_DAY;
}

/// The maximum number of requests per window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    pub create_job: u32,
    pub send_message: u32,
    /// Of the whole organization.
    pub analytics: u32,
    /// Per caller and project. Each isolate counts separately.
    pub read_jobs: u32,
    /// Per caller and project. Each isolate counts separately.
    pub read_deployments: u32,
    /// Deployments and automations of the whole organization, in [`DEPLOYMENT_WINDOW`].
    pub create_deployment: u32,
    /// Of the whole organization, in [`PREVIEW_WINDOW`].
    pub create_preview: u32,
    /// The window of the other policies.
    pub window: Millis,
}

/// Mintlify's window for deployments and automations (docs/mintlify/rules.md, 8).
const DEPLOYMENT_WINDOW: Millis = Millis::from_seconds(10);
/// Mintlify's window for previews (docs/mintlify/rules.md, 8).
const PREVIEW_WINDOW: Millis = Millis::from_seconds(60);

impl Limits {
    pub fn read(variables: Variables<'_>) -> Result<Self, VariableError> {
        Ok(Self {
            create_job: CREATE_LIMIT_PER_HOUR.read(variables)?,
            send_message: MESSAGE_LIMIT_PER_HOUR.read(variables)?,
            analytics: ANALYTICS_LIMIT_PER_HOUR.read(variables)?,
            read_jobs: READ_LIMIT_PER_HOUR.read(variables)?,
            read_deployments: READ_LIMIT_PER_HOUR.read(variables)?,
            create_deployment: DEPLOYMENT_LIMIT_PER_10_SECONDS.read(variables)?,
            create_preview: PREVIEW_LIMIT_PER_MINUTE.read(variables)?,
            window: LIMIT_WINDOW_SECONDS.read_seconds(variables)?,
        })
    }

    pub const fn limit(&self, policy: RateLimitPolicy) -> u32 {
        match policy {
            RateLimitPolicy::CreateJob => self.create_job,
            RateLimitPolicy::SendMessage => self.send_message,
            RateLimitPolicy::Analytics => self.analytics,
            RateLimitPolicy::ReadJobs => self.read_jobs,
            RateLimitPolicy::ReadDeployments => self.read_deployments,
            RateLimitPolicy::CreateDeployment => self.create_deployment,
            RateLimitPolicy::CreatePreview => self.create_preview,
        }
    }

    pub const fn window(&self, policy: RateLimitPolicy) -> Millis {
        match policy {
            RateLimitPolicy::CreateDeployment => DEPLOYMENT_WINDOW,
            RateLimitPolicy::CreatePreview => PREVIEW_WINDOW,
            RateLimitPolicy::CreateJob
            | RateLimitPolicy::SendMessage
            | RateLimitPolicy::Analytics
            | RateLimitPolicy::ReadJobs
            | RateLimitPolicy::ReadDeployments => self.window,
        }
    }
}
