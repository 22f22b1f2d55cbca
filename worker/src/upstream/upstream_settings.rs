//! The settings of requests to Mintlify, from the Worker's variables.

use quillgate::credential::{AdminKey, BaseUrl, PlainHttp};
use quillgate::{Method, Millis};

use crate::budget::limits::Limits;
use crate::variable::{Range, VariableError, Variables, read_seconds};

/// Settings of requests to Mintlify.
pub struct UpstreamSettings {
    /// The base URL of Mintlify's API.
    pub base_url: BaseUrl,
    /// Mintlify's admin keys, newest first: one, or two during a key rotation.
    pub admin_keys: Vec<AdminKey>,
    /// Admin keys for requests that only read, newest first: none, one or two.
    pub read_keys: Vec<AdminKey>,
    /// The time limit for all attempts and the response's body.
    pub timeout: Millis,
    /// The window in which Mintlify counts requests, and the longest block after a 429.
    pub limit_window: Millis,
}

impl UpstreamSettings {
    /// Reads the settings from the Worker's variables.
    ///
    /// # Errors
    /// Returns an error for the first variable that is malformed, or required but not set.
    pub fn read(variables: Variables<'_>, limits: &Limits) -> Result<Self, VariableError> {
        let keys = |variable| read_admin_keys(variable, variables(variable));
        Ok(Self {
            admin_keys: keys("ADMIN_API_KEY")?.ok_or(VariableError {
                variable: "ADMIN_API_KEY",
                rule: "is not set",
            })?,
            read_keys: keys("ADMIN_READ_KEY")?.unwrap_or_default(),
            base_url: read_base_url(variables("UPSTREAM_BASE_URL"))?,
            timeout: read_seconds("UPSTREAM_TIMEOUT_SECONDS", variables, 30, Range::TO_300)?,
            limit_window: limits.window,
        })
    }

    /// Returns all admin keys.
    pub fn all_keys(&self) -> impl Iterator<Item = &AdminKey> {
        self.admin_keys.iter().chain(&self.read_keys)
    }

    /// Returns the admin keys for a method, newest first, and the name of their variable.
    pub fn keys(&self, method: Method) -> (&'static str, &[AdminKey]) {
        match method {
            Method::Get if !self.read_keys.is_empty() => ("ADMIN_READ_KEY", &self.read_keys),
            Method::Get | Method::Post | Method::Delete => ("ADMIN_API_KEY", &self.admin_keys),
        }
    }
}

fn read_admin_keys(
    variable: &'static str,
    value: Option<String>,
) -> Result<Option<Vec<AdminKey>>, VariableError> {
    let Some(value) = value else { return Ok(None) };
    let keys = value.split(',').map(|key| AdminKey::new(key.trim()));
    match keys.collect::<Result<Vec<_>, _>>() {
        Ok(keys) if keys.len() <= 2 => Ok(Some(keys)),
        _ => Err(VariableError {
            variable,
            rule: "must be an admin key, which begins with mint_ and not with mint_dsc_ or mint_us_, or two of them separated by a comma",
        }),
    }
}

/// The gateway sends the admin key to this URL, so it must be `https`, except on a loopback host.
fn read_base_url(value: Option<String>) -> Result<BaseUrl, VariableError> {
    let url = value.unwrap_or_else(|| BaseUrl::UPSTREAM.to_owned());
    let base = BaseUrl::new(url).and_then(|base| base.for_credential(PlainHttp::Loopback));
    base.map_err(|_| VariableError {
        variable: "UPSTREAM_BASE_URL",
        rule: "must be an absolute https URL, or http on this machine, without credentials, query or fragment",
    })
}
