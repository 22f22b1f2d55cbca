//! The core of Quillgate: what a request to the documentation platform's admin
//! API looks like, whether an answer is valid, whether there is a next page, when
//! to poll or try again.
//!
//! The core is sans-IO. It opens no connection, reads no clock and draws no random
//! number; those come in as arguments. The same code therefore decides in the npm
//! package, in the edge gateway and in a native program.
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
//! # Rooms
//!
//! | module | what it decides |
//! | --- | --- |
//! | [`agent_job`], [`job_list`], [`analytics`] | the operations of one resource: declaration and result |
//! | [`operation`] | all of them |
//! | [`endpoint`], [`declaration`], [`parameters`] | what an operation is made of |
//! | [`call`] | which arguments are sound, and the request that follows |
//! | [`response`] | whether an answer is a success, an API error or not what was promised |
//! | [`pages`] | which page of a list comes next |
//! | `export` | every row of a report as text: which page comes next, and where a cut export goes on |
//! | [`columns`] | the columns of a list's rows in a table |
//! | [`poll`] | when to ask for a job again |
//! | [`retry`] | whether and when to send a request again |
//! | [`task`] | what to do next, from a call to its result: all of the above as one state machine |
//! | [`archive`] | which request of the gateway's daily archive comes next |
//! | [`options`] | how long a call may take, and how often it is sent |
//! | [`date`] | calendar dates, instants and HTTP dates |
//! | [`schema`], [`value`] | what a type looks like from outside, and values whose type is not yet known |
//!
//! With the feature `client`, compiled for `wasm32-unknown-unknown`, the module `client` carries all of
//! it out in a browser, a Worker or Node: `cargo doc --target wasm32-unknown-unknown --open` shows it.

#[macro_use]
pub mod schema;
#[macro_use]
pub mod endpoint;

pub mod agent_job;
pub mod analytics;
#[cfg(feature = "gateway")]
pub mod archive;
pub mod call;
pub mod columns;
mod conversions;
pub mod count;
pub mod credential;
pub mod date;
pub mod declaration;
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
pub mod poll;
pub mod project;
pub mod response;
pub mod retry;
pub mod task;
pub mod text;
pub mod ulid;
pub mod value;

#[cfg(feature = "client")]
pub mod client;

pub use agent_job::{
    AgentJob, CreateAgentJob, GetAgentJob, JobId, JobStatus, Prompt, SendMessage, Source,
    StreamAgentJobEvents,
};
pub use analytics::*;
pub use call::{Call, Request};
pub use count::{Count, Number};
pub use date::{DateBound, DateRange, Day, Timestamp};
pub use declaration::{Declaration, Method, Policy, Scope};
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
pub use retry::{Failure, Idempotency, Retry};
pub use task::Task;
