//! Which path leads where.

use std::sync::Arc;

use axum::routing::{get, post};
use axum::{Router, middleware};

use crate::operation::{CREATE_JOB, GET_JOB, LIST_VIEWS, SEND_MESSAGE};
use crate::platform::Platform;
use crate::refusal::Refusal;
use crate::{agent_job, control, page_views, reception};

pub(crate) fn router(platform: Arc<Platform>) -> Router {
    let reception = middleware::from_fn_with_state(Arc::clone(&platform), reception::receive);
    Router::new()
        .route(CREATE_JOB, post(agent_job::create))
        .route(GET_JOB, get(agent_job::get))
        .route(SEND_MESSAGE, post(agent_job::send_message))
        .route(LIST_VIEWS, get(page_views::list))
        .fallback(async || Refusal::NoSuchRoute)
        .method_not_allowed_fallback(async || Refusal::MethodNotAllowed)
        .layer(reception)
        .nest("/__control", control::router())
        .with_state(platform)
}
