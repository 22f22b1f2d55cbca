//! Handlers for agent jobs and their records. The handlers read jobs from the upstream, and pass
//! writes and requests for records to the project's object.

use quillgate::{Endpoint as _, GetAgentJob, JobId, Method, Operation};

use crate::analytics::page::{CacheStatus, FetchReason};
use crate::app::pending_request::PendingRequest;
use crate::app::reply::Reply;
use crate::app::write_plan::plan_write;
use crate::http::content::RequestValues;
use crate::http::problem::Problem;
use crate::jobs::records::JobQuery;
use crate::upstream::client::{UpstreamResponse, send_upstream};
use crate::upstream::failure::mark_uncertain;
use crate::upstream::job_snapshot::JobSnapshot;
use crate::upstream::request::UpstreamRequest;

/// Reads a job from the upstream. After a temporary failure, returns the stored job. If no job is
/// stored, or after another failure, returns the problem.
pub async fn read(pending: &mut PendingRequest, job: &JobId) -> Result<Reply, Problem> {
    let call = pending.call()?;
    let project = pending.context.project()?;
    let request = UpstreamRequest {
        operation: Operation::GetAgentJob,
        call: &call,
        target: &GetAgentJob::new(job.clone()).request(project).target,
        body: None,
    };
    let sent = send_upstream(&pending.config.upstream, &request, &mut || true).await;
    let exchange = sent.read(&request, |UpstreamResponse { head, body }| {
        Some((
            head.forwarded_headers(),
            JobSnapshot::read(head.status, &body, Some(job.as_str()))?,
        ))
    });
    pending.context.metrics.upstream = Some(exchange.metrics);
    match exchange.outcome {
        Ok((headers, job)) => Ok(Reply::new(job.http_status, headers, job.text)),
        Err(failure) if failure.is_temporary() => {
            let stored = find_stored_job(pending, job).await;
            stored.ok_or(failure.problem)
        }
        Err(failure) => Err(failure.problem),
    }
}

/// Finds the stored state of a job. Returns `None` if the job is not stored. If the project's
/// object fails, records the error for the log and returns `None`.
async fn find_stored_job(pending: &mut PendingRequest, job: &JobId) -> Option<Reply> {
    let found = async {
        let project = pending.project_stub()?;
        Ok::<_, Problem>(project.find_stored_job(job.as_str()).await?)
    };
    let data = match found.await {
        Ok(data) => data?,
        Err(problem) => {
            pending.context.metrics.keep_operator_message(&problem);
            return None;
        }
    };
    let upstream = pending.context.metrics.upstream.as_ref();
    let cache = CacheStatus::UpstreamFailed {
        reason: FetchReason::Stale,
        status: upstream.and_then(|upstream| upstream.status),
        ttl: None,
    };
    let cache = cache.describe();
    let reply = Reply::json(200, &data).with_header("cache-status", format!("quillgate; {cache}"));
    pending.context.metrics.cache = Some(cache);
    Some(reply)
}

/// Creates a job, or sends a message to a job.
pub async fn write(pending: &mut PendingRequest, values: RequestValues) -> Result<Reply, Problem> {
    let body = pending.read_body().await?;
    let (config, head) = (&pending.config, &pending.head);
    let caller = pending.context.caller()?;
    let write = plan_write(config, head, caller, values, &body)?;
    let call = pending.call()?;
    let written = pending.project_stub()?.write(&call, &write).await;
    let reply = written.map_err(|error| mark_uncertain(error.into(), Method::Post))?;
    pending.context.metrics = reply.metrics;
    Ok(reply.response.into())
}

pub async fn list(pending: &mut PendingRequest, query: &JobQuery) -> Result<Reply, Problem> {
    let call = pending.call()?;
    Ok(pending.project_stub()?.list(&call, query).await?.into())
}

pub async fn read_record(pending: &mut PendingRequest, job: &JobId) -> Result<Reply, Problem> {
    let call = pending.call()?;
    let project = pending.project_stub()?;
    Ok(project.read_record(&call, job.as_str()).await?.into())
}

pub async fn delete_record(pending: &mut PendingRequest, job: &JobId) -> Result<Reply, Problem> {
    let id = &pending.context.id;
    let project = pending.project_stub()?;
    Ok(project.delete_record(id, job.as_str()).await?.into())
}
