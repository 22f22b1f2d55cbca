//! Agent jobs. A background agent follows an instruction in the project's documentation repository
//! (docs/mintlify/jobs.md, 2.1, 2.2, 3, 4.1, 4.3 and 4.4). Only gateways stream a job's events.

use std::fmt;

use crate::date::Instant;
use crate::declaration::{Pagination, Parameter, ParameterIn, ParameterKind, RateLimitPolicy};
use crate::encode::percent_encode;
use crate::error::ValidationError;
use crate::parameters::ParameterType;
use crate::project::path_segment;
use crate::value::check_not_empty;

/// The identifier of an agent job (docs/mintlify/jobs.md, 2.1, `id`).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct JobId(String);

impl JobId {
    /// Creates an identifier.
    ///
    /// # Errors
    /// [`crate::Rule::NotEmpty`] if `id` is empty, [`crate::Rule::NotDotSegment`] if it is `.` or
    /// `..`, [`crate::Rule::IdLength`] if it is longer than 256 bytes,
    /// [`crate::Rule::NoControlCharacter`] if it contains one.
    ///
    /// # Example
    /// ```
    /// use quillgate::JobId;
    ///
    /// assert_eq!(JobId::new("a/../b?x=1#y")?.as_path_segment(), "a%2F..%2Fb%3Fx%3D1%23y");
    /// assert!(JobId::new("").is_err());
    /// # Ok::<(), quillgate::ValidationError>(())
    /// ```
    pub fn new(id: impl Into<String>) -> Result<Self, ValidationError> {
        path_segment("id", id.into()).map(Self)
    }

    /// Returns the identifier as a string.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the identifier, percent-encoded as one path segment.
    #[must_use]
    pub fn as_path_segment(&self) -> String {
        percent_encode(&self.0)
    }
}

impl ParameterType for JobId {
    const PARAMETER: Parameter = Parameter::optional("id", ParameterIn::Path, ParameterKind::Id);
    const DOC: &'static str = "The job's identifier.";

    fn from_text(text: &str) -> Result<Self, ValidationError> {
        Self::new(text)
    }

    fn to_text(&self) -> String {
        self.0.clone()
    }
}

/// The instruction for the agent: at least one character (docs/mintlify/jobs.md, 2.2).
#[derive(Clone, PartialEq, Eq)]
pub struct Prompt(String);

impl Prompt {
    /// Creates a prompt.
    ///
    /// # Errors
    /// [`crate::Rule::NotEmpty`] if `text` is empty.
    ///
    /// # Example
    /// ```
    /// use quillgate::{Prompt, Rule};
    ///
    /// assert_eq!(Prompt::new("").unwrap_err().rule, Rule::NotEmpty);
    /// ```
    pub fn new(text: impl Into<String>) -> Result<Self, ValidationError> {
        check_not_empty("prompt", text.into()).map(Self)
    }

    /// Returns the instruction as a string.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl ParameterType for Prompt {
    const PARAMETER: Parameter =
        Parameter::optional("prompt", ParameterIn::Body, ParameterKind::Text);
    const DOC: &'static str = "The instruction for the agent: at least one character.";

    fn from_text(text: &str) -> Result<Self, ValidationError> {
        Self::new(text)
    }

    fn to_text(&self) -> String {
        self.0.clone()
    }
}

/// Shows only the length, because a prompt may be confidential.
impl fmt::Debug for Prompt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Prompt({} bytes)", self.0.len())
    }
}

status! {
    /// The state of a job. `active` means that the agent is working. `completed`, `archived` and
    /// `failed` are final. Other values are passed through unchanged and are not final.
    pub enum JobStatus {
        /// The agent is working. There is no pull request yet.
        Active => "active",
        /// The agent has finished. It may have created a pull request.
        Completed => "completed",
        /// The job was archived.
        Archived => "archived",
        /// The agent failed with an unrecoverable error.
        Failed => "failed",
    }
    final: Completed | Archived | Failed
}

record! {
    /// The repository that a job works on.
    pub struct Source {
        /// The repository: a URL, or a name such as `acme/docs`.
        pub repository as "repository": Option<String>,
        /// The branch, or another Git reference.
        pub reference as "ref": Option<String>,
    }
}

record! {
    /// A background agent job. Mintlify does not guarantee any property. A missing one is `null`.
    pub struct AgentJob {
        /// The job's identifier.
        pub id as "id": Option<String>,
        /// The job's state.
        pub status as "status": Option<JobStatus>,
        /// The repository that the job works on.
        pub source as "source": Option<Source>,
        /// The name of the AI model that works on the job.
        pub model as "model": Option<String>,
        /// The pull request's URL. `null` while the job is `active`, and permanently if no file was
        /// changed.
        pub pr_link as "prLink": Option<String>,
        /// When the job was created, as an ISO 8601 date-time.
        pub created_at as "createdAt": Option<Instant>,
        /// When the job was archived, as an ISO 8601 date-time; `null` until then.
        pub archived_at as "archivedAt": Option<Instant>,
    }
}

record! {
    /// A job that was just created. Unlike other properties, its id is never missing.
    pub struct CreatedJob {
        /// The job's identifier.
        pub id as "id": String,
        /// The job's state.
        pub status as "status": Option<JobStatus>,
        /// The repository that the job works on.
        pub source as "source": Option<Source>,
        /// The name of the AI model that works on the job.
        pub model as "model": Option<String>,
        /// The pull request's URL. `null` while the job is `active`.
        pub pr_link as "prLink": Option<String>,
        /// When the job was created, as an ISO 8601 date-time.
        pub created_at as "createdAt": Option<Instant>,
        /// When the job was archived, as an ISO 8601 date-time; `null` until then.
        pub archived_at as "archivedAt": Option<Instant>,
    }
}

operation! {
    /// Creates an agent job, which runs in the background.
    pub struct CreateAgentJob -> CreatedJob {
        /// The instruction.
        pub prompt: Prompt,
    }
    name: "agentJobs.create",
    route: Post "/v2/agent/{projectId}/job",
    scope: CreateJobs,
    policy: Some(RateLimitPolicy::CreateJob),
    repeat: Keyed,
    pagination: Pagination::None,
    link: Some("https://www.mintlify.com/docs/api/agent/v2/create-agent-job"),
}

impl CreateAgentJob {
    /// Creates the operation that creates a job with this instruction.
    #[must_use]
    pub const fn new(prompt: Prompt) -> Self {
        Self { prompt }
    }
}

operation! {
    /// Reads an agent job.
    pub struct GetAgentJob -> AgentJob {
        /// The job's id.
        pub id: JobId,
    }
    name: "agentJobs.get",
    route: Get "/v2/agent/{projectId}/job/{id}",
    scope: ReadJobs,
    policy: Some(RateLimitPolicy::ReadJobs),
    repeat: Safe,
    pagination: Pagination::None,
    link: Some("https://www.mintlify.com/docs/api/agent/v2/get-agent-job"),
}

impl GetAgentJob {
    /// Creates the operation that reads this job.
    #[must_use]
    pub const fn new(id: JobId) -> Self {
        Self { id }
    }
}

operation! {
    /// Sends a follow-up message to an agent job, which resumes it.
    pub struct SendMessage -> AgentJob {
        /// The job's id.
        pub id: JobId,
        /// The follow-up instruction.
        pub prompt: Prompt,
    }
    name: "agentJobs.sendMessage",
    route: Post "/v2/agent/{projectId}/job/{id}/message",
    scope: CreateJobs,
    policy: Some(RateLimitPolicy::SendMessage),
    repeat: Keyed,
    pagination: Pagination::None,
    link: Some("https://www.mintlify.com/docs/api/agent/v2/send-message"),
}

impl SendMessage {
    /// Creates the operation that sends this instruction to this job.
    #[must_use]
    pub const fn new(id: JobId, prompt: Prompt) -> Self {
        Self { id, prompt }
    }
}

operation! {
    /// Streams an agent job's changes as Server-Sent Events. The stream ends when the job finishes
    /// or the gateway stops polling the job, or after at most an hour.
    pub struct StreamAgentJobEvents -> AgentJob {
        /// The job's id.
        pub id: JobId,
    }
    name: "agentJobs.events",
    route: Get "/v2/agent/{projectId}/job/{id}/events",
    scope: ReadJobs,
    policy: Some(RateLimitPolicy::ReadJobs),
    repeat: Safe,
    pagination: Pagination::None,
    link: None,
}
