use quillgate::{Endpoint as _, GetAgentJob, JobId, Method, Operation};

use crate::analytics::page::{CacheStatus, FetchReason};
use crate::app::context::Context;
use crate::app::handlers::HostResponse;
use crate::app::streams::long_poll;
use crate::http::problem::Problem;
use crate::http::response::GatewayResponse;
use crate::jobs::events::parse_preferred_wait;
use crate::jobs::records::JobQuery;
use crate::jobs::write::Write;
use crate::upstream::client::{UpstreamResponse, send_upstream};
use crate::upstream::failure::mark_uncertain;
use crate::upstream::job_snapshot::JobSnapshot;
use crate::upstream::request::UpstreamRequest;

/// With `Prefer: wait`, waits until the job changes. After a temporary failure, returns the stored
/// job, if any.
pub async fn read(context: &mut Context) -> Result<HostResponse, Problem> {
    let job = context.job()?;
    if let Some(seconds) = parse_preferred_wait(context.head.header("prefer")) {
        return long_poll(context, &job, seconds).await;
    }
    let ids = context.ids()?;
    let project = context.project()?;
    let request = UpstreamRequest {
        operation: Operation::GetAgentJob,
        ids: &ids,
        target: &GetAgentJob::new(job.clone()).request(project).target,
        body: None,
    };
    let sent = send_upstream(&context.config.upstream, &request, &mut || true).await;
    let exchange = sent.read(&request, |UpstreamResponse { head, body }| {
        Some((
            head.forwarded_headers(),
            JobSnapshot::read(head.status, &body, Some(job.as_str()))?,
        ))
    });
    context.metrics.upstream = Some(exchange.metrics);
    match exchange.outcome {
        Ok((headers, job)) => {
            Ok(GatewayResponse::new(job.http_status, headers, Some(job.text)).into())
        }
        Err(failure) if failure.is_temporary() => {
            let stored = find_stored_job(context, &job).await;
            stored.ok_or(failure.problem)
        }
        Err(failure) => Err(failure.problem),
    }
}

/// If the project's object fails, records the error for the log and returns `None`.
async fn find_stored_job(context: &mut Context, job: &JobId) -> Option<HostResponse> {
    let found = async {
        let project = context.project_stub()?;
        Ok::<_, Problem>(project.find_stored_job(job.as_str()).await?)
    };
    let data = match found.await {
        Ok(data) => data?,
        Err(problem) => {
            context.metrics.keep_operator_message(&problem);
            return None;
        }
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
    Some(response.into())
}

pub async fn write(context: &mut Context) -> Result<HostResponse, Problem> {
    let call = context.read_call().await?;
    let (head, settings) = (&context.head, &context.config.jobs);
    let write = Write::read(&call, context.project()?, head, context.caller()?, settings)?;
    let written = context.project_stub()?.write(&context.ids()?, &write).await;
    let (response, metrics) =
        written.map_err(|error| mark_uncertain(error.into(), Method::Post))?;
    context.metrics = metrics;
    Ok(response.into())
}

pub async fn list(context: &Context) -> Result<HostResponse, Problem> {
    let query = JobQuery::read(context.call()?)?;
    Ok(context
        .project_stub()?
        .list(&context.ids()?, &query)
        .await?
        .into())
}

pub async fn read_record(context: &Context) -> Result<HostResponse, Problem> {
    let job = context.job()?;
    let project = context.project_stub()?;
    Ok(project
        .read_record(&context.ids()?, job.as_str())
        .await?
        .into())
}

pub async fn delete_record(context: &Context) -> Result<HostResponse, Problem> {
    let job = context.job()?;
    let project = context.project_stub()?;
    Ok(project
        .delete_record(&context.head.id, job.as_str())
        .await?
        .into())
}
