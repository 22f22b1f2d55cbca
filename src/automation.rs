//! Automations: agents that Mintlify runs on a schedule (docs/mintlify/deployments.md, 4.15).

use crate::declaration::{Pagination, ParameterKind, RateLimitPolicy};
use crate::parameters::text_parameter;

text_parameter! {
    /// The identifier of an automation, from its settings in Mintlify's dashboard.
    pub struct AutomationId, Path "workflowSchemaId", ParameterKind::Id,
    "The identifier of the automation, from its settings in Mintlify's dashboard."
}

record! {
    /// A run of an automation that was just queued. Mintlify does not guarantee any property. A
    /// missing one is `null`.
    pub struct AutomationRun {
        /// The automation's identifier.
        pub schema_id as "schemaId": Option<String>,
        /// The run's identifier, as in the run history of Mintlify's dashboard.
        pub instance_id as "instanceId": Option<String>,
        /// The identifier of the background job that processes the run.
        pub job_id as "jobId": Option<String>,
    }
}

operation! {
    /// Runs a scheduled automation now. The run costs credits.
    pub struct RunAutomation -> AutomationRun {
        /// The automation.
        pub automation: AutomationId,
    }
    name: "automations.run",
    route: Post "/v1/workflow/{projectId}/{workflowSchemaId}/trigger",
    scope: RunAutomations,
    policy: Some(RateLimitPolicy::CreateDeployment),
    repeat: Keyed,
    pagination: Pagination::None,
    link: Some("https://www.mintlify.com/docs/api/automations/trigger"),
}

impl RunAutomation {
    /// Creates the operation that runs this automation.
    #[must_use]
    pub const fn new(automation: AutomationId) -> Self {
        Self { automation }
    }
}
