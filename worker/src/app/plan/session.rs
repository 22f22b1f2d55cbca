//! Plans requests that open, read or end a session, and requests of a sign-in.

use super::{Planner, Router, Step, Target};
use crate::app::action::Action;
use crate::app::config::Config;
use crate::app::write_plan::check_announced_body;
use crate::auth::caller::Caller;
use crate::auth::missing_session_problem;
use crate::auth::session::cookie::{Cookie, SessionId};
use crate::auth::session::cross_site::check_same_origin;
use crate::auth::session::sign_in::{CALLBACK, START};
use crate::auth::session::{describe, describe_methods};
use crate::http::problem::Problem;
use crate::http::response::GatewayResponse;

/// The path of the resource that lists the ways to open a session.
pub(super) const METHODS: &str = "/session/methods";

impl Router<'_> {
    /// Finds the first step of a request for a session or a sign-in.
    pub(super) fn find_session_step(&self, template: &str) -> Result<Step, Problem> {
        let method = &*self.head.method;
        let action = match (template, method) {
            (METHODS, _) => return Ok(Step::Act(self.plan_methods())),
            (CALLBACK, _) => return Ok(Step::Act(Action::ConcludeSignIn)),
            (START, _) => Action::BeginSignIn(self.find_session()),
            (_, "POST") => Action::OpenSession(self.find_session()),
            (_, "DELETE") => Action::EndSession(self.find_session()),
            _ if self.credentials.authorization.is_some()
                || self.credentials.session == Cookie::Missing =>
            {
                return Err(missing_session_problem());
            }
            _ => return Ok(Step::Identify(Target::Session)),
        };
        check_same_origin(self.head)?;
        if method == "POST" {
            check_announced_body(self.head)?;
        }
        Ok(Step::Act(action))
    }

    fn plan_methods(&self) -> Action {
        let response = GatewayResponse::json(200, describe_methods(&self.config.auth));
        let cache_control = "public, max-age=60";
        let headers = response.headers.with("cache-control", cache_control);
        Action::Respond(GatewayResponse {
            headers,
            ..response
        })
    }

    /// Returns the session that the cookie names, even if the session has ended.
    fn find_session(&self) -> Option<SessionId> {
        SessionId::read(self.credentials.session, &self.config.auth.token_secrets)
    }
}

impl Planner<'_> {
    pub(super) fn plan_session(&self) -> Action {
        let session = describe_session(self.caller, self.config);
        Action::Respond(GatewayResponse::json(200, session))
    }
}

/// Describes the session of a caller as JSON.
pub fn describe_session(caller: &Caller, config: &Config) -> String {
    let archive = &config.analytics.archive;
    describe(caller, config.jobs.keep_prompts, |project| {
        archive.includes(project)
    })
}
