//! The list of a project's agent jobs, which a gateway keeps; the platform itself has none.

use crate::agent_job::JobStatus;
use crate::encode::Query;
use crate::endpoint::{Endpoint, Method, Operation, Parameter, ParameterKind, Place, Request};
use crate::error::{Rule, ValidationError};
use crate::project::ProjectId;
use crate::schema::Described;
use crate::value::{MAX_SAFE_INTEGER, Value, integer_text, optional_integer, optional_text};

/// How many jobs a page may hold: 1 to 100.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct JobPageSize(u8);

impl JobPageSize {
    /// The largest page: 100 jobs.
    pub const MAX: Self = Self(100);

    /// What the gateway takes when no size is given: 25 jobs.
    pub const DEFAULT: Self = Self(25);

    /// A page of `jobs` jobs.
    ///
    /// # Errors
    /// [`Rule::JobPageSize`] outside of 1 to 100.
    ///
    /// # Example
    /// ```
    /// use quillgate::JobPageSize;
    ///
    /// assert_eq!(JobPageSize::new(100)?, JobPageSize::MAX);
    /// assert!(JobPageSize::new(101).is_err());
    /// # Ok::<(), quillgate::ValidationError>(())
    /// ```
    pub fn new(jobs: u64) -> Result<Self, ValidationError> {
        match u8::try_from(jobs) {
            Ok(jobs @ 1..=100) => Ok(Self(jobs)),
            _ => Err(ValidationError::new(
                "limit",
                Rule::JobPageSize,
                integer_text(jobs),
            )),
        }
    }

    /// The number of jobs.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0 as u64
    }
}

/// Where a list goes on: the `nextCursor` of the page before. What it says is the gateway's affair.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobCursor(String);

impl JobCursor {
    /// Takes `text` as a cursor.
    ///
    /// # Errors
    /// [`Rule::NotEmpty`] for empty text.
    pub fn new(text: impl Into<String>) -> Result<Self, ValidationError> {
        let text = text.into();
        if text.is_empty() {
            return Err(ValidationError::new("cursor", Rule::NotEmpty, "empty text"));
        }
        Ok(Self(text))
    }

    /// The cursor as it is.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

record! {
    /// An agent job as a gateway lists it: what it was asked for, and where it stood when
    /// the gateway last looked.
    pub struct ListedJob {
        /// The job's identifier.
        pub id as "id": String,
        /// Where the job stood; `null` while that is not known.
        pub status as "status": Option<JobStatus>,
        /// The instruction that the job was created with.
        pub prompt as "prompt": Option<String>,
        /// The subject of the access token that created the job.
        pub created_by as "createdBy": Option<String>,
        /// When the job was created, as an ISO 8601 date-time.
        pub created_at as "createdAt": Option<String>,
        /// The pull request's address; `null` while there is none.
        pub pr_link as "prLink": Option<String>,
        /// When the gateway last looked, as an ISO 8601 date-time.
        pub checked_at as "checkedAt": Option<String>,
    }
}

record! {
    /// One page of the list of a project's agent jobs.
    pub struct JobPage {
        /// The jobs of this page, newest first: at most `limit`.
        pub jobs as "jobs": Vec<ListedJob>,
        /// Where the list goes on; `null` after the last page.
        pub next_cursor as "nextCursor": Option<String>,
    }
}

/// List agent jobs: one page of those that were created through the gateway, newest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ListAgentJobs {
    /// Jobs a page; the gateway's default is 25.
    pub limit: Option<JobPageSize>,
    /// Where to go on; at the newest job when it is left out.
    pub cursor: Option<JobCursor>,
}

impl Endpoint for ListAgentJobs {
    type Output = JobPage;

    const OPERATION: Operation = Operation {
        name: "agentJobs.list",
        method: Method::Get,
        path: "/v2/agent/{projectId}/jobs",
        doc: "Lists the agent jobs that were created through the gateway, newest first.",
        scope: "jobs:read",
        parameters: &[
            Parameter {
                name: "limit",
                doc: "Jobs a page.",
                place: Place::Query,
                kind: ParameterKind::Integer {
                    min: 1,
                    max: JobPageSize::MAX.get(),
                    default: JobPageSize::DEFAULT.get(),
                },
                required: false,
            },
            Parameter {
                name: "cursor",
                doc: "Where to go on: the `nextCursor` of the page before.",
                place: Place::Query,
                kind: ParameterKind::Text,
                required: false,
            },
        ],
        result: JobPage::KIND,
    };

    fn parse<V: Value>(params: &V) -> Result<Self, ValidationError> {
        let limit = optional_integer(params, "limit", Rule::JobPageSize, 0..=MAX_SAFE_INTEGER)?;
        Ok(Self {
            limit: limit.map(JobPageSize::new).transpose()?,
            cursor: optional_text(params, "cursor")?
                .map(JobCursor::new)
                .transpose()?,
        })
    }

    fn request(&self, project: &ProjectId) -> Request {
        let mut query = Query::default();
        if let Some(limit) = self.limit {
            query.push("limit", &integer_text(limit.get()));
        }
        if let Some(cursor) = &self.cursor {
            query.push("cursor", cursor.as_str());
        }
        let mut target = String::from("/v2/agent/");
        target.push_str(&project.as_path_segment());
        target.push_str("/jobs");
        target.push_str(&query.into_string());
        Request {
            method: Method::Get,
            target,
            body: None,
        }
    }
}
