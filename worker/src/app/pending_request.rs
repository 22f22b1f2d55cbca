//! Requests whose handlers need I/O. A [`PendingRequest`] holds the host objects that the handler
//! needs.

use std::rc::Rc;

use web_sys::Request;
use worker::Env;
use worker::worker_sys::Context;

use crate::app::config::Config;
use crate::app::request_context::RequestContext;
use crate::http::content::MAX_BODY;
use crate::http::problem::Problem;
use crate::http::request_head::RequestHead;
use crate::jobs::project_stub::ProjectStub;
use crate::runtime::read_stream;
use crate::upstream::request::Call;

/// A planned request, with the host objects that the handler needs.
pub struct PendingRequest {
    pub context: RequestContext,
    pub head: Rc<RequestHead>,
    pub config: Rc<Config>,
    /// The Worker's bindings and variables.
    pub env: Env,
    /// The request as the Workers runtime passed it.
    pub request: Request,
    /// The execution context, for `waitUntil`.
    pub execution: Context,
}

impl PendingRequest {
    /// Returns the ids that calls to Durable Objects and requests to the upstream carry.
    ///
    /// # Errors
    /// Returns a 500 problem if the request has no project.
    pub fn call(&self) -> Result<Call, Problem> {
        Ok(Call {
            id: self.context.id.clone(),
            project: self.context.project()?.as_str().to_owned(),
            traceparent: self.context.trace.traceparent.clone(),
            tracestate: self.context.trace.tracestate.clone(),
        })
    }

    /// Returns the stub of the project's object.
    ///
    /// # Errors
    /// Returns a 500 problem if the request has no project, and 503 if the binding is missing.
    pub fn project_stub(&self) -> Result<ProjectStub, Problem> {
        let project = self.context.project()?;
        Ok(ProjectStub::new(&self.env, project.as_str())?)
    }

    /// Reads the body.
    ///
    /// # Errors
    /// Returns a 400 problem if the body cannot be read, and 413 if the body has more than
    /// [`MAX_BODY`] bytes.
    pub async fn read_body(&self) -> Result<Vec<u8>, Problem> {
        let body = read_stream(self.request.body(), MAX_BODY).await;
        let body =
            body.map_err(|_| Problem::malformed_body("the body did not arrive completely"))?;
        body.ok_or_else(|| Problem::content_too_large(MAX_BODY))
    }
}
