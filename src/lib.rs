#![cfg_attr(feature = "client", doc = include_str!("README.md"))]
//! # Hidden modules
//!
//! The other modules are the core of the npm package and the gateway. They build requests, validate
//! responses, and decide when to poll or retry, without I/O. They are public only for the crates of
//! Quillgate's repository, so any release may change them.

#[doc(hidden)]
#[macro_use]
pub mod schema;
#[doc(hidden)]
#[macro_use]
pub mod endpoint;

#[doc(hidden)]
pub mod agent_job;
#[doc(hidden)]
pub mod analytics;
#[doc(hidden)]
pub mod automation;
#[doc(hidden)]
pub mod call;
#[doc(hidden)]
pub mod columns;
mod conversions;
#[doc(hidden)]
pub mod count;
#[doc(hidden)]
pub mod credential;
#[cfg(feature = "gateway")]
#[doc(hidden)]
pub mod csv;
mod cursor;
#[doc(hidden)]
pub mod date;
#[doc(hidden)]
pub mod declaration;
#[doc(hidden)]
pub mod deployment;
#[cfg(feature = "documentation")]
#[doc(hidden)]
pub mod documentation;
#[doc(hidden)]
pub mod encode;
#[doc(hidden)]
pub mod error;
#[doc(hidden)]
pub mod event_stream;
#[cfg(feature = "gateway")]
#[doc(hidden)]
pub mod export;
#[doc(hidden)]
pub mod job_list;
#[doc(hidden)]
pub mod job_record;
#[doc(hidden)]
pub mod list;
#[doc(hidden)]
pub mod millis;
#[doc(hidden)]
pub mod operation;
#[doc(hidden)]
pub mod options;
#[doc(hidden)]
pub mod pages;
#[doc(hidden)]
pub mod parameters;
mod parts;
#[doc(hidden)]
pub mod poll;
#[doc(hidden)]
pub mod project;
#[doc(hidden)]
pub mod pull_request;
#[doc(hidden)]
pub mod request_path;
#[doc(hidden)]
pub mod response;
#[doc(hidden)]
pub mod retry;
#[doc(hidden)]
pub mod task;
#[doc(hidden)]
pub mod text;
#[doc(hidden)]
pub mod ulid;
#[doc(hidden)]
pub mod value;

#[cfg(feature = "client")]
pub mod client;

// Results, arguments and errors.
pub use agent_job::{AgentJob, CreatedJob, JobId, JobStatus, Prompt, Source};
pub use analytics::*;
pub use automation::{AutomationId, AutomationRun};
#[cfg(feature = "client")]
pub use client::{Client, ClientBuilder, Error};
pub use count::{Count, Percentage};
pub use date::{DateBound, DateRange, Instant, Timestamp};
pub use deployment::{
    Branch, Deployment, DeploymentAuthor, DeploymentCommit, DeploymentPage, DeploymentPageSize,
    DeploymentStatus, FilesChanged, ListDeployments, ListedDeployment, StartedDeployment,
    StartedPreview, StatusId,
};
pub use error::{ApiError, DecodeError, IntegerKind, IntegerRule, Rule, ValidationError};
#[cfg(feature = "gateway")]
pub use export::ExportFormat;
pub use job_list::{JobAuthor, JobPage, JobPageSize, ListAgentJobs, ListedJob, PromptText};
pub use job_record::{JobRecord, RecordedChange, RecordedMessage};
pub use list::{Limit, Offset, PageSize, SmallPageSize};
pub use parameters::{ConversationCursor, Cursor};
pub use project::ProjectId;
pub use pull_request::{PullRequestLink, RepositoryHost};

/// Compiles the examples of the guide. A package does not contain it.
#[cfg(all(doctest, feature = "client"))]
#[doc = include_str!("../docs/guides/rust.md")]
mod guide {}

#[doc(hidden)]
pub use agent_job::{CreateAgentJob, GetAgentJob, SendMessage, StreamAgentJobEvents};
#[doc(hidden)]
pub use automation::RunAutomation;
#[doc(hidden)]
pub use call::{Call, Request};
#[doc(hidden)]
pub use date::Day;
#[doc(hidden)]
pub use declaration::{Declaration, Method, RateLimitPolicy, Scope};
#[doc(hidden)]
pub use deployment::{
    CreateDeployment, CreatePreview, DeleteDeploymentRecord, GetDeployment, StreamDeploymentEvents,
    StreamProjectDeploymentEvents,
};
#[doc(hidden)]
pub use endpoint::Endpoint;
#[doc(hidden)]
pub use error::Violation;
#[doc(hidden)]
pub use job_list::StreamProjectJobEvents;
#[doc(hidden)]
pub use job_record::{DeleteAgentJobRecord, GetAgentJobRecord};
#[doc(hidden)]
pub use millis::Millis;
#[doc(hidden)]
pub use operation::Operation;
#[doc(hidden)]
pub use options::CallOptions;
#[doc(hidden)]
pub use pages::{PageError, PageInfo};
#[doc(hidden)]
pub use poll::{Poll, PollStep, Progress};
#[doc(hidden)]
pub use retry::{Failure, Idempotency, Retry};
#[doc(hidden)]
pub use task::Task;
