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
        let limit = |name, default| read_integer(name, variables(name), default, Range::TO_MILLION);
        Ok(Self {
            create_job: limit("CREATE_LIMIT_PER_HOUR", 100)?,
            send_message: limit("MESSAGE_LIMIT_PER_HOUR", 100)?,
            analytics: limit("ANALYTICS_LIMIT_PER_HOUR", 100)?,
            read_jobs: limit("READ_LIMIT_PER_HOUR", 6_000)?,
            read_deployments: limit("READ_LIMIT_PER_HOUR", 6_000)?,
            create_deployment: limit("DEPLOYMENT_LIMIT_PER_10_SECONDS", 10)?,
            create_preview: limit("PREVIEW_LIMIT_PER_MINUTE", 5)?,
            window: read_seconds("LIMIT_WINDOW_SECONDS", variables, 3600, Range::TO_DAY)?,
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
