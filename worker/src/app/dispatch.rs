//! The dispatch of planned requests. [`run`] identifies the caller if necessary, counts reads of
//! jobs, and calls the handler of the planned action.

use std::pin::Pin;

use quillgate::RateLimitPolicy;
use wasm_bindgen::JsValue;
use web_sys::Response;

use crate::app::action::Action;
use crate::app::identity::identify;
use crate::app::isolate::description;
use crate::app::pending_request::PendingRequest;
use crate::app::plan::{PendingStep, Planner};
use crate::app::reply::Reply;
use crate::app::request_context::reserve_read;
use crate::app::{admin, analytics, archive, jobs, pull_requests, sessions, sign_in, streams};
use crate::http::problem::Problem;
use crate::jobs::events::parse_preferred_wait;

/// The boxed future of one handler.
///
/// Without the boxes, the futures of all handlers would form a single wasm function of 35 kB. V8
/// compiles a wasm function at its first call, so the first request that needs I/O would wait for
/// the compilation.
type PendingReply<'a> = Pin<Box<dyn Future<Output = Result<Reply, Problem>> + 'a>>;

/// Runs a request from its first step and returns the response.
pub async fn run(mut pending: PendingRequest, step: PendingStep) -> Response {
    let reply = match dispatch(&mut pending, step).await {
        Ok(reply) => reply,
        Err(problem) => pending.context.refuse(&problem),
    };
    pending.context.finish(&pending.env, reply)
}

async fn dispatch(pending: &mut PendingRequest, step: PendingStep) -> Result<Reply, Problem> {
    let action = match step {
        PendingStep::Run(action) => action,
        PendingStep::Identify(target, identity) => {
            let caller = identify(pending, &target, identity).await?;
            let (context, head) = (&mut pending.context, &pending.head);
            let planner = Planner {
                config: &pending.config,
                head,
                now: context.started,
                caller,
                facts: &mut context.facts,
            };
            match planner.plan(target)? {
                Action::ReadReport(query) => {
                    match analytics::read_cached_report(context, head, query) {
                        Ok(reply) => return Ok(reply),
                        Err(action) => action,
                    }
                }
                action => action,
            }
        }
    };
    // Reads of jobs are limited, because most can cause requests to Mintlify or GitHub.
    if pending.context.facts.policy == Some(RateLimitPolicy::ReadJobs) {
        let (caller, project) = (pending.context.caller()?, pending.context.project()?);
        pending.context.budget = reserve_read(caller, project, &pending.config)?;
    }
    let reply: PendingReply<'_> = match action {
        Action::ReadReport(query) => Box::pin(analytics::read_report(pending, query)),
        Action::ExportReport(export) => Box::pin(analytics::export_report(pending, *export)),
        Action::ReadJob(ref job) => match parse_preferred_wait(pending.head.header("prefer")) {
            Some(seconds) => Box::pin(streams::long_poll(pending, job, seconds)),
            None => Box::pin(jobs::read(pending, job)),
        },
        Action::Write(values) => Box::pin(jobs::write(pending, values)),
        Action::ListJobs(ref query) => Box::pin(jobs::list(pending, query)),
        Action::StreamEvents(ref job) => Box::pin(streams::stream_events(pending, job.as_ref())),
        Action::ReadRecord(ref job) => Box::pin(jobs::read_record(pending, job)),
        Action::ReadPullRequest(ref job) => Box::pin(pull_requests::read(pending, job)),
        Action::DeleteRecord(ref job) => Box::pin(jobs::delete_record(pending, job)),
        Action::ReadSeries(ref query) => Box::pin(archive::read_series(pending, query)),
        Action::ListArchivedViews(ref query) => Box::pin(archive::list_views(pending, query)),
        Action::ReadArchiveStatus => Box::pin(archive::read_status(pending)),
        Action::EstimateBackfill(from) => Box::pin(archive::estimate_backfill(pending, from)),
        Action::BeginBackfill(values) => Box::pin(archive::begin_backfill(pending, values)),
        Action::AnswerHealth => Box::pin(admin::read_health(pending)),
        Action::Reopen(policy) => Box::pin(admin::reopen(pending, policy)),
        Action::Describe => {
            let body = description().map_or(JsValue::NULL, JsValue::from);
            return Ok(Reply::json(200, body));
        }
        Action::ReadSession => return sessions::read(pending),
        Action::OpenSession(before) => Box::pin(sessions::open(pending, before)),
        Action::EndSession(session) => Box::pin(sessions::end(pending, session)),
        Action::BeginSignIn(before) => return sign_in::begin(pending, before.as_ref()),
        Action::ConcludeSignIn => Box::pin(sign_in::conclude(pending)),
    };
    reply.await
}
