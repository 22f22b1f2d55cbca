//! The gateway's own routes. The router finds the route of a path and plans the first step of its
//! requests. The crate `quillgate` declares all other routes as operations.

use quillgate::{Operation, RateLimitPolicy};

use super::{HEALTH, PendingStep, Router, Step, Target, answer_other_method};
use crate::app::action::Action;
use crate::app::write_plan::check_announced_body;
use crate::auth::missing_session_problem;
use crate::auth::session::cookie::{Cookie, SessionId};
use crate::auth::session::cross_site::check_same_origin;
use crate::auth::session::describe_methods;
use crate::auth::session::sign_in::{CALLBACK, START};
use crate::http::content::RequestValues;
use crate::http::problem::Problem;
use crate::http::response::GatewayResponse;
use crate::http::route::{PathSegments, match_path};

/// One of the gateway's own routes, with the values of the path.
pub(super) enum OwnRoute {
    Health,
    Description,
    BlockedPolicy(RateLimitPolicy),
    Session,
    SignInMethods,
    SignInStart,
    SignInCallback,
    /// The state of a job's pull request. The route has the scope, the budget and the parameters of
    /// `Operation::GetAgentJobRecord`.
    PullRequest(Result<RequestValues, Problem>),
}

/// Creates a route from the values of a path. Returns `None` if a value is unknown, such as the
/// name of a policy.
type FromPath = fn(PathSegments<'_>) -> Option<OwnRoute>;

const READ: &[&str] = &["GET", "HEAD"];
const ALL: &[&str] = &["GET", "HEAD", "POST", "DELETE"];

/// The pattern and the methods of each route. Each route also supports `OPTIONS`.
const ROUTES: [(&str, &[&str], FromPath); 8] = [
    (HEALTH, READ, |_| Some(OwnRoute::Health)),
    ("/openapi.json", READ, |_| Some(OwnRoute::Description)),
    ("/healthz/closures/{policy}", &["DELETE"], |path| {
        find_policy(&path).map(OwnRoute::BlockedPolicy)
    }),
    ("/session", ALL, |_| Some(OwnRoute::Session)),
    ("/session/methods", READ, |_| Some(OwnRoute::SignInMethods)),
    (START, &["GET"], |_| Some(OwnRoute::SignInStart)),
    (CALLBACK, &["GET"], |_| Some(OwnRoute::SignInCallback)),
    (PULL_REQUEST, READ, |path| {
        let values = RequestValues::from_path(Operation::GetAgentJobRecord, path);
        Some(OwnRoute::PullRequest(values))
    }),
];
const PULL_REQUEST: &str = "/v2/agent/{projectId}/job/{id}/pull-request";

/// Finds the policy in a path. Returns `None` for an unknown name, and for reads of jobs, because a
/// 429 does not block that policy.
fn find_policy(path: &[(&str, &str)]) -> Option<RateLimitPolicy> {
    let (_, name) = path.first()?;
    RateLimitPolicy::from_name(name).filter(|policy| *policy != RateLimitPolicy::ReadJobs)
}

/// A route with its pattern and its methods.
pub(super) type FoundRoute = (OwnRoute, &'static str, &'static [&'static str]);

/// Finds the route of a path. Returns `None` for all other paths, which can be paths of operations.
pub(super) fn find(path: &str) -> Option<FoundRoute> {
    ROUTES.iter().find_map(|(pattern, methods, from_path)| {
        Some((from_path(match_path(pattern, path)?)?, *pattern, *methods))
    })
}

impl Router<'_> {
    pub(super) fn plan_own_route(
        &mut self,
        (route, pattern, methods): FoundRoute,
    ) -> Result<Step, Problem> {
        let method = &*self.head.method;
        let is_supported = methods.contains(&method);
        // For `OPTIONS` and unsupported methods of these two paths, the log omits the route.
        if is_supported || !matches!(route, OwnRoute::Health | OwnRoute::Description) {
            self.facts.route = Some(pattern);
        }
        if !is_supported {
            return answer_other_method(method, methods);
        }
        let action = match (route, method) {
            (OwnRoute::Health, _) => return self.plan_for_caller(Target::Health),
            (OwnRoute::BlockedPolicy(policy), _) => {
                return self.plan_for_caller(Target::Reopening(policy));
            }
            (OwnRoute::PullRequest(values), _) => {
                return self.plan_for_caller(Target::PullRequest(values));
            }
            (OwnRoute::SignInMethods, _) => {
                let mut response = GatewayResponse::json(200, describe_methods(&self.config.auth));
                response.headers.set("cache-control", "public, max-age=60");
                return Ok(Step::Respond(response));
            }
            (OwnRoute::Description, _) => Action::Describe,
            (OwnRoute::SignInCallback, _) => Action::ConcludeSignIn,
            (OwnRoute::SignInStart, _) => Action::BeginSignIn(self.find_own_session()?),
            (OwnRoute::Session, "DELETE") => Action::EndSession(self.find_own_session()?),
            (OwnRoute::Session, "POST") => {
                let session = self.find_own_session()?;
                check_announced_body(self.head)?;
                Action::OpenSession(session)
            }
            (OwnRoute::Session, _) => {
                let credentials = &self.credentials;
                if credentials.authorization.is_some() || credentials.session == Cookie::Missing {
                    return Err(missing_session_problem());
                }
                return self.plan_for_caller(Target::Session);
            }
        };
        Ok(Step::Begin(PendingStep::Run(action)))
    }

    /// Returns the session that the cookie names, even if the session has ended. Returns `None` if
    /// the cookie is missing or not genuine.
    ///
    /// # Errors
    /// Returns the 403 problem of [`check_same_origin`] if another page may have sent the request.
    fn find_own_session(&self) -> Result<Option<SessionId>, Problem> {
        check_same_origin(self.head)?;
        let secrets = &self.config.auth.token_secrets;
        Ok(SessionId::read(self.credentials.session, secrets))
    }
}
