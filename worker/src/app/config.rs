use crate::analytics::analytics_settings::AnalyticsSettings;
use crate::auth::auth_settings::AuthSettings;
use crate::budget::limits::Limits;
use crate::http::url::{is_origin, strip_default_port};
use crate::jobs::job_settings::JobSettings;
use crate::jobs::pull_request::pull_request_settings::PullRequestSettings;
use crate::upstream::upstream_settings::UpstreamSettings;
use crate::variable::{VariableError, split_list, trim_value, variables};

variables! {
    /// Other pages that may call the gateway.
    ALLOWED_ORIGINS: Var = "none";
}

pub struct Config {
    pub upstream: UpstreamSettings,
    pub auth: AuthSettings,
    pub limits: Limits,
    pub jobs: JobSettings,
    /// `None` disables requests to GitHub.
    pub pull_requests: Option<PullRequestSettings>,
    pub analytics: AnalyticsSettings,
    /// Besides the gateway's own origin.
    pub allowed_origins: Vec<String>,
}

impl Config {
    pub fn read(variable: impl Fn(&str) -> Option<String>) -> Result<Self, VariableError> {
        let variables = |name: &str| trim_value(&variable(name)?);
        let limits = Limits::read(&variables)?;
        let mut allowed_origins = split_list(variables("ALLOWED_ORIGINS").as_deref());
        if !allowed_origins.iter().all(|origin| is_origin(origin)) {
            return Err(VariableError {
                variable: "ALLOWED_ORIGINS",
                rule: "must be exact origins such as https://docs.example, separated by commas",
            });
        }
        for origin in &mut allowed_origins {
            origin.truncate(strip_default_port(origin).len());
        }
        Ok(Self {
            upstream: UpstreamSettings::read(&variables, &limits)?,
            auth: AuthSettings::read(&variables)?,
            jobs: JobSettings::read(&variables, &limits)?,
            pull_requests: PullRequestSettings::read(&variables)?,
            analytics: AnalyticsSettings::read(&variables, &limits)?,
            allowed_origins,
            limits,
        })
    }
}
