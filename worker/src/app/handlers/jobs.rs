use std::rc::Rc;

use quillgate::{JobId, Method, Millis, Operation, ProjectId};

use crate::analytics::page::{CacheStatus, FetchReason};
use crate::app::context::Context;
use crate::app::handlers::HostResponse;
use crate::app::handlers::streams::long_poll;
use crate::http::problem::Problem;
use crate::http::problem_kind::ProblemKind;
use crate::http::response::GatewayResponse;
use crate::jobs::events::parse_preferred_wait;
use crate::jobs::records::JobQuery;
use crate::jobs::resource::Resource;
use crate::jobs::write::Write;
use crate::runtime::{now, sleep};
use crate::upstream::client::{UpstreamResponse, send_upstream};
use crate::upstream::failure::{UpstreamFailure, mark_uncertain};
use crate::upstream::permits::MAX_WAITING;
use crate::upstream::request::UpstreamRequest;
use crate::upstream::snapshot::Snapshot;

/// With `Prefer: wait`, waits until the job changes. After a temporary failure, and while Mintlify
/// may not know a new job yet, returns the stored job, if any.
pub async fn read(context: &mut Context, resource: Resource) -> Result<HostResponse, Problem> {
    let job = context.job(resource)?;
    if let Some(seconds) = parse_preferred_wait(context.head.header("prefer")) {
        let response = long_poll(context, resource, &job, seconds).await?;
        // The record may have been deleted, or stored by another gateway.
        if response.problem != Some(ProblemKind::DeploymentNotFound) {
            return Ok(response);
        }
    }
    match fetch(context, resource, &job).await? {
        Ok(response) => Ok(response.into()),
        Err(failure) if failure.is_temporary() || failure.is_missing => {
            let stored = find_stored_job(context, resource, &job, &failure).await;
            let stored = stored.unwrap_or_else(|problem| {
                context.metrics.keep_operator_message(&problem);
                None
            });
            stored.ok_or(failure.problem)
        }
        Err(failure) => Err(failure.problem),
    }
}

/// Reads a job of the request's project, or a deployment. Without a project, the caller must compare
/// the deployment's own with the access token.
pub async fn fetch(
    context: &mut Context,
    resource: Resource,
    job: &JobId,
) -> Result<Result<GatewayResponse, UpstreamFailure>, Problem> {
    let (ids, id) = (context.ids(), job.as_str());
    let owner = match resource {
        Resource::Job => Some(context.project()?.clone()),
        Resource::Deployment => context.facts.project.clone(),
    };
    // The path of a deployment names no project either.
    let project = owner.clone().map_or_else(|| ProjectId::new("-"), Ok)?;
    let (operation, target) = resource.read_request(&project, id)?;
    let request = UpstreamRequest {
        operation,
        ids: &ids,
        target: &target,
        body: None,
    };
    let sent = send_upstream(&context.config.upstream, &request, &mut || true).await;
    let exchange = sent.read(&request, |UpstreamResponse { head, body }| {
        let owner = owner.as_ref().map(ProjectId::as_str);
        let job = match resource {
            Resource::Job => Snapshot::read_job(head.status, &body, Some(id)),
            Resource::Deployment => Snapshot::read_deployment(head.status, &body, id, owner),
        }?;
        let (headers, body) = (head.forwarded_headers(), Some(job.text));
        Some(GatewayResponse::new(job.http_status, headers, body))
    });
    context.metrics.upstream = Some(exchange.metrics);
    Ok(exchange.outcome)
}

async fn find_stored_job(
    context: &mut Context,
    resource: Resource,
    job: &JobId,
    failure: &UpstreamFailure,
) -> Result<Option<HostResponse>, Problem> {
    let project = context.project_stub(resource)?;
    let stored = if failure.is_missing {
        project.find_new_job(job.as_str()).await?
    } else {
        project.find_stored_job(job.as_str()).await?
    };
    let Some(data) = stored else {
        return Ok(None);
    };
    let upstream = context.metrics.upstream.as_ref();
    let cache = CacheStatus::UpstreamFailed {
        reason: FetchReason::Stale,
        status: upstream.and_then(|upstream| upstream.status),
        ttl: None,
    };
    let cache = cache.describe();
    let response = GatewayResponse::json(200, data);
    let response = response.with_header("cache-status", format!("quillgate; {cache}"));
    context.metrics.cache = Some(cache);
    Ok(Some(response.into()))
}

pub async fn write(context: &mut Context, operation: Operation) -> Result<HostResponse, Problem> {
    let call = context.read_call().await?;
    let (head, settings) = (&context.head, &context.config.jobs);
    let (project, caller) = (context.project()?, context.caller()?);
    let write = Write::read(operation, &call, project, head, caller, settings)?;
    let stub = context.project_stub(write.resource())?;
    let patience = match write.resource() {
        Resource::Job => 0,
        Resource::Deployment => parse_preferred_wait(head.header("prefer")).unwrap_or(0),
    };
    let deadline = now().plus(Millis::from_seconds(patience));
    let ids = context.ids();
    loop {
        let written = stub.write(&ids, &write).await;
        let (response, metrics) =
            written.map_err(|error| mark_uncertain(error.into(), Method::Post))?;
        let wait = wait_for_budget(&response).filter(|wait| *wait <= deadline.since(now()));
        if let (Some(wait), Some(_waiter)) = (wait, begin_waiting()) {
            sleep(wait).await;
            if !context.request.signal().aborted() {
                continue;
            }
        }
        context.metrics = metrics;
        return Ok(response.into());
    }
}

/// The time after which the gateway's own budget, which refused a write, has a free slot.
fn wait_for_budget(response: &GatewayResponse) -> Option<Millis> {
    let seconds = response.headers.get("retry-after")?.parse().ok()?;
    let is_spent = response.problem == Some(ProblemKind::QuotaExceeded);
    is_spent.then_some(Millis::from_seconds(seconds))
}

thread_local! {
    /// Each write that waits for the budget holds a clone.
    static WAITING: Rc<()> = Rc::default();
}

/// An isolate has at most [`MAX_WAITING`] waiting writes.
fn begin_waiting() -> Option<Rc<()>> {
    let has_room = |waiting: &Rc<()>| Rc::strong_count(waiting) <= MAX_WAITING;
    WAITING.with(|waiting| has_room(waiting).then(|| Rc::clone(waiting)))
}

pub async fn list(context: &Context, resource: Resource) -> Result<HostResponse, Problem> {
    let query = JobQuery::read(context.call()?, resource)?;
    let project = context.project_stub(resource)?;
    Ok(project.list(&context.ids(), &query).await?.into())
}

pub async fn read_record(context: &Context) -> Result<HostResponse, Problem> {
    let job = context.job(Resource::Job)?;
    let project = context.project_stub(Resource::Job)?;
    let record = project.read_record(&context.ids(), job.as_str()).await?;
    Ok(record.into())
}

pub async fn delete_record(context: &Context, resource: Resource) -> Result<HostResponse, Problem> {
    let job = context.job(resource)?;
    let project = context.project_stub(resource)?;
    if project.delete_record(job.as_str()).await? {
        Ok(GatewayResponse::empty(204).into())
    } else {
        Err(resource.not_recorded())
    }
}
