use crate::analytics::organization_stub::OrganizationStub;
use crate::app::context::Context;
use crate::app::handlers::HostResponse;
use crate::app::health::Health;
use crate::budget::is_of_organization;
use crate::http::problem::Problem;
use crate::http::response::GatewayResponse;
use crate::jobs::resource::Resource;
use crate::json;

pub async fn read_health(context: &Context) -> Result<HostResponse, Problem> {
    let organization = OrganizationStub::new(&context.env)?.health().await?;
    let project = match context.facts.project {
        Some(_) => {
            let jobs = context.project_stub(Resource::Job)?.health().await?;
            let deployments = context.project_stub(Resource::Deployment)?.health().await?;
            Some(jobs.with_deployments(&deployments))
        }
        None => None,
    };
    let auth = &context.config.auth;
    let trusted = auth.trusted_issuers.iter();
    let trusted = trusted.map(|issuer| issuer.issuer.as_str()).collect();
    let health = Health::new(organization, project, trusted, auth.unknown_issuers());
    Ok(GatewayResponse::json(200, json::to_text(&health)).into())
}

pub async fn lift_block(context: &Context) -> Result<HostResponse, Problem> {
    let policy = context.facts.policy.ok_or_else(Problem::internal)?;
    if is_of_organization(policy) {
        let organization = OrganizationStub::new(&context.env)?;
        organization.lift_block(policy).await?;
    } else {
        let project = context.project_stub(Resource::Job)?;
        project.lift_block(policy).await?;
    }
    Ok(GatewayResponse::empty(204).into())
}
