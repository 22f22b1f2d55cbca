//! An async client for native programs and for WebAssembly.
//!
#![doc = concat!("```\n", include_str!("../tests/client/examples/overview.rs"), "```")]
//!
//! # Hosts
//!
//! | target | default host | runs on |
//! | --- | --- | --- |
//! | native | `ReqwestHost`: reqwest with rustls | tokio |
//! | wasm32 | `FetchHost`: `fetch` of a browser, a Worker or Node.js | promises, by wasm-bindgen-futures |
//!
//! Implement [`Host`] for another HTTP client or for a fake server in tests.
//!
//! # Calls
//!
//! - **Arguments are validated before a request is sent.** Methods accept strings and validated
//!   values such as a [`JobId`](crate::JobId). An invalid string is an error of `send` or `next`.
//! - **Each attempt has a timeout**, including the response body, and a call can have a total
//!   timeout. Transient failures are retried after growing delays or after `Retry-After`.
//! - **Each `POST` to a gateway carries an [`IdempotencyKey`]**, random by default, so the gateway
//!   processes it only once. Mintlify has no such keys: a `POST` is never sent to it twice.
//! - **Redirects are not followed**, because a credential must not reach another server.
//! - **Dropping a future aborts its request and clears its timers.** Lists lose nothing: their
//!   `next` requests the same page again. The `next` of a watch continues, until you drop the watch.
//!   In WebAssembly, an `AbortSignal` can abort a call too.
//!
//! # Streams
//!
//! [`Pages`], [`Rows`], [`Export`] and [`Watch`] have an async `next`, and `into_stream` converts them to a
//! [`Stream`](futures_core::Stream).
//!
//! # Example programs
//!
//! In the repository, `examples/native` is a command that follows a job and exports a report.
//! `examples/jobs` is a page compiled to WebAssembly.

#[cfg(target_arch = "wasm32")]
mod abort;
mod agent_jobs;
mod analytics;
mod arguments;
mod automations;
mod builder;
mod call;
mod connection_failure;
#[cfg(not(target_arch = "wasm32"))]
mod content_encoding;
mod deployments;
mod driver;
mod error;
mod exchange;
mod export;
#[cfg(target_arch = "wasm32")]
mod fetch_host;
mod host;
#[cfg(not(target_arch = "wasm32"))]
mod lazy_verifier;
mod list;
mod previews;
mod race;
mod request;
#[cfg(not(target_arch = "wasm32"))]
mod reqwest_host;
mod resource_events;
mod response;
mod settings;
mod stream;
mod watch;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use crate::credential::{AccessToken, AdminKey, BaseUrl};
use crate::project::ProjectId;

pub use crate::credential::IdempotencyKey;
pub use agent_jobs::AgentJobs;
pub use analytics::Analytics;
pub use automations::Automations;
pub use builder::ClientBuilder;
pub use call::{ApiCall, ApiOperation, WebhookEndpoint};
pub use connection_failure::{ConnectionFailure, ConnectionFailureReason};
pub use deployments::Deployments;
pub use error::{Error, HostError};
pub use export::Export;
#[cfg(target_arch = "wasm32")]
pub use fetch_host::FetchHost;
pub use host::{BoxFuture, Host, HostBody, HostResponse, HostStream, MaybeSend, MaybeSync};
pub use http;
pub use list::{List, ListEndpoint, Pages, Rows};
pub use previews::Previews;
pub use request::ApiRequest;
#[cfg(not(target_arch = "wasm32"))]
pub use reqwest_host::ReqwestHost;
pub use response::ApiResponse;
pub use watch::{DeploymentChange, JobChange, Watch, WatchEndpoint};
#[cfg(target_arch = "wasm32")]
pub use web_sys::AbortSignal;

use settings::Settings;

/// Shorter credentials are not redacted, because they could be part of ordinary words.
const MIN_REDACTED_BYTES: usize = 8;

/// The address and the credential of requests.
#[derive(Clone)]
struct Server {
    base: BaseUrl,
    credential: Credential,
}

#[derive(Clone)]
enum Credential {
    Token(AccessToken),
    Key(AdminKey),
}

impl Server {
    const fn base(&self) -> &BaseUrl {
        &self.base
    }

    /// Returns whether the server deduplicates requests by idempotency key.
    const fn deduplicates(&self) -> bool {
        matches!(self.credential, Credential::Token(_))
    }

    fn credential(&self) -> &str {
        match &self.credential {
            Credential::Token(token) => token.expose(),
            Credential::Key(key) => key.expose(),
        }
    }

    fn authorization(&self) -> String {
        ["Bearer ", self.credential()].concat()
    }

    /// Redacts the credential in a string of the server.
    fn redact(&self, text: &str) -> String {
        match self.credential() {
            short if short.len() < MIN_REDACTED_BYTES => text.to_owned(),
            credential => text.replace(credential, "[redacted]"),
        }
    }
}

/// Hides the credential.
impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server")
            .field("base", &self.base)
            .finish_non_exhaustive()
    }
}

/// A client of one project. Clones are cheap and share connections.
#[derive(Clone)]
pub struct Client {
    server: Arc<Server>,
    project: Arc<ProjectId>,
    host: Arc<dyn Host>,
    /// When to open the next event stream of a job or a deployment, in milliseconds since the Unix epoch. Until then,
    /// watches poll.
    next_stream_at: Arc<AtomicU64>,
    settings: Settings,
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("server", &self.server)
            .field("project", &self.project)
            .field("options", &self.settings.options)
            .finish_non_exhaustive()
    }
}

impl Client {
    /// Returns a builder.
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../tests/client/examples/gateway.rs"), "```")]
    pub fn builder() -> ClientBuilder {
        ClientBuilder::default()
    }

    /// Returns the project.
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../tests/client/examples/request.rs"), "```")]
    #[must_use]
    pub fn project(&self) -> &ProjectId {
        &self.project
    }

    /// Returns a request with any method and path, such as `/v1/project/pages/acme`, for routes
    /// that the client has no method for.
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../tests/client/examples/request.rs"), "```")]
    pub fn request(&self, method: http::Method, path: impl Into<String>) -> ApiRequest {
        ApiRequest::new(self, method, path.into())
    }

    /// Returns the methods for agent jobs.
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../tests/client/examples/create.rs"), "```")]
    #[must_use]
    pub const fn agent_jobs(&self) -> AgentJobs<'_> {
        AgentJobs(self)
    }

    /// Returns the methods for reports.
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../tests/client/examples/caller_stats.rs"), "```")]
    #[must_use]
    pub const fn analytics(&self) -> Analytics<'_> {
        Analytics(self)
    }

    /// Returns the methods for automations.
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../tests/client/examples/automation.rs"), "```")]
    #[must_use]
    pub const fn automations(&self) -> Automations<'_> {
        Automations(self)
    }

    /// Returns the methods for deployments.
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../tests/client/examples/deploy.rs"), "```")]
    #[must_use]
    pub const fn deployments(&self) -> Deployments<'_> {
        Deployments(self)
    }

    /// Returns the methods for previews.
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../tests/client/examples/preview.rs"), "```")]
    #[must_use]
    pub const fn previews(&self) -> Previews<'_> {
        Previews(self)
    }
}
