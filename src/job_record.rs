//! A gateway's record of an agent job that was created through it. Mintlify's API does not return
//! prompts.

use crate::agent_job::{JobId, JobStatus};
use crate::date::Instant;
use crate::declaration::{Pagination, RateLimitPolicy};
use crate::job_list::ListedJob;

record! {
    /// A follow-up sent through the gateway.
    pub struct RecordedMessage {
        /// The instruction. Only its first line, shortened to 120 characters, unless the gateway
        /// stores whole prompts.
        pub prompt as "prompt": Option<String>,
        /// The subject of the access token that sent it.
        pub author as "author": Option<String>,
        /// When it was sent, as an ISO 8601 date-time.
        pub sent_at as "sentAt": Option<Instant>,
    }
}

record! {
    /// A state of a job, and when the gateway first observed it.
    pub struct RecordedChange {
        /// When the gateway first observed the state, as an ISO 8601 date-time. `null` if it did
        /// not record this.
        pub at as "at": Option<Instant>,
        /// The job's state.
        pub status as "status": Option<JobStatus>,
        /// The pull request's URL, or `null` without a pull request.
        pub pr_link as "prLink": Option<String>,
    }
}

record! {
    /// A gateway's record of an agent job.
    pub struct JobRecord {
        /// The job, as in the list.
        pub job as "job": ListedJob,
        /// The instruction that the job was created with. Only its first line, shortened to 120
        /// characters, unless the gateway stores whole prompts.
        pub prompt as "prompt": Option<String>,
        /// The last 100 follow-ups sent through the gateway, in order, of at most 4 MiB in total.
        pub messages as "messages": Vec<RecordedMessage>,
        /// The job's states after its last 100 changes, in order.
        pub changes as "changes": Vec<RecordedChange>,
    }
}

operation! {
    /// Reads the gateway's record of an agent job: its prompt, follow-ups and states.
    pub struct GetAgentJobRecord -> JobRecord {
        /// The job's id.
        pub id: JobId,
    }
    name: "agentJobs.record",
    route: Get "/v2/agent/{projectId}/job/{id}/record",
    scope: ReadJobs,
    policy: Some(RateLimitPolicy::ReadJobs),
    repeat: Safe,
    pagination: Pagination::None,
    link: None,
}

impl GetAgentJobRecord {
    /// Creates the operation that reads the record of this job.
    #[must_use]
    pub const fn new(id: JobId) -> Self {
        Self { id }
    }
}

operation! {
    /// Deletes the gateway's record of an agent job. The job itself continues.
    pub struct DeleteAgentJobRecord -> () {
        /// The job's id.
        pub id: JobId,
    }
    name: "agentJobs.deleteRecord",
    route: Delete "/v2/agent/{projectId}/job/{id}/record",
    scope: Operate,
    policy: None,
    repeat: Safe,
    pagination: Pagination::None,
    link: None,
}
