//! Which path leads where.

use std::sync::Arc;

use axum::routing::{MethodFilter, MethodRouter, on};
use axum::{Router, middleware};
use quillgate::{Method, Operation};

use crate::platform::Platform;
use crate::refusal::Refusal;
use crate::{
    agent_job, control, conversations, feedback, page_views, reception, searches, visitors,
};

pub(crate) fn router(platform: Arc<Platform>) -> Router {
    let reception = middleware::from_fn_with_state(Arc::clone(&platform), reception::receive);
    let routes = Operation::ALL.iter().filter_map(|operation| {
        let path = operation.declaration().path;
        Some((path, handler(*operation)?))
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

/// What answers the requests of an operation; `None` for one that only a gateway has.
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
        Operation::ListPageViews => on(method, page_views::list),
        Operation::ListVisitors => on(method, visitors::list),
        Operation::ListFeedback => on(method, feedback::list),
        Operation::GetFeedbackByPage => on(method, feedback::list_by_page),
        Operation::ListSearches => on(method, searches::list),
        Operation::ListConversations => on(method, conversations::list),
        Operation::GetConversation => on(method, conversations::get),
        Operation::GetCallerStats => on(method, conversations::get_caller_stats),
        _ => return None,
    };
    Some(handler)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operation::is_of_platform;

    #[test]
    fn every_operation_of_the_platform_has_a_handler_and_no_other_has() {
        for operation in Operation::ALL.iter().copied() {
            let name = operation.declaration().name;
            let has_handler = handler(operation).is_some();
            assert_eq!(has_handler, is_of_platform(operation), "{name}");
        }
    }
}
