use quillgate::credential::{AdminKey, BaseUrl, PlainHttp};
use quillgate::{Method, Millis};

use crate::budget::limits::Limits;
use crate::variable::{VariableError, Variables, variables};

variables! {
    /// Mintlify's admin key. During a rotation, two keys, newest first: after a 401 for the first,
    /// the gateway tries the second. See [Keys](../operate/keys.md).
    ADMIN_API_KEY: Secret = "required";
    /// A key limited to `read`. If set, the gateway uses it for every `GET`, and `ADMIN_API_KEY`
    /// only for writes.
    ADMIN_READ_KEY: Secret = "none";
    /// Mintlify's base URL.
    UPSTREAM_BASE_URL: Var = "https://api.mintlify.com";
    /// Timeout of a request to Mintlify in seconds, including its retry and the response body.
    UPSTREAM_TIMEOUT_SECONDS: Var = 30 in TO_300;
}

pub struct UpstreamSettings {
    pub base_url: BaseUrl,
    pub admin_keys: Vec<AdminKey>,
    pub read_keys: Vec<AdminKey>,
    pub timeout: Millis,
    /// Also the longest block after a 429.
    pub limit_window: Millis,
}

impl UpstreamSettings {
    pub fn read(variables: Variables<'_>, limits: &Limits) -> Result<Self, VariableError> {
        let keys = |variable| read_admin_keys(variable, variables(variable));
        Ok(Self {
            admin_keys: keys("ADMIN_API_KEY")?.ok_or(VariableError {
                variable: "ADMIN_API_KEY",
                rule: "is not set",
            })?,
            read_keys: keys("ADMIN_READ_KEY")?.unwrap_or_default(),
            base_url: read_base_url("UPSTREAM_BASE_URL", variables, BaseUrl::UPSTREAM)?,
            timeout: UPSTREAM_TIMEOUT_SECONDS.read_seconds(variables)?,
            limit_window: limits.window,
        })
    }

    pub fn all_keys(&self) -> impl Iterator<Item = &AdminKey> {
        self.admin_keys.iter().chain(&self.read_keys)
    }

    /// Newest first, with the name of their variable.
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

/// The gateway sends a credential to this URL, so it must be `https`, except on a loopback host.
pub fn read_base_url(
    variable: &'static str,
    variables: Variables<'_>,
    default: &str,
) -> Result<BaseUrl, VariableError> {
    let url = variables(variable).unwrap_or_else(|| default.to_owned());
    let base = BaseUrl::new(url).and_then(|base| base.for_credential(PlainHttp::Loopback));
    base.map_err(|_| VariableError {
        variable,
        rule: "must be an absolute https URL, or http on this machine, without credentials, query or fragment",
    })
}
