mod admin;
mod analytics;
mod archive;
mod deployments;
mod export;
mod jobs;
mod pull_requests;
mod sessions;
mod sign_in;
pub(crate) mod streams;

use std::pin::Pin;

use quillgate::Operation;
use wasm_bindgen::JsValue;

use crate::app::context::Context;
use crate::app::isolate::description;
use crate::app::routes::Endpoint;
use crate::auth::session::describe_methods;
use crate::http::problem::Problem;
use crate::http::response::{GatewayResponse, HeaderFields, JSON};
use crate::jobs::resource::Resource;

/// The body is a JavaScript string, a `ReadableStream` or `null`.
pub type HostResponse = GatewayResponse<JsValue>;

impl From<GatewayResponse> for HostResponse {
    fn from(response: GatewayResponse) -> Self {
        let body = response.body.as_deref();
        Self {
            status: response.status,
            headers: response.headers,
            body: body.map_or(JsValue::NULL, JsValue::from_str),
            problem: response.problem,
        }
    }
}

/// Without boxes, the futures of all handlers would form a single wasm function of 35 kB, which V8
/// compiles at the first request.
type Pending<'a> = Pin<Box<dyn Future<Output = Result<HostResponse, Problem>> + 'a>>;

pub fn call_handler(endpoint: Endpoint, context: &mut Context) -> Pending<'_> {
    match endpoint {
        Endpoint::Liveness => Box::pin(async { Ok(report_liveness()) }),
        Endpoint::Health => Box::pin(admin::read_health(context)),
        Endpoint::LiftBlock => Box::pin(admin::lift_block(context)),
        Endpoint::Description => Box::pin(async { Ok(describe()) }),
        Endpoint::ReadSession => Box::pin(async { sessions::read(context) }),
        Endpoint::OpenSession => Box::pin(sessions::open(context)),
        Endpoint::EndSession => Box::pin(sessions::end(context)),
        Endpoint::SignInMethods => Box::pin(async { Ok(list_sign_in_methods(context)) }),
        Endpoint::BeginSignIn => Box::pin(async { sign_in::begin(context) }),
        Endpoint::ConcludeSignIn => Box::pin(sign_in::conclude(context)),
        Endpoint::PullRequest => Box::pin(pull_requests::read(context)),
        Endpoint::Operation(operation) => match operation {
            Operation::CreateAgentJob
            | Operation::SendMessage
            | Operation::CreateDeployment
            | Operation::CreatePreview
            | Operation::RunAutomation => Box::pin(jobs::write(context, operation)),
            Operation::GetAgentJob => Box::pin(jobs::read(context, Resource::Job)),
            Operation::GetDeployment => Box::pin(deployments::read(context)),
            Operation::ListAgentJobs | Operation::ListDeployments => {
                Box::pin(jobs::list(context, Resource::of(operation)))
            }
            Operation::GetAgentJobRecord => Box::pin(jobs::read_record(context)),
            Operation::DeleteAgentJobRecord | Operation::DeleteDeploymentRecord => {
                Box::pin(jobs::delete_record(context, Resource::of(operation)))
            }
            Operation::StreamAgentJobEvents
            | Operation::StreamDeploymentEvents
            | Operation::StreamProjectJobEvents
            | Operation::StreamProjectDeploymentEvents => {
                Box::pin(streams::stream_events(context, operation))
            }
            Operation::ListDailyViews => Box::pin(archive::read_series(context)),
            Operation::ListArchivedViews => Box::pin(archive::list_views(context)),
            Operation::GetArchiveStatus => Box::pin(archive::read_status(context)),
            Operation::EstimateBackfill => Box::pin(archive::estimate_backfill(context)),
            Operation::BeginBackfill => Box::pin(archive::begin_backfill(context)),
            Operation::ListPageViews
            | Operation::ListVisitors
            | Operation::GetCallerStats
            | Operation::GetConversation
            | Operation::ListConversations
            | Operation::ListSearches
            | Operation::GetFeedbackByPage
            | Operation::ListFeedback => Box::pin(analytics::read_report(context, operation)),
            Operation::ExportPageViews
            | Operation::ExportVisitors
            | Operation::ExportFeedback
            | Operation::ExportSearches
            | Operation::ExportConversations => {
                Box::pin(analytics::export_report(context, operation))
            }
        },
    }
}

pub fn report_liveness() -> HostResponse {
    GatewayResponse::json(200, r#"{"status":"ok"}"#).into()
}

fn describe() -> HostResponse {
    let headers = HeaderFields::default().with("content-type", JSON);
    let body = description().map_or(JsValue::NULL, JsValue::from);
    HostResponse::new(200, headers, body)
}

fn list_sign_in_methods(context: &Context) -> HostResponse {
    let response = GatewayResponse::json(200, describe_methods(&context.config.auth));
    response
        .with_header("cache-control", "public, max-age=60")
        .into()
}
