//! Reads of deployments. The path of a deployment names no project, so the gateway answers only
//! for a deployment that it started for a project of the caller, or whose response names such a
//! project. Any other deployment gets a 404.

use quillgate::{ProjectId, Scope};

use crate::analytics::organization_stub::OrganizationStub;
use crate::app::context::Context;
use crate::app::handlers::HostResponse;
use crate::app::handlers::jobs;
use crate::http::problem::Problem;
use crate::jobs::resource::Resource;
use crate::json;
use crate::runtime::log_for_operator;

pub async fn read(context: &mut Context) -> Result<HostResponse, Problem> {
    let id = context.job(Resource::Deployment)?;
    let organization = OrganizationStub::new(&context.env)?;
    let found = organization.find_deployment(id.as_str()).await;
    let found = found.unwrap_or_else(|error| {
        log_for_operator(&error.to_string());
        None
    });
    match found {
        Some(project) if admit_project(context, &project).is_ok() => {
            jobs::read(context, Resource::Deployment).await
        }
        // A deployment of another project takes the same way as an unknown one.
        _ => {
            let fetched = jobs::fetch(context, Resource::Deployment, &id).await?;
            let response = fetched.map_err(|failure| failure.problem)?;
            let body = response.body.as_deref().unwrap_or_default();
            let deployment = json::parse(body.as_bytes());
            let named = deployment
                .as_ref()
                .and_then(|it| json::text(it, "projectId"));
            admit_project(context, named.ok_or_else(Problem::deployment_not_found)?)?;
            Ok(response.into())
        }
    }
}

fn admit_project(context: &mut Context, project: &str) -> Result<(), Problem> {
    let scope = Scope::ReadDeployments.as_str();
    let project = ProjectId::new(project).map_err(|_| Problem::deployment_not_found())?;
    let authorized = context.caller()?.authorize(project.as_str(), scope);
    authorized.map_err(|_| Problem::deployment_not_found())?;
    context.facts.project = Some(project);
    Ok(())
}
