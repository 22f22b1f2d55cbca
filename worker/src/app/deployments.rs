//! Reads of deployments. The path of a deployment names no project, so the gateway answers only
//! for a deployment that it started for a project of the caller, or whose response names such a
//! project. Any other deployment gets a 404.

use quillgate::{JobId, ProjectId, Scope};

use crate::analytics::organization_stub::OrganizationStub;
use crate::app::context::Context;
use crate::app::handlers::HostResponse;
use crate::app::jobs;
use crate::http::problem::Problem;
use crate::http::response::GatewayResponse;
use crate::jobs::resource::Resource;
use crate::json;
use crate::runtime::log_for_operator;
use crate::upstream::client::{UpstreamResponse, send_upstream};
use crate::upstream::request::{RequestIds, UpstreamRequest};
use crate::upstream::snapshot::Snapshot;

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
        _ => read_unrecorded(context, &id).await,
    }
}

/// Reads a deployment that the gateway did not start for a project of the caller.
async fn read_unrecorded(context: &mut Context, id: &JobId) -> Result<HostResponse, Problem> {
    // The path of the request names no project either.
    let nowhere = ProjectId::new("-")?;
    let (operation, target) = Resource::Deployment.read_request(&nowhere, id.as_str())?;
    let request = UpstreamRequest {
        operation,
        ids: &RequestIds {
            id: context.head.id.clone(),
            project: String::new(),
            traceparent: context.trace.traceparent.clone(),
            tracestate: context.trace.tracestate.clone(),
        },
        target: &target,
        body: None,
    };
    let sent = send_upstream(&context.config.upstream, &request, &mut || true).await;
    let exchange = sent.read(&request, |UpstreamResponse { head, body }| {
        let deployment = Snapshot::read_deployment(head.status, &body, id.as_str(), None)?;
        Some((head.forwarded_headers(), deployment))
    });
    context.metrics.upstream = Some(exchange.metrics);
    let (headers, deployment) = exchange.outcome.map_err(|failure| failure.problem)?;
    let named = json::parse(deployment.text.as_bytes());
    let named = named.as_ref().and_then(|it| json::text(it, "projectId"));
    admit_project(context, named.ok_or_else(Problem::deployment_not_found)?)?;
    let (status, body) = (deployment.http_status, Some(deployment.text));
    Ok(GatewayResponse::new(status, headers, body).into())
}

fn admit_project(context: &mut Context, project: &str) -> Result<(), Problem> {
    let scope = Scope::ReadDeployments.as_str();
    let project = ProjectId::new(project).map_err(|_| Problem::deployment_not_found())?;
    let authorized = context.caller()?.authorize(project.as_str(), scope);
    authorized.map_err(|_| Problem::deployment_not_found())?;
    context.facts.project = Some(project);
    Ok(())
}
