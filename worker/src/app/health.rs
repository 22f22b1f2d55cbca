use serde::Serialize;

use crate::analytics::health::OrganizationHealth;
use crate::jobs::health::ProjectHealth;
use crate::upstream::breaker;

/// Returned by `/healthz` if the query has the parameter `deep` or `project`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Health<'a> {
    status: &'static str,
    organization: OrganizationHealth,
    #[serde(skip_serializing_if = "Option::is_none")]
    project: Option<ProjectHealth>,
    trusted_issuers: Vec<&'a str>,
    /// See [`AuthSettings::unknown_issuers`](crate::auth::auth_settings::AuthSettings).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unknown_issuers: Vec<&'a str>,
}

impl<'a> Health<'a> {
    /// `degraded` if a breaker of the organization or of the project is open.
    pub fn new(
        organization: OrganizationHealth,
        project: Option<ProjectHealth>,
        trusted_issuers: Vec<&'a str>,
        unknown_issuers: Vec<&'a str>,
    ) -> Self {
        let breakers = [
            Some(organization.breaker),
            project.as_ref().map(|project| project.breaker),
        ];
        let is_open = breakers.contains(&Some(breaker::State::Open));
        Self {
            status: if is_open { "degraded" } else { "ok" },
            organization,
            project,
            trusted_issuers,
            unknown_issuers,
        }
    }
}
