//! The builder of a client. [`ClientBuilder`] collects the server, the project, the host and the
//! settings, and checks them.

use std::fmt;
use std::sync::Arc;

use crate::client::call::convert;
use crate::client::host::Host;
use crate::client::settings::{Settings, settings};
use crate::client::{Client, Credential, Server};
use crate::credential::{AccessToken, AdminKey, BaseUrl, PlainHttp};
use crate::error::{Rule, ValidationError};
use crate::project::ProjectId;

/// Builds a [`Client`]. A server and a project are required. Each call can override the settings.
///
/// # Example
#[doc = concat!("```\n", include_str!("../../tests/client/examples/settings.rs"), "```")]
#[must_use = "call `build`"]
#[derive(Default)]
pub struct ClientBuilder {
    server: Option<Result<Server, ValidationError>>,
    project: Option<Result<ProjectId, ValidationError>>,
    host: Option<Arc<dyn Host>>,
    plain_http: PlainHttp,
    settings: Settings,
}

impl fmt::Debug for ClientBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientBuilder")
            .field("server", &self.server)
            .field("project", &self.project)
            .finish_non_exhaustive()
    }
}

impl ClientBuilder {
    /// Sets the server to a gateway, with an access token of this gateway.
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../../tests/client/examples/gateway.rs"), "```")]
    pub fn gateway<U, T>(mut self, url: U, token: T) -> Self
    where
        U: TryInto<BaseUrl, Error: Into<ValidationError>>,
        T: TryInto<AccessToken, Error: Into<ValidationError>>,
    {
        let server = convert(url).and_then(|base| {
            let credential = Credential::Token(convert(token)?);
            Ok(Server { base, credential })
        });
        self.server = Some(server);
        self
    }

    /// Sets the server to Mintlify, with an admin key.
    ///
    /// The key is a secret of the whole organization. Use it on servers only, never in a page.
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../../tests/client/examples/platform.rs"), "```")]
    pub fn platform<K>(mut self, key: K) -> Self
    where
        K: TryInto<AdminKey, Error: Into<ValidationError>>,
    {
        self.server = Some(convert(key).map(|key| Server {
            base: BaseUrl::upstream(),
            credential: Credential::Key(key),
        }));
        self
    }

    /// Sets the server to a URL other than Mintlify's, such as a simulator, with an admin key.
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../../tests/client/examples/platform_at.rs"), "```")]
    pub fn platform_at<K>(mut self, url: &str, key: K) -> Self
    where
        K: TryInto<AdminKey, Error: Into<ValidationError>>,
    {
        let server = BaseUrl::new(url).and_then(|base| {
            let credential = Credential::Key(convert(key)?);
            Ok(Server { base, credential })
        });
        self.server = Some(server);
        self
    }

    /// Sets the project: its identifier from the API keys page of Mintlify's dashboard.
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../../tests/client/examples/gateway.rs"), "```")]
    pub fn project<P>(mut self, id: P) -> Self
    where
        P: TryInto<ProjectId, Error: Into<ValidationError>>,
    {
        self.project = Some(convert(id));
        self
    }

    /// Sets the host. Default: `ReqwestHost` in native programs, `FetchHost` in WebAssembly.
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../../tests/client/examples/host.rs"), "```")]
    pub fn host(mut self, host: impl Host) -> Self {
        self.host = Some(Arc::new(host));
        self
    }

    /// Allows sending the credential to an `http:` URL on another machine, such as a gateway in a
    /// private network. Others in the network can read the credential.
    ///
    /// # Example
    /// ```
    /// # use quillgate::Client;
    /// let gateway = Client::builder().gateway("http://gate.internal", "token");
    /// let client = gateway.project("acme").allow_plain_http().build()?;
    /// # Ok::<(), quillgate::ValidationError>(())
    /// ```
    pub const fn allow_plain_http(mut self) -> Self {
        self.plain_http = PlainHttp::AnyHost;
        self
    }

    settings!();

    /// Builds the client. Sends nothing.
    ///
    /// # Errors
    /// [`Rule::Required`] if the server (`baseUrl`) or the project is missing. Otherwise the first
    /// rule that an argument breaks, such as [`Rule::SecureBaseUrl`]. The error never contains a
    /// credential.
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../../tests/client/examples/gateway.rs"), "```")]
    pub fn build(self) -> Result<Client, ValidationError> {
        let missing = |field| ValidationError::new(field, Rule::Required, "");
        let Server { base, credential } = self.server.ok_or_else(|| missing("baseUrl"))??;
        let base = base.for_credential(self.plain_http)?;
        let project = self.project.ok_or_else(|| missing("projectId"))??;
        self.settings.check()?;
        // Mintlify has no event streams.
        let next_stream_at = match credential {
            Credential::Token(_) => 0,
            Credential::Key(_) => u64::MAX,
        };
        Ok(Client {
            next_stream_at: Arc::new(next_stream_at.into()),
            server: Arc::new(Server { base, credential }),
            project: Arc::new(project),
            host: self.host.unwrap_or_else(default_host),
            settings: self.settings,
        })
    }
}

#[cfg(not(target_arch = "wasm32"))]
fn default_host() -> Arc<dyn Host> {
    Arc::new(crate::client::ReqwestHost::new())
}

#[cfg(target_arch = "wasm32")]
fn default_host() -> Arc<dyn Host> {
    Arc::new(crate::client::FetchHost::new())
}
