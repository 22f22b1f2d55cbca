//! The list of a project's agent jobs, and the event stream of its changes. Only gateways have
//! both; Mintlify has neither.

use crate::agent_job::JobStatus;
use crate::count::Count;
use crate::date::Instant;
use crate::declaration::{Pagination, Parameter, ParameterIn, ParameterKind, RateLimitPolicy};
use crate::error::{Rule, ValidationError};
use crate::list::Limit;
use crate::parameters::{Cursor, ParameterType, text_parameter};
use crate::text::quote;

/// The maximum number of jobs per page: 1 to 100, by default 25.
pub type JobPageSize = Limit<100, 25>;

impl ParameterType for JobStatus {
    const PARAMETER: Parameter = Parameter::optional(
        "state",
        ParameterIn::Query,
        ParameterKind::OneOf(Self::KNOWN),
    );
    const DOC: &'static str = "Only jobs in this state at the gateway's last poll.";

    fn from_text(text: &str) -> Result<Self, ValidationError> {
        let status = Self::from(text.to_owned());
        if status.is_known() {
            return Ok(status);
        }
        let rule = Rule::OneOf(Self::KNOWN);
        Err(ValidationError::new("state", rule, quote(text)))
    }

    fn to_text(&self) -> String {
        self.as_str().to_owned()
    }
}

text_parameter! {
    /// The author of a job: the subject of an access token.
    pub struct JobAuthor, Query "author", ParameterKind::Text,
    "Only jobs created by an access token with exactly this subject."
}

text_parameter! {
    /// A substring of a prompt.
    pub struct PromptText, Query "text", ParameterKind::Text,
    "Only jobs whose prompt contains this string of 1 to 200 characters, ignoring case. The gateway searches the first 4,096 characters of what it stores: the whole prompt or its first line. A filtered page covers at most 2,000 jobs, so it can be empty although older jobs match: follow `nextCursor`."
}

record! {
    /// An agent job in a gateway's list. Its state is from the gateway's last poll.
    pub struct ListedJob {
        /// The job's identifier.
        pub id as "id": String,
        /// The job's state. `null` while it is unknown.
        pub status as "status": Option<JobStatus>,
        /// The prompt's first line that is not blank, shortened to 120 characters.
        pub prompt as "prompt": Option<String>,
        /// The subject of the access token that created the job.
        pub created_by as "createdBy": Option<String>,
        /// When the job was created, as an ISO 8601 date-time.
        pub created_at as "createdAt": Option<Instant>,
        /// The pull request's URL, or `null` without a pull request.
        pub pr_link as "prLink": Option<String>,
        /// When the gateway last polled the job, as an ISO 8601 date-time.
        pub checked_at as "checkedAt": Option<Instant>,
    }
}

record! {
    /// One page of the list of a project's agent jobs.
    pub struct JobPage {
        /// The jobs of this page, newest first: at most `limit`.
        pub jobs as "jobs": Vec<ListedJob>,
        /// The cursor of the next page. `null` on the last page.
        pub next_cursor as "nextCursor": Option<String>,
        /// The number of the latest change of the list when the page was read. A stream of all jobs
        /// that starts after this number misses no change.
        pub revision as "revision": Option<Count>,
    }
}

operation! {
    /// Lists the agent jobs created through the gateway, newest first.
    pub struct ListAgentJobs: Default -> JobPage {
        /// Only jobs in this state.
        pub state: Option<JobStatus>,
        /// Only jobs by this author.
        pub author: Option<JobAuthor>,
        /// Only jobs with this string in their prompt.
        pub text: Option<PromptText>,
        /// Jobs per page. Default: 25.
        pub limit: Option<JobPageSize>,
        /// The cursor of the page to return. Default: the first page.
        pub cursor: Option<Cursor>,
    }
    name: "agentJobs.list",
    route: Get "/v2/agent/{projectId}/jobs",
    scope: ReadJobs,
    policy: Some(RateLimitPolicy::ReadJobs),
    repeat: Safe,
    pagination: Pagination::Cursor { rows: "jobs", time: None, scans: true },
    link: None,
}

operation! {
    /// Streams the changes of all agent jobs created through the gateway as Server-Sent Events: new
    /// jobs, follow-ups, states and deleted records.
    pub struct StreamProjectJobEvents: Default -> ListedJob {}
    name: "agentJobs.allEvents",
    route: Get "/v2/agent/{projectId}/jobs/events",
    scope: ReadJobs,
    policy: Some(RateLimitPolicy::ReadJobs),
    repeat: Safe,
    pagination: Pagination::None,
    link: None,
}
