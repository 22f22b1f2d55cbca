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
//! | [`agent_job`], [`job_list`], [`page_views`] | the operations of one resource: parameters, request, result |
//! | [`endpoint`] | what every operation has in common |
//! | [`response`] | whether an answer is a success, an API error or not what was promised |
//! | [`paginate`] | which page comes next |
//! | [`poll`] | when to ask for a job again |
//! | [`retry`] | whether and when to send a request again |
//! | [`date`] | calendar dates, instants and HTTP dates |
//! | [`schema`], [`value`] | what a type looks like from outside, and values whose type is not yet known |

#[macro_use]
pub mod schema;

pub mod agent_job;
pub mod credential;
pub mod date;
pub mod encode;
pub mod endpoint;
pub mod error;
pub mod job_list;
pub mod page_views;
pub mod paginate;
pub mod poll;
pub mod project;
pub mod response;
pub mod retry;
pub mod value;

#[cfg(all(target_arch = "wasm32", feature = "bindings"))]
pub mod wasm;

pub use agent_job::{
    AgentJob, CreateAgentJob, GetAgentJob, JobId, JobStatus, Prompt, SendMessage, Source,
};
pub use date::{DateBound, DateRange, Millis};
pub use endpoint::{Endpoint, Method, OPERATIONS, Operation, Request};
pub use error::{ApiError, DecodeError, Error, Rule, ValidationError};
pub use job_list::{JobCursor, JobPage, JobPageSize, ListAgentJobs, ListedJob};
pub use page_views::{ListPageViews, Offset, PageSize, PageView, PageViews, ViewTotals};
pub use paginate::OffsetPages;
pub use poll::{Poll, PollStep};
pub use project::ProjectId;
pub use retry::{Failure, Repeat, Retry};
