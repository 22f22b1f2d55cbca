//! Plans requests that open, read or end a session, and requests of a sign-in.

use super::identity::Target;
use super::{Planner, Step};
use crate::app::action::Action;
use crate::app::config::Config;
use crate::app::write_plan::check_announced_body;
use crate::auth::caller::Caller;
use crate::auth::missing_session_problem;
use crate::auth::session::cookie::Cookie;
use crate::auth::session::cross_site::check_same_origin;
use crate::auth::session::sign_in::{CALLBACK, START};
use crate::auth::session::{describe, describe_methods};
use crate::http::problem::Problem;
use crate::http::response::GatewayResponse;

/// The path of the ways to open a session.
pub(super) const METHODS: &str = "/session/methods";

impl Planner<'_> {
    /// Finds the first step of a request for a session or a sign-in.
    pub(super) fn find_session_step(&self, template: &str) -> Result<Step, Problem> {
        let method = &*self.head.method;
        let action = match (template, method) {
            (METHODS, _) => return Ok(Step::Act(self.plan_methods())),
            (CALLBACK, _) => return Ok(Step::Act(Action::ConcludeSignIn)),
            (START, _) => Action::BeginSignIn,
            (_, "POST") => Action::OpenSession,
            (_, "DELETE") => Action::EndSession,
            _ if self.credentials.session == Cookie::Missing => {
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

    /// Plans a request for the ways to open a session.
    fn plan_methods(&self) -> Action {
        let response = GatewayResponse::json(200, describe_methods(&self.config.auth));
        let cache_control = "public, max-age=60";
        let headers = response.headers.with("cache-control", cache_control);
        Action::Respond(GatewayResponse {
            headers,
            ..response
        })
    }

    /// Plans a request for the caller's session.
    pub(super) fn plan_session(&self, caller: &Caller) -> Action {
        Action::Respond(GatewayResponse::json(
            200,
            describe_session(caller, self.config),
        ))
    }
}

/// Describes the session of a caller as JSON.
pub fn describe_session(caller: &Caller, config: &Config) -> String {
    let archive = &config.analytics.archive;
    describe(caller, config.jobs.keep_prompts, |project| {
        archive.includes(project)
    })
}
