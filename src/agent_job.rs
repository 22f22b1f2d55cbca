//! Agent jobs: an instruction that a background agent carries out on the project's
//! documentation repository (docs/platform.md, 2.1, 2.2, 3, 4.1 and 4.3).

use std::fmt;

use serde::de::{Deserializer, Visitor};
use serde::{Deserialize, Serialize, Serializer};

use crate::declaration::{Pagination, Parameter, ParameterKind, Place, Policy};
use crate::encode::percent_encode;
use crate::error::ValidationError;
use crate::parameters::SingleParameter;
use crate::project::path_segment;
use crate::schema::{Described, Kind, OpenEnum};
use crate::value::check_not_empty;

/// The identifier of an agent job (docs/platform.md, 2.1, `id`).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct JobId(String);

impl JobId {
    /// Takes `id` as a job's identifier.
    ///
    /// # Errors
    /// [`crate::Rule::NotEmpty`] for empty text, [`crate::Rule::NotDotSegment`] for `.` and `..`.
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

    /// The identifier as it is.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The identifier percent-encoded as one path segment.
    #[must_use]
    pub fn as_path_segment(&self) -> String {
        percent_encode(&self.0)
    }
}

impl SingleParameter for JobId {
    const PARAMETER: Parameter = Parameter::optional("id", Place::Path, ParameterKind::Id);
    const DOC: &'static str = "The job's identifier.";

    fn from_text(text: &str) -> Result<Self, ValidationError> {
        Self::new(text)
    }

    fn to_text(&self) -> String {
        self.0.clone()
    }
}

/// The instruction for the agent: at least one character (docs/platform.md, 2.2).
#[derive(Clone, PartialEq, Eq)]
pub struct Prompt(String);

impl Prompt {
    /// Takes `text` as an instruction.
    ///
    /// # Errors
    /// [`crate::Rule::NotEmpty`] for empty text.
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

    /// The instruction as it is.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl SingleParameter for Prompt {
    const PARAMETER: Parameter = Parameter::optional("prompt", Place::Body, ParameterKind::Text);
    const DOC: &'static str = "The instruction for the agent: at least one character.";

    fn from_text(text: &str) -> Result<Self, ValidationError> {
        Self::new(text)
    }

    fn to_text(&self) -> String {
        self.0.clone()
    }
}

/// A prompt may be confidential: its `Debug` says how long it is and nothing else.
impl fmt::Debug for Prompt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Prompt({} bytes)", self.0.len())
    }
}

/// Where a job stands (docs/platform.md, 3). A status that the specification does not know is
/// kept as it is, and does not end a wait.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum JobStatus {
    /// The agent is at work; there is no pull request yet.
    Active,
    /// The agent finished; a pull request may have been created.
    Completed,
    /// The job was put away.
    Archived,
    /// The agent met an error that it could not recover from.
    Failed,
    /// Any other text.
    Other(String),
}

impl JobStatus {
    /// The states that the specification knows, as in JSON.
    pub const KNOWN: [&'static str; 4] = ["active", "completed", "archived", "failed"];

    /// Whether a job in this state has come to its end: `completed`, `archived` or `failed` (docs/platform.md, 3, rule 1).
    ///
    /// ```
    /// use quillgate::JobStatus;
    ///
    /// assert!(JobStatus::from("failed".to_owned()).is_terminal());
    /// assert!(!JobStatus::from("queued".to_owned()).is_terminal());
    /// ```
    #[must_use]
    pub const fn is_terminal(&self) -> bool {
        matches!(self, Self::Completed | Self::Archived | Self::Failed)
    }

    /// Whether the specification knows this state.
    #[must_use]
    pub const fn is_known(&self) -> bool {
        !matches!(self, Self::Other(_))
    }

    /// The state's text, as in JSON.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Active => "active",
            Self::Completed => "completed",
            Self::Archived => "archived",
            Self::Failed => "failed",
            Self::Other(text) => text,
        }
    }
}

impl From<String> for JobStatus {
    fn from(text: String) -> Self {
        match text.as_str() {
            "active" => Self::Active,
            "completed" => Self::Completed,
            "archived" => Self::Archived,
            "failed" => Self::Failed,
            _ => Self::Other(text),
        }
    }
}

impl<'de> Deserialize<'de> for JobStatus {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl Visitor<'_> for Text {
            type Value = JobStatus;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }
            fn visit_str<E>(self, text: &str) -> Result<JobStatus, E> {
                Ok(text.to_owned().into())
            }
        }
        deserializer.deserialize_str(Text)
    }
}

impl Serialize for JobStatus {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl Described for JobStatus {
    const KIND: Kind = Kind::OpenEnum(&OpenEnum {
        name: "JobStatus",
        doc: docs![
            " Where a job stands: `active` while the agent is at work; `completed`, `archived` and",
            " `failed` are final. Any other text is kept as it is and is not final.",
        ],
        known: &JobStatus::KNOWN,
    });
}

record! {
    /// The repository that a job works on.
    pub struct Source {
        /// The repository, as in `acme/docs`.
        pub repository as "repository": Option<String>,
        /// The branch or other reference of that repository.
        pub reference as "ref": Option<String>,
    }
}

record! {
    /// A background agent job. The service promises no member to be present: what it
    /// leaves out is `null`.
    pub struct AgentJob {
        /// The job's identifier.
        pub id as "id": Option<String>,
        /// Where the job stands.
        pub status as "status": Option<JobStatus>,
        /// The repository that the job works on.
        pub source as "source": Option<Source>,
        /// The name of the AI model at work.
        pub model as "model": Option<String>,
        /// The pull request's address: `null` while the job is `active`, and for good when
        /// no file was changed.
        pub pr_link as "prLink": Option<String>,
        /// When the job was created, as an ISO 8601 date-time.
        pub created_at as "createdAt": Option<String>,
        /// When the job was archived, as an ISO 8601 date-time; `null` until then.
        pub archived_at as "archivedAt": Option<String>,
    }
}

operation! {
    /// Creates an agent job, which runs in the background.
    pub struct CreateAgentJob -> AgentJob {
        /// The instruction.
        pub prompt: Prompt,
    }
    name: "agentJobs.create",
    route: Post "/v2/agent/{projectId}/job",
    scope: CreateJobs,
    policy: Some(Policy::CreateJob),
    pagination: Pagination::Whole,
    link: Some("https://www.mintlify.com/docs/api/agent/v2/create-agent-job"),
}

impl CreateAgentJob {
    /// A job for this instruction.
    #[must_use]
    pub const fn new(prompt: Prompt) -> Self {
        Self { prompt }
    }
}

operation! {
    /// Reads an agent job.
    pub struct GetAgentJob -> AgentJob {
        /// The job.
        pub id: JobId,
    }
    name: "agentJobs.get",
    route: Get "/v2/agent/{projectId}/job/{id}",
    scope: ReadJobs,
    policy: Some(Policy::ReadJobs),
    pagination: Pagination::Whole,
    link: Some("https://www.mintlify.com/docs/api/agent/v2/get-agent-job"),
}

impl GetAgentJob {
    /// The state of this job.
    #[must_use]
    pub const fn new(id: JobId) -> Self {
        Self { id }
    }
}

operation! {
    /// Sends a follow-up message to an agent job, which sets it to work again.
    pub struct SendMessage -> AgentJob {
        /// The job.
        pub id: JobId,
        /// The further instruction.
        pub prompt: Prompt,
    }
    name: "agentJobs.sendMessage",
    route: Post "/v2/agent/{projectId}/job/{id}/message",
    scope: CreateJobs,
    policy: Some(Policy::SendMessage),
    pagination: Pagination::Whole,
    link: Some("https://www.mintlify.com/docs/api/agent/v2/send-message"),
}

impl SendMessage {
    /// This further instruction to this job.
    #[must_use]
    pub const fn new(id: JobId, prompt: Prompt) -> Self {
        Self { id, prompt }
    }
}

operation! {
    /// Streams an agent job's changes as Server-Sent Events, until it has come to its end.
    pub struct StreamAgentJobEvents -> AgentJob {
        /// The job.
        pub id: JobId,
    }
    name: "agentJobs.events",
    route: Get "/v2/agent/{projectId}/job/{id}/events",
    scope: ReadJobs,
    policy: Some(Policy::ReadJobs),
    pagination: Pagination::Whole,
    link: None,
}
