//! The Worker's configuration. [`Config::read`] reads and validates the variables and secrets.

use crate::analytics::analytics_settings::AnalyticsSettings;
use crate::auth::auth_settings::AuthSettings;
use crate::budget::limits::Limits;
use crate::http::url::is_origin;
use crate::jobs::job_settings::JobSettings;
use crate::jobs::pull_request::pull_request_settings::PullRequestSettings;
use crate::upstream::upstream_settings::UpstreamSettings;
use crate::variable::{VariableError, split_list, trim_value};

/// The Worker's configuration, validated as a whole.
pub struct Config {
    /// The URL of Mintlify's API, the admin keys and the timeout of requests.
    pub upstream: UpstreamSettings,
    /// Access tokens, trusted issuers and sign-in.
    pub auth: AuthSettings,
    /// The maximum numbers of requests per policy and window.
    pub limits: Limits,
    /// Polling, job records, event streams and webhooks.
    pub jobs: JobSettings,
    /// Requests to GitHub for the states of pull requests. `None` disables these requests.
    pub pull_requests: Option<PullRequestSettings>,
    /// The freshness of reports, exports and the daily archive.
    pub analytics: AnalyticsSettings,
    /// The other origins from which pages may call the gateway. The gateway's own origin is always
    /// allowed.
    pub allowed_origins: Vec<String>,
}

impl Config {
    /// Reads the configuration. A blank variable counts as absent.
    ///
    /// # Errors
    /// Returns an error for the first variable that is malformed, or required but not set.
    ///
    /// # Example
    /// ```
    /// use quillgate_worker::app::config::Config;
    ///
    /// let error = Config::read(|_| None).err().unwrap();
    /// assert_eq!(error.to_string(), "ADMIN_API_KEY is not set");
    /// ```
    pub fn read(variable: impl Fn(&str) -> Option<String>) -> Result<Self, VariableError> {
        let variables = |name: &str| trim_value(&variable(name)?);
        let limits = Limits::read(&variables)?;
        Ok(Self {
            upstream: UpstreamSettings::read(&variables, &limits)?,
            auth: AuthSettings::read(&variables)?,
            jobs: JobSettings::read(&variables, &limits)?,
            pull_requests: PullRequestSettings::read(&variables)?,
            analytics: AnalyticsSettings::read(&variables, &limits)?,
            allowed_origins: read_allowed_origins(variables("ALLOWED_ORIGINS").as_deref())?,
            limits,
        })
    }
}

fn read_allowed_origins(value: Option<&str>) -> Result<Vec<String>, VariableError> {
    let origins = split_list(value);
    if origins.iter().all(|origin| is_origin(origin)) {
        return Ok(origins);
    }
    Err(VariableError {
        variable: "ALLOWED_ORIGINS",
        rule: "must be exact origins such as https://docs.example, separated by commas",
    })
}
