//! Which path leads where.

use std::sync::Arc;

use axum::routing::{MethodRouter, get, post};
use axum::{Router, middleware};

use crate::operation::Operation;
use crate::platform::Platform;
use crate::refusal::Refusal;
use crate::{
    agent_job, control, conversations, feedback, page_views, reception, searches, visitors,
};

pub(crate) fn router(platform: Arc<Platform>) -> Router {
    let reception = middleware::from_fn_with_state(Arc::clone(&platform), reception::receive);
    let routes = Operation::ALL.into_iter().filter_map(|operation| {
        let (_, path) = operation.route()?;
        Some((path, handler(operation)?))
    });
    routes
        .fold(Router::new(), |router, (path, handler)| {
            router.route(path, handler)
        })
        .fallback(async || Refusal::NoSuchRoute)
        .method_not_allowed_fallback(async || Refusal::MethodNotAllowed)
        .layer(reception)
        .nest("/__control", control::router())
        .with_state(platform)
}

/// What answers the requests of an operation.
fn handler(operation: Operation) -> Option<MethodRouter<Arc<Platform>>> {
    let handler = match operation {
        Operation::CreateJob => post(agent_job::create),
        Operation::GetJob => get(agent_job::get),
        Operation::SendMessage => post(agent_job::send_message),
        Operation::ListViews => get(page_views::list),
        Operation::ListVisitors => get(visitors::list),
        Operation::ListFeedback => get(feedback::list),
        Operation::ListFeedbackByPage => get(feedback::list_by_page),
        Operation::ListSearches => get(searches::list),
        Operation::ListConversations => get(conversations::list),
        Operation::GetConversation => get(conversations::get),
        Operation::GetCallerStats => get(conversations::get_caller_stats),
        Operation::Other => return None,
    };
    Some(handler)
}
