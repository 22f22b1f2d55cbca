//! The routes of the API and of the control API.

use std::sync::Arc;

use axum::routing::{MethodFilter, MethodRouter, on};
use axum::{Router, middleware};
use quillgate::{Method, Operation};

use crate::analytics::ReportRequest;
use crate::api_error::ApiError;
use crate::platform::Platform;
use crate::{agent_job, automation, control, deployment, interceptor, reports};

pub(crate) fn router(platform: Arc<Platform>) -> Router {
    let interceptor = middleware::from_fn_with_state(Arc::clone(&platform), interceptor::intercept);
    let routes = Operation::ALL.iter().filter_map(|operation| {
        let path = operation.declaration().path;
        Some((path, handler(*operation)?))
    });
    routes
        .fold(Router::new(), |router, (path, handler)| {
            router.route(path, handler)
        })
        .fallback(async || ApiError::NoSuchRoute)
        .method_not_allowed_fallback(async || ApiError::MethodNotAllowed)
        .layer(interceptor)
        .nest("/__control", control::router())
        .with_state(platform)
}

/// The handler of an operation, or `None` for an operation that only a gateway has.
fn handler(operation: Operation) -> Option<MethodRouter<Arc<Platform>>> {
    let method = match operation.declaration().method {
        Method::Get => MethodFilter::GET,
        Method::Post => MethodFilter::POST,
        Method::Delete => MethodFilter::DELETE,
    };
    let handler = match operation {
        Operation::CreateAgentJob => on(method, agent_job::create),
        Operation::GetAgentJob => on(method, agent_job::get),
        Operation::SendMessage => on(method, agent_job::send_message),
        Operation::CreateDeployment => on(method, deployment::create),
        Operation::GetDeployment => on(method, deployment::get),
        Operation::CreatePreview => on(method, deployment::create_preview),
        Operation::RunAutomation => on(method, automation::run),
        Operation::GetConversation => on(method, reports::get_conversation),
        Operation::GetCallerStats => on(method, reports::get_caller_stats),
        Operation::ListPageViews
        | Operation::ListVisitors
        | Operation::ListFeedback
        | Operation::GetFeedbackByPage
        | Operation::ListSearches
        | Operation::ListConversations => on(method, async move |request: ReportRequest| {
            reports::list(operation, &request)
        }),
        _ => return None,
    };
    Some(handler)
}
