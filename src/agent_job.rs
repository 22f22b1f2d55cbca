//! Agent jobs: an instruction that a background agent carries out on the project's
//! documentation repository (SPEC 2.1, 2.2, 3, 4.1 and 4.3).

use std::fmt;

use serde::de::{Deserializer, Visitor};
use serde::{Deserialize, Serialize, Serializer};

use crate::encode::{json_string, percent_encoded};
use crate::endpoint::{Endpoint, Method, Operation, Parameter, ParameterKind, Place, Request};
use crate::error::{Rule, ValidationError};
use crate::project::{ProjectId, path_segment};
use crate::schema::{Described, Kind, OpenEnum};
use crate::value::{Value, required_text};

/// The identifier of an agent job (SPEC 2.1, `id`).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct JobId(String);

impl JobId {
    /// Takes `id` as a job's identifier.
    ///
    /// # Errors
    /// [`Rule::NotEmpty`] for empty text, [`Rule::NotDotSegment`] for `.` and `..`.
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
        percent_encoded(&self.0)
    }

    fn parse<V: Value>(params: &V) -> Result<Self, ValidationError> {
        Self::new(required_text(params, "id")?)
    }
}

/// The instruction for the agent: at least one character (SPEC 2.2).
#[derive(Clone, PartialEq, Eq)]
pub struct Prompt(String);

impl Prompt {
    /// Takes `text` as an instruction.
    ///
    /// # Errors
    /// [`Rule::NotEmpty`] for empty text.
    ///
    /// # Example
    /// ```
    /// use quillgate::{Prompt, Rule};
    ///
    /// assert_eq!(Prompt::new("").unwrap_err().rule, Rule::NotEmpty);
    /// ```
    pub fn new(text: impl Into<String>) -> Result<Self, ValidationError> {
        let text = text.into();
        if text.is_empty() {
            return Err(ValidationError::new("prompt", Rule::NotEmpty, "empty text"));
        }
        Ok(Self(text))
    }

    /// The instruction as it is.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn parse<V: Value>(params: &V) -> Result<Self, ValidationError> {
        Self::new(required_text(params, "prompt")?)
    }

    fn to_body(&self) -> String {
        let mut body = String::from("{\"prompt\":");
        body.push_str(&json_string(&self.0));
        body.push('}');
        body
    }
}

/// A prompt may be confidential: its `Debug` says how long it is and nothing else.
impl fmt::Debug for Prompt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Prompt({} bytes)", self.0.len())
    }
}

/// Where a job stands (SPEC 3). A status that the specification does not know is
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
    /// Whether a job in this state has come to its end: `completed`, `archived` or `failed` (SPEC 3, rule 1).
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
        doc: &[
            " Where a job stands: `active` while the agent is at work; `completed`, `archived` and",
            " `failed` are final. Any other text is kept as it is and is not final.",
        ],
        known: &["active", "completed", "archived", "failed"],
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

const PROMPT: Parameter = Parameter {
    name: "prompt",
    doc: "The instruction for the agent: at least one character.",
    place: Place::Body,
    kind: ParameterKind::Text,
    required: true,
};

const ID: Parameter = Parameter {
    name: "id",
    doc: "The job's identifier.",
    place: Place::Path,
    kind: ParameterKind::Text,
    required: true,
};

fn job_target(project: &ProjectId, id: Option<&JobId>, rest: &str) -> String {
    let mut target = String::from("/v2/agent/");
    target.push_str(&project.as_path_segment());
    target.push_str("/job");
    if let Some(id) = id {
        target.push('/');
        target.push_str(&id.as_path_segment());
    }
    target.push_str(rest);
    target
}

/// Create agent job (SPEC 4.1): at most 100 per project per hour (SPEC 8).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreateAgentJob {
    prompt: Prompt,
}

impl CreateAgentJob {
    /// A job for this instruction.
    #[must_use]
    pub const fn new(prompt: Prompt) -> Self {
        Self { prompt }
    }
}

impl Endpoint for CreateAgentJob {
    type Output = AgentJob;

    const OPERATION: Operation = Operation {
        name: "agentJobs.create",
        method: Method::Post,
        path: "/v2/agent/{projectId}/job",
        doc: "Creates an agent job, which runs in the background.",
        scope: "jobs:create",
        parameters: &[PROMPT],
        result: AgentJob::KIND,
    };

    fn parse<V: Value>(params: &V) -> Result<Self, ValidationError> {
        Prompt::parse(params).map(Self::new)
    }

    fn request(&self, project: &ProjectId) -> Request {
        Request {
            method: Method::Post,
            target: job_target(project, None, ""),
            body: Some(self.prompt.to_body()),
        }
    }
}

/// Get agent job (SPEC 4.3): a job's state, as often as polling needs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GetAgentJob {
    id: JobId,
}

impl GetAgentJob {
    /// The state of this job.
    #[must_use]
    pub const fn new(id: JobId) -> Self {
        Self { id }
    }
}

impl Endpoint for GetAgentJob {
    type Output = AgentJob;

    const OPERATION: Operation = Operation {
        name: "agentJobs.get",
        method: Method::Get,
        path: "/v2/agent/{projectId}/job/{id}",
        doc: "Reads an agent job.",
        scope: "jobs:read",
        parameters: &[ID],
        result: AgentJob::KIND,
    };

    fn parse<V: Value>(params: &V) -> Result<Self, ValidationError> {
        JobId::parse(params).map(Self::new)
    }

    fn request(&self, project: &ProjectId) -> Request {
        Request {
            method: Method::Get,
            target: job_target(project, Some(&self.id), ""),
            body: None,
        }
    }
}

/// Send follow-up message: a further instruction to a job, at most 100 per project per hour.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SendMessage {
    id: JobId,
    prompt: Prompt,
}

impl SendMessage {
    /// This further instruction to this job.
    #[must_use]
    pub const fn new(id: JobId, prompt: Prompt) -> Self {
        Self { id, prompt }
    }
}

impl Endpoint for SendMessage {
    type Output = AgentJob;

    const OPERATION: Operation = Operation {
        name: "agentJobs.sendMessage",
        method: Method::Post,
        path: "/v2/agent/{projectId}/job/{id}/message",
        doc: "Sends a follow-up message to an agent job, which sets it to work again.",
        scope: "jobs:create",
        parameters: &[ID, PROMPT],
        result: AgentJob::KIND,
    };

    fn parse<V: Value>(params: &V) -> Result<Self, ValidationError> {
        Ok(Self::new(JobId::parse(params)?, Prompt::parse(params)?))
    }

    fn request(&self, project: &ProjectId) -> Request {
        Request {
            method: Method::Post,
            target: job_target(project, Some(&self.id), "/message"),
            body: Some(self.prompt.to_body()),
        }
    }
}
