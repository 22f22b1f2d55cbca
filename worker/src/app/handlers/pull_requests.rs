//! Concurrent requests for the same state share a fetch.

use std::cell::RefCell;

use quillgate::Millis;
use worker::worker_sys::Context as Execution;

use crate::app::context::Context;
use crate::app::handlers::HostResponse;
use crate::http::problem::Problem;
use crate::http::response::GatewayResponse;
use crate::jobs::pull_request::pull_request_settings::PullRequestSettings;
use crate::jobs::pull_request::{GitHubFailure, PullRequest, PullRequestCache, PullRequestStatus};
use crate::jobs::resource::Resource;
use crate::json;
use crate::runtime::{HostResult, log_for_operator, now, share_fetch};
use crate::upstream::transport::{Caching, Outgoing, send};

const TIMEOUT: Millis = Millis::from_seconds(5);
/// In bytes. A larger response counts as a failure.
const MAX_RESPONSE_BYTES: usize = 1024 * 1024;

thread_local! {
    static CACHE: RefCell<PullRequestCache> = RefCell::default();
}

/// The state is unknown if GitHub is not configured, or if the job has no pull request on
/// github.com.
pub async fn read(context: &Context) -> Result<HostResponse, Problem> {
    let job = context.job(Resource::Job)?;
    let mut status = PullRequestStatus::UNKNOWN;
    if let Some(settings) = &context.config.pull_requests {
        let project = context.project_stub(Resource::Job)?;
        let stored = project.find_stored_job(job.as_str()).await?;
        let stored = stored.ok_or_else(Problem::job_not_recorded)?;
        if let Some(request) = PullRequest::of_job(&stored) {
            status = find_status(&context.execution, settings, &request).await?;
        }
    }
    Ok(GatewayResponse::json(200, json::to_text(&status)).into())
}

async fn find_status(
    execution: &Execution,
    settings: &PullRequestSettings,
    request: &PullRequest,
) -> HostResult<PullRequestStatus> {
    let find = || CACHE.with_borrow(|cache| cache.find(request, now()));
    if let Some(status) = find() {
        return Ok(status);
    }
    let (settings, fetched) = (settings.clone(), request.clone());
    let fetch = Box::pin(async move {
        let result = fetch_status(&settings, &fetched).await;
        CACHE.with_borrow_mut(|cache| cache.conclude(&fetched, result, now()));
    });
    share_fetch(execution, request.target(), fetch).await?;
    Ok(find().unwrap_or(PullRequestStatus::UNKNOWN))
}

/// Logs a failure that the operator may be able to fix.
async fn fetch_status(
    settings: &PullRequestSettings,
    request: &PullRequest,
) -> Result<PullRequestStatus, GitHubFailure> {
    let url = settings.base_url.join(&request.target());
    let sent = send(Outgoing {
        method: "GET",
        url: &url,
        headers: settings.headers(),
        body: None,
        caching: Caching::Bypass,
        time: TIMEOUT,
    });
    let message = sent.await.map_err(|_| GitHubFailure::Failed)?;
    let body = message.body.read(MAX_RESPONSE_BYTES).await;
    let body = body.unwrap_or_default();
    if let Some(failure) = GitHubFailure::of_response(&message.head, &body, now()) {
        if let Some(line) = failure.describe() {
            log_for_operator(&line);
        }
        return Err(failure);
    }
    PullRequestStatus::read(&body).ok_or(GitHubFailure::Failed)
}
