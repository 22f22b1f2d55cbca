//! An async client for Rust programs in a browser, a Worker or Node.
//!
//! It sends with the host's `fetch` (by gloo-net), waits with its timers (by gloo-timers) and runs
//! on its promises (by wasm-bindgen-futures). What it sends, when it tries again and whether an
//! answer is valid is decided by [`crate::task`], as in the npm package.
//!
#![doc = concat!("```\n", include_str!("../tests/client/examples/overview.rs"), "```")]
//!
//! # What a call does
//!
//! - Arguments are the operations' own types, so most mistakes do not compile or are refused where
//!   the value is made. Nothing is sent before all of it is valid.
//! - An attempt has a time limit, its body included, and a call can have one for everything. A
//!   failure that may pass is tried again, after growing waits or as `Retry-After` says.
//! - A call that changes something carries a fresh [`IdempotencyKey`] to a gateway, which carries
//!   it out once however often it comes. The platform itself does not support such keys: a `POST`
//!   is never sent to it twice.
//! - Redirects are not followed: a credential goes to the address that it was given for.
//! - **Dropping a future aborts its request and clears its timers.** A list or a watch loses nothing
//!   by that: its `next` asks for the same page, or the same job, again. An [`AbortSignal`] does the
//!   same from outside, as in a Worker whose caller has left.
//!
//! # Streams
//!
//! [`Pages`], [`Rows`] and [`Watch`] have an async `next`, which needs no other crate, and
//! `into_stream`, a [`futures_core::Stream`] for those who combine streams.
//!
//! # Example application
//!
//! `examples/jobs` in the repository is a page that starts a job, watches it and shows page views.

mod agent_jobs;
mod analytics;
mod call;
mod driver;
mod error;
mod exchange;
mod host;
mod list;
mod race;
mod settings;
mod stream;
mod watch;

use std::fmt;
use std::rc::Rc;

use js_sys::Function;

use crate::credential::{AccessToken, AdminKey, BaseUrl};
use crate::error::ValidationError;
use crate::project::ProjectId;

pub use crate::credential::IdempotencyKey;
pub use agent_jobs::AgentJobs;
pub use analytics::Analytics;
pub use call::ApiCall;
pub use error::{Error, HostError};
pub use gloo_net::http::Headers;
pub use list::{List, ListEndpoint, Pages, Rows};
pub use watch::{JobChange, Wait, Watch};
pub use web_sys::AbortSignal;

use settings::{Settings, settings};

/// Where requests go, and by which right: a gateway with an access token, or the platform itself
/// with the admin key.
#[derive(Clone)]
pub struct Server {
    base: BaseUrl,
    credential: Credential,
}

#[derive(Clone)]
enum Credential {
    Token(AccessToken),
    Key(AdminKey),
}

impl Server {
    /// A gateway, with an access token of it.
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../tests/client/examples/gateway.rs"), "```")]
    #[must_use]
    pub const fn gateway(base: BaseUrl, token: AccessToken) -> Self {
        Self {
            base,
            credential: Credential::Token(token),
        }
    }

    /// The platform itself, with the admin key.
    ///
    /// The key is a secret of the whole organisation: it belongs on a server, and never into a
    /// page, where everybody who opens it can read it.
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../tests/client/examples/platform.rs"), "```")]
    #[must_use]
    pub fn platform(key: AdminKey) -> Self {
        Self {
            base: BaseUrl::upstream(),
            credential: Credential::Key(key),
        }
    }

    /// The platform at another address than its own, such as a simulator.
    ///
    /// # Errors
    /// [`crate::Rule::BaseUrl`] unless `url` is an absolute `http:` or `https:` URL without
    /// credentials, query or fragment; [`crate::Rule::SecureBaseUrl`] for `http:` to another
    /// machine, where anybody on the way could read the key.
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../tests/client/examples/platform_at.rs"), "```")]
    pub fn platform_at(url: &str, key: AdminKey) -> Result<Self, ValidationError> {
        Ok(Self {
            base: BaseUrl::for_admin_key(url)?,
            credential: Credential::Key(key),
        })
    }

    /// Whether it carries out a call once, by its idempotency key.
    const fn deduplicates(&self) -> bool {
        matches!(self.credential, Credential::Token(_))
    }

    fn authorization(&self) -> String {
        let credential = match &self.credential {
            Credential::Token(token) => token.expose(),
            Credential::Key(key) => key.expose(),
        };
        ["Bearer ", credential].concat()
    }
}

/// The address alone: a credential shows nothing of itself.
impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server")
            .field("base", &self.base)
            .finish_non_exhaustive()
    }
}

/// A client of one project. A clone shares all it has with the original.
#[derive(Clone)]
pub struct Client {
    server: Rc<Server>,
    project: Rc<ProjectId>,
    settings: Settings,
    fetch: Option<Function>,
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
    /// A client of this project. Making one does no work.
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../tests/client/examples/gateway.rs"), "```")]
    #[must_use]
    pub fn new(server: Server, project: ProjectId) -> Self {
        Self {
            server: Rc::new(server),
            project: Rc::new(project),
            settings: Settings::default(),
            fetch: None,
        }
    }

    /// The same client, which sends with this function in place of the host's `fetch`: it gets a
    /// `Request` and gives a promise of a `Response`. A Worker's service binding has one.
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../tests/client/examples/with_fetch.rs"), "```")]
    #[must_use]
    pub fn with_fetch(mut self, fetch: Function) -> Self {
        self.fetch = Some(fetch);
        self
    }

    settings! {
        /// # Example
        #[doc = concat!("```\n", include_str!("../tests/client/examples/client_options.rs"), "```")]
    }

    /// Background agent jobs.
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../tests/client/examples/create.rs"), "```")]
    #[must_use]
    pub const fn agent_jobs(&self) -> AgentJobs<'_> {
        AgentJobs(self)
    }

    /// Reports of who reads the documentation.
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../tests/client/examples/caller_stats.rs"), "```")]
    #[must_use]
    pub const fn analytics(&self) -> Analytics<'_> {
        Analytics(self)
    }
}
