//! A gateway's record of an agent job that was created through it. Mintlify stores no prompts.

use crate::agent_job::{JobId, JobStatus};
use crate::declaration::{Pagination, Policy};
use crate::job_list::ListedJob;

record! {
    /// A follow-up that was sent through the gateway.
    pub struct RecordedMessage {
        /// The instruction: whole where the gateway keeps prompts, else its first line.
        pub prompt as "prompt": Option<String>,
        /// The subject of the access token that sent it.
        pub author as "author": Option<String>,
        /// When it was sent, as an ISO 8601 date-time.
        pub sent_at as "sentAt": Option<String>,
    }
}

record! {
    /// A state of a job, from when on the gateway saw it.
    pub struct RecordedChange {
        /// When the gateway saw it first, as an ISO 8601 date-time; `null` where that was not written
        /// down yet.
        pub at as "at": Option<String>,
        /// Where the job stood.
        pub status as "status": Option<JobStatus>,
        /// The pull request's address; `null` while there was none.
        pub pr_link as "prLink": Option<String>,
    }
}

record! {
    /// What a gateway has recorded of an agent job.
    pub struct JobRecord {
        /// The job, as in the list.
        pub job as "job": ListedJob,
        /// The instruction that the job was created with: whole where the gateway keeps prompts, else
        /// its first line.
        pub prompt as "prompt": Option<String>,
        /// The follow-ups that were sent through the gateway, in order: the last 100, of 4 MiB of text at most.
        pub messages as "messages": Vec<RecordedMessage>,
        /// The states of the job, in order: of the last 100 changes.
        pub changes as "changes": Vec<RecordedChange>,
    }
}

operation! {
    /// Reads what the gateway has recorded of an agent job that was created through it: its prompt, its
    /// follow-ups and its states.
    pub struct GetAgentJobRecord -> JobRecord {
        /// The job.
        pub id: JobId,
    }
    name: "agentJobs.record",
    route: Get "/v2/agent/{projectId}/job/{id}/record",
    scope: ReadJobs,
    policy: Some(Policy::ReadJobs),
    pagination: Pagination::Whole,
    link: None,
}

impl GetAgentJobRecord {
    /// Reads the record of this job.
    #[must_use]
    pub const fn new(id: JobId) -> Self {
        Self { id }
    }
}

operation! {
    /// Deletes what the gateway has recorded of an agent job; the job itself goes on.
    pub struct DeleteAgentJobRecord -> () {
        /// The job.
        pub id: JobId,
    }
    name: "agentJobs.deleteRecord",
    route: Delete "/v2/agent/{projectId}/job/{id}/record",
    scope: Operate,
    policy: None,
    pagination: Pagination::Whole,
    link: None,
}
