//! Settings of requests to Mintlify.

use quillgate::credential::{AdminKey, BaseUrl};
use quillgate::{Method, Millis};

use crate::variable::{Range, VariableError, Variables, read_seconds};

/// Settings of requests to Mintlify.
pub struct UpstreamSettings {
    /// The base URL of Mintlify's API.
    pub base_url: BaseUrl,
    /// Mintlify's admin keys, newest first: one, or two while they rotate.
    pub admin_keys: Vec<AdminKey>,
    /// Admin keys for requests that only read, newest first: none, one or two.
    pub read_keys: Vec<AdminKey>,
    /// The timeout of a request, including retries and the body of the response.
    pub timeout: Millis,
    /// The length of the window in which Mintlify counts requests. No block lasts longer.
    pub limit_window: Millis,
}

impl UpstreamSettings {
    /// Reads the settings from the Worker's variables.
    ///
    /// # Errors
    /// The first variable that is missing or malformed.
    pub fn read(variables: Variables<'_>) -> Result<Self, VariableError> {
        let keys = |name, need| read_admin_keys(name, variables(name), need);
        let seconds = |name, default, range| read_seconds(name, variables, default, range);
        Ok(Self {
            admin_keys: keys("ADMIN_API_KEY", Need::Required)?,
            read_keys: keys("ADMIN_READ_KEY", Need::Optional)?,
            base_url: read_base_url(variables("UPSTREAM_BASE_URL"))?,
            timeout: seconds("UPSTREAM_TIMEOUT_SECONDS", 30, Range::To300)?,
            limit_window: seconds("LIMIT_WINDOW_SECONDS", 3600, Range::ToDay)?,
        })
    }

    /// Returns the admin keys for requests with this method, newest first.
    pub fn keys(&self, method: Method) -> &[AdminKey] {
        match method {
            Method::Get if !self.read_keys.is_empty() => &self.read_keys,
            Method::Get | Method::Post | Method::Delete => &self.admin_keys,
        }
    }

    /// Returns the name of the variable that contains [`Self::keys`].
    pub fn key_variable(&self, method: Method) -> &'static str {
        match method {
            Method::Get if !self.read_keys.is_empty() => "ADMIN_READ_KEY",
            Method::Get | Method::Post | Method::Delete => "ADMIN_API_KEY",
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Need {
    Required,
    Optional,
}

fn read_admin_keys(
    variable: &'static str,
    value: Option<String>,
    need: Need,
) -> Result<Vec<AdminKey>, VariableError> {
    let error = |rule| VariableError { variable, rule };
    let Some(value) = value else {
        return match need {
            Need::Required => Err(error("is not set")),
            Need::Optional => Ok(Vec::new()),
        };
    };
    let keys: Result<Vec<_>, _> = value
        .split(',')
        .map(|key| AdminKey::new(key.trim()))
        .collect();
    keys.ok().filter(|keys| keys.len() <= 2).ok_or(error(
        "must be an admin key, which begins with mint_ and not with mint_dsc_ or mint_us_, or two of them separated by a comma",
    ))
}

/// Reads `UPSTREAM_BASE_URL`. The admin key is sent there, so the URL must be `https`, except on a
/// loopback host.
fn read_base_url(value: Option<String>) -> Result<BaseUrl, VariableError> {
    let url = value.unwrap_or_else(|| BaseUrl::UPSTREAM.to_owned());
    BaseUrl::for_admin_key(&url).map_err(|_| VariableError {
        variable: "UPSTREAM_BASE_URL",
        rule: "must be an absolute https URL, or http on this machine, without credentials, query or fragment",
    })
}
