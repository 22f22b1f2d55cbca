//! The client and the core of Quillgate, a gateway to Mintlify's admin API.
//!
//! The module `client` sends requests from native programs and from WebAssembly:
//!
#![cfg_attr(feature = "client", doc = concat!("```\n", include_str!("../tests/client/examples/overview.rs"), "```"))]
//!
//! The other modules are the core. It builds requests, validates responses, and decides whether
//! another page exists and when to poll or retry. It performs no I/O: callers pass in the time and
//! randomness. The npm package, the client and the gateway share it.
//!
//! ```
//! use quillgate::{CreateAgentJob, Endpoint, ProjectId, Prompt};
//!
//! let project = ProjectId::new("acme")?;
//! let create = CreateAgentJob::new(Prompt::new("Document the new endpoint")?);
//! let request = create.request(&project);
//!
//! assert_eq!(request.target, "/v2/agent/acme/job");
//! assert_eq!(request.body.as_deref(), Some(r#"{"prompt":"Document the new endpoint"}"#));
//! # Ok::<(), quillgate::ValidationError>(())
//! ```
//!
//! # Features
//!
//! | feature | default | contents |
//! | --- | --- | --- |
//! | `client` | yes | the module `client`: reqwest, rustls and tokio in native programs; gloo-net, wasm-bindgen and web-sys in WebAssembly |
//! | `json` | with `client` | serde implementations of results, and [`response`]'s decoders; uses `serde_json` |
//! | `documentation` | no | documentation of operations and types as strings, for generated files |
//! | `gateway` | with `client` | the gateway's event streams and exports |
//!
//! Your own WebAssembly module can use this crate: it adds no exports and sets no allocator.
//!
//! # Modules
//!
//! | module | contents |
//! | --- | --- |
//! | `client` | the async client |
//! | [`agent_job`], [`job_list`], [`job_record`], [`analytics`] | the operations of a resource and their results |
//! | [`operation`] | the list of all operations |
//! | [`endpoint`], [`declaration`], [`parameters`] | the declaration of an operation |
//! | [`call`] | argument validation and requests |
//! | [`response`] | results, API errors and decode errors |
//! | [`pages`] | pagination |
//! | [`columns`] | the columns of a list's rows in a table |
//! | [`pull_request`] | links to pull requests |
//! | [`poll`], [`retry`] | polling and retry delays |
//! | [`task`] | the state machine of an operation, from call to result |
//! | [`options`] | timeouts and retries of a call |
//! | [`date`] | dates, instants and HTTP dates |
//! | [`schema`], [`value`] | descriptions of JSON types, and untyped values |

#[macro_use]
pub mod schema;
#[macro_use]
pub mod endpoint;

pub mod agent_job;
pub mod analytics;
pub mod call;
pub mod columns;
mod conversions;
pub mod count;
pub mod credential;
mod cursor;
pub mod date;
pub mod declaration;
#[cfg(feature = "documentation")]
pub mod documentation;
pub mod encode;
pub mod error;
#[cfg(feature = "gateway")]
pub mod export;
pub mod job_list;
pub mod job_record;
pub mod list;
pub mod millis;
pub mod operation;
pub mod options;
pub mod pages;
pub mod parameters;
mod parts;
pub mod poll;
pub mod project;
pub mod pull_request;
pub mod request_path;
pub mod response;
pub mod retry;
pub mod task;
pub mod text;
pub mod ulid;
pub mod value;

#[cfg(feature = "client")]
pub mod client;

pub use agent_job::{
    AgentJob, CreateAgentJob, CreatedJob, GetAgentJob, JobId, JobStatus, Prompt, SendMessage,
    Source, StreamAgentJobEvents,
};
pub use analytics::*;
pub use call::{Call, Request};
pub use count::{Count, Percentage};
pub use date::{DateBound, DateRange, Day, Timestamp};
pub use declaration::{Declaration, Method, RateLimitPolicy, Scope};
pub use endpoint::Endpoint;
pub use error::{
    ApiError, DecodeError, Error, IntegerKind, IntegerRule, Rule, ValidationError, Violation,
};
pub use job_list::{
    JobAuthor, JobPage, JobPageSize, ListAgentJobs, ListedJob, PromptText, StreamProjectJobEvents,
};
pub use job_record::{
    DeleteAgentJobRecord, GetAgentJobRecord, JobRecord, RecordedChange, RecordedMessage,
};
pub use list::{Limit, Offset, PageSize, SmallPageSize};
pub use millis::Millis;
pub use operation::Operation;
pub use options::CallOptions;
pub use pages::{PageError, PageInfo, Pages};
pub use parameters::{ConversationCursor, Cursor};
pub use poll::{Poll, PollStep};
pub use project::ProjectId;
pub use pull_request::{PullRequestLink, RepositoryHost};
pub use retry::{Failure, Idempotency, Retry};
pub use task::Task;
