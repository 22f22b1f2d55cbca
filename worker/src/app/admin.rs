//! Handlers for operators. Operators read the health report, and unblock policies that the upstream
//! has blocked.

use quillgate::RateLimitPolicy;

use crate::analytics::organization_stub::OrganizationStub;
use crate::app::health::Health;
use crate::app::pending_request::PendingRequest;
use crate::app::reply::Reply;
use crate::http::problem::Problem;
use crate::http::response::HeaderFields;
use crate::json;

/// Reads the health of the organization, and of the project if the request has one.
pub async fn read_health(pending: &PendingRequest) -> Result<Reply, Problem> {
    let organization = OrganizationStub::new(&pending.env)?.health().await?;
    let project = match pending.context.facts.project {
        Some(_) => Some(pending.project_stub()?.health().await?),
        None => None,
    };
    let issuers = pending.config.auth.trusted_issuers.iter();
    let issuers = issuers.map(|issuer| issuer.issuer.as_str()).collect();
    let health = Health::new(organization, project, issuers);
    Ok(Reply::json(200, json::to_text(&health)))
}

pub async fn reopen(pending: &PendingRequest, policy: RateLimitPolicy) -> Result<Reply, Problem> {
    match policy {
        RateLimitPolicy::Analytics => OrganizationStub::new(&pending.env)?.reopen(policy).await?,
        _ => pending.project_stub()?.reopen(policy).await?,
    }
    Ok(Reply::empty(204, HeaderFields::default()))
}
