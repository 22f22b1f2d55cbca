use std::rc::Rc;

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
use crate::jobs::project_stub::ProjectStub;
use crate::jobs::resource::Resource;
use crate::runtime::read_stream;
use crate::upstream::metrics::RequestMetrics;
use crate::upstream::request::RequestIds;

pub struct Context {
    pub head: Rc<RequestHead>,
    pub config: Rc<Config>,
    pub env: Env,
    pub request: Request,
    /// For `waitUntil`.
    pub execution: Execution,
    pub started: Millis,
    pub facts: Facts,
    pub session: Option<SessionId>,
    pub metrics: RequestMetrics,
}

impl Context {
    pub fn is_head(&self) -> bool {
        self.head.method == "HEAD"
    }

    /// Like the next methods, returns a 500 problem if the admission has not established the value.
    pub fn caller(&self) -> Result<&Rc<Caller>, Problem> {
        self.facts.caller.as_ref().ok_or_else(Problem::internal)
    }

    pub fn project(&self) -> Result<&ProjectId, Problem> {
        self.facts.project.as_ref().ok_or_else(Problem::internal)
    }

    pub fn call(&self) -> Result<&Call, Problem> {
        self.facts.call.as_ref().ok_or_else(Problem::internal)
    }

    /// The id in the path.
    pub fn job(&self, resource: Resource) -> Result<JobId, Problem> {
        let name = match resource {
            Resource::Job => "id",
            Resource::Deployment => "statusId",
        };
        let id = self.call()?.text(name).ok_or_else(Problem::internal)?;
        Ok(JobId::new(id)?)
    }

    /// The body and the other values, validated.
    pub async fn read_call(&mut self) -> Result<Call, Problem> {
        let values = self.facts.values.take().ok_or_else(Problem::internal)?;
        values.parse_with_body(&self.read_body().await?)
    }

    pub async fn read_body(&self) -> Result<Vec<u8>, Problem> {
        // A chunked body can be longer than a `Content-Length` beside it.
        let body = read_stream(self.request.body(), MAX_BODY).await;
        let body =
            body.map_err(|_| Problem::malformed_body("the body did not arrive completely"))?;
        body.ok_or_else(|| Problem::content_too_large(MAX_BODY))
    }

    /// The session may have ended. Returns `None` if the cookie is missing or not genuine.
    pub fn cookie_session(&self) -> Option<SessionId> {
        let cookie = find_cookie(self.head.header("cookie"), cookie::NAME);
        SessionId::read(cookie, &self.config.auth.token_secrets)
    }

    /// Without a project, the project's id is empty.
    pub fn ids(&self) -> RequestIds {
        let project = self.facts.project.as_ref();
        RequestIds {
            id: self.head.id.clone(),
            project: project.map_or("", ProjectId::as_str).to_owned(),
            traceparent: self.head.trace.traceparent.clone(),
            tracestate: self.head.trace.tracestate.clone(),
        }
    }

    pub fn project_stub(&self, resource: Resource) -> Result<ProjectStub, Problem> {
        let project = self.project()?.as_str();
        Ok(ProjectStub::new(&self.env, project, resource)?)
    }
}
