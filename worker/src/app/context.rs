//! The context of a request: what its handler reads and records.

use std::rc::Rc;

use quillgate::parameters::ParameterGroup as _;
use quillgate::{Call, JobId, Millis, ProjectId};
use web_sys::Request;
use worker::Env;
use worker::worker_sys::Context as Execution;

use crate::app::admission::Facts;
use crate::app::config::Config;
use crate::auth::caller::Caller;
use crate::auth::session::cookie::{self, SessionId, find_cookie};
use crate::http::content::MAX_BODY;
use crate::http::problem::Problem;
use crate::http::request_head::RequestHead;
use crate::http::trace::{Trace, continue_trace};
use crate::jobs::project_stub::ProjectStub;
use crate::runtime::{plain_length, read_body};
use crate::upstream::metrics::RequestMetrics;
use crate::upstream::request::RequestIds;

/// A request, with everything that its handler needs.
pub struct Context {
    pub head: Rc<RequestHead>,
    pub config: Rc<Config>,
    /// The Worker's bindings and variables.
    pub env: Env,
    /// The request as the Workers runtime passed it.
    pub request: Request,
    /// For `waitUntil`.
    pub execution: Execution,
    /// When the request arrived.
    pub started: Millis,
    /// The facts that the admission of the request has established.
    pub facts: Facts,
    pub trace: Trace,
    /// The caller's open session, if any.
    pub session: Option<SessionId>,
    pub metrics: RequestMetrics,
}

impl Context {
    pub fn new(
        head: RequestHead,
        config: Rc<Config>,
        env: Env,
        request: Request,
        execution: Execution,
        started: Millis,
    ) -> Self {
        let (parent, state) = (head.header("traceparent"), head.header("tracestate"));
        Self {
            trace: continue_trace(parent, state, &head.uuid),
            head: Rc::new(head),
            config,
            env,
            request,
            execution,
            started,
            facts: Facts::default(),
            session: None,
            metrics: RequestMetrics::default(),
        }
    }

    pub fn is_head(&self) -> bool {
        self.head.method == "HEAD"
    }

    /// Returns the caller. This method and the next ones return a 500 problem if the admission has
    /// not established the value.
    pub fn caller(&self) -> Result<&Rc<Caller>, Problem> {
        self.facts.caller.as_ref().ok_or_else(Problem::internal)
    }

    pub fn project(&self) -> Result<&ProjectId, Problem> {
        self.facts.project.as_ref().ok_or_else(Problem::internal)
    }

    /// Returns the validated values of a request without a body.
    pub fn call(&self) -> Result<&Call, Problem> {
        self.facts.call.as_ref().ok_or_else(Problem::internal)
    }

    /// Returns the job in the path.
    pub fn job(&self) -> Result<JobId, Problem> {
        Ok(JobId::read(self.call()?)?)
    }

    /// Reads the body and returns it with the other values, validated.
    ///
    /// # Errors
    /// Returns the problems of [`Self::read_body`], and 400 for a value that breaks a rule.
    pub async fn read_call(&mut self) -> Result<Call, Problem> {
        let values = self.facts.values.take().ok_or_else(Problem::internal)?;
        values.parse_with_body(&self.read_body().await?)
    }

    /// Reads the body.
    ///
    /// # Errors
    /// Returns a 400 problem if the body cannot be read, and 413 if the body has more than
    /// [`MAX_BODY`] bytes.
    pub async fn read_body(&self) -> Result<Vec<u8>, Problem> {
        let length = plain_length(&self.head.headers);
        let body = read_body(&self.request, length, MAX_BODY).await;
        let body =
            body.map_err(|_| Problem::malformed_body("the body did not arrive completely"))?;
        body.ok_or_else(|| Problem::content_too_large(MAX_BODY))
    }

    /// Returns the session that the cookie names, even if the session has ended. Returns `None` if
    /// the cookie is missing or not genuine.
    pub fn cookie_session(&self) -> Option<SessionId> {
        let cookie = find_cookie(self.head.header("cookie"), cookie::NAME);
        SessionId::read(cookie, &self.config.auth.token_secrets)
    }

    /// Returns the ids that calls to Durable Objects and requests to the upstream carry.
    pub fn ids(&self) -> Result<RequestIds, Problem> {
        Ok(RequestIds {
            id: self.head.id.clone(),
            project: self.project()?.as_str().to_owned(),
            traceparent: self.trace.traceparent.clone(),
            tracestate: self.trace.tracestate.clone(),
        })
    }

    /// Returns the stub of the project's object.
    ///
    /// # Errors
    /// Returns a 503 problem if the binding is missing.
    pub fn project_stub(&self) -> Result<ProjectStub, Problem> {
        Ok(ProjectStub::new(&self.env, self.project()?.as_str())?)
    }
}
