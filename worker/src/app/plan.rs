//! The plan of a request, made from its head without I/O.

mod admin;
mod identity;
mod operation;
mod pull_request;
mod session;

pub use identity::{CallerPlan, PendingPlan};
pub use session::describe_session;

use std::rc::Rc;

use quillgate::{Millis, ProjectId};

use crate::app::action::Action;
use crate::app::config::Config;
use crate::app::plan::admin::{BLOCKED_POLICIES, LIVENESS, is_deep};
use crate::app::plan::identity::{Target, find_credentials};
use crate::app::plan::pull_request::PULL_REQUEST;
use crate::auth::caller::Caller;
use crate::auth::session::SESSION;
use crate::auth::session::cookie::Cookie;
use crate::auth::session::cross_site::check_same_origin;
use crate::auth::session::sign_in::CALLBACK;
use crate::auth::{Credentials, Identified, VerifiedTokens, identify};
use crate::http::cors::Origin;
use crate::http::problem::Problem;
use crate::http::request_head::RequestHead;
use crate::http::response::GatewayResponse;
use crate::http::{cors, route};

const DESCRIPTION: &str = "/openapi.json";

/// The action for a request, and the facts that the plan has established.
#[derive(Debug)]
pub struct Plan {
    /// The origin that the response depends on.
    pub origin: Origin,
    /// The pattern of the route, once found.
    pub route: Option<&'static str>,
    /// The caller, once identified.
    pub caller: Option<Rc<Caller>>,
    /// The project, once the caller is authorized for it.
    pub project: Option<ProjectId>,
    /// The action, or the problem that prevents one.
    pub action: Result<Action, Problem>,
}

/// Returns whether a request polls liveness, which needs no configuration.
pub fn is_liveness(head: &RequestHead) -> bool {
    let is_read = matches!(&*head.method, "GET" | "HEAD");
    is_read && head.path == LIVENESS && !is_deep(head.query.as_deref())
}

impl Plan {
    fn new(route: Option<&'static str>, action: Result<Action, Problem>) -> Self {
        Self {
            origin: Origin::Own,
            route,
            caller: None,
            project: None,
            action,
        }
    }

    /// Returns the plan of a liveness poll.
    pub fn healthy() -> Self {
        Self::new(Some(LIVENESS), Ok(answer_liveness()))
    }

    /// Returns the plan that refuses a request.
    pub fn refused(problem: Problem) -> Self {
        Self::new(None, Err(problem))
    }

    /// Returns the plan for a request whose handler crashed: a 500 that pages of allowed origins
    /// can read.
    ///
    /// The gateway may already have sent a write, so the problem reports an unknown outcome.
    pub fn crashed(config: Option<&Config>, head: &RequestHead) -> Self {
        let allowed = config.map_or(&[][..], |config| &config.allowed_origins);
        let problem = match &*head.method {
            "GET" | "HEAD" | "OPTIONS" => Problem::internal(),
            _ => Problem::internal().with_member("outcome", "unknown".into()),
        };
        Self {
            origin: cors::check_origin(head.header("origin"), &head.url, allowed)
                .unwrap_or(Origin::Own),
            ..Self::refused(problem)
        }
    }
}

/// Plans a request.
///
/// - `now`: the instant at which tokens are checked.
/// - `verified`: the isolate's cache of verified tokens.
pub fn plan(
    config: &Config,
    head: &RequestHead,
    now: Millis,
    verified: &mut VerifiedTokens,
) -> Plan {
    let sent = head.header("origin");
    let origin = match cors::check_origin(sent, &head.url, &config.allowed_origins) {
        Ok(origin) => origin,
        Err(problem) => return Plan::refused(problem),
    };
    let mut planner = Planner::new(config, head, now);
    let sends_cookie = planner.credentials.session != Cookie::Missing
        || (origin == Origin::Own && sends_assertion(head));
    // The callback is exempt: the issuer's redirect comes from another site, and the callback reads
    // no credentials.
    if head.path != CALLBACK
        && sends_cookie
        && let Err(problem) = check_same_origin(head)
    {
        return Plan::refused(problem);
    }
    let action = match planner.find_step(&head.path) {
        Ok(Step::Act(action)) => Ok(action),
        Ok(Step::Identify(target)) => {
            let credentials = target.select(planner.credentials);
            let identified = identify(&credentials, &config.auth, now, verified);
            identified.and_then(|identified| planner.resume(target, identified))
        }
        Err(problem) => Err(problem),
    };
    Plan {
        origin,
        route: planner.route,
        caller: planner.caller,
        project: planner.project,
        action,
    }
}

/// Returns whether an assertion may identify the caller. Cloudflare Access derives it from a
/// cookie, which browsers also send for pages of other sites.
fn sends_assertion(head: &RequestHead) -> bool {
    head.header("authorization").is_none() && head.header("cf-access-jwt-assertion").is_some()
}

fn answer_liveness() -> Action {
    Action::Respond(GatewayResponse::json(200, r#"{"status":"ok"}"#))
}

fn answer_options(methods: &[&str]) -> Action {
    Action::Respond(GatewayResponse::options(methods))
}

/// The first step of a plan.
enum Step {
    /// Run an action that needs no caller.
    Act(Action),
    /// Identify the caller, then plan the rest.
    Identify(Target),
}

/// The request, the settings and what is known about the caller, shared by the steps of a plan.
struct Planner<'a> {
    config: &'a Config,
    head: &'a RequestHead,
    credentials: Credentials<'a>,
    query: Option<&'a str>,
    now: Millis,
    route: Option<&'static str>,
    caller: Option<Rc<Caller>>,
    project: Option<ProjectId>,
}

impl<'a> Planner<'a> {
    fn new(config: &'a Config, head: &'a RequestHead, now: Millis) -> Self {
        Self {
            config,
            head,
            credentials: find_credentials(head),
            query: head.query.as_deref(),
            now,
            route: None,
            caller: None,
            project: None,
        }
    }

    fn find_step(&mut self, path: &str) -> Result<Step, Problem> {
        let is_read = matches!(&*self.head.method, "GET" | "HEAD");
        let is_options = self.head.method == "OPTIONS";
        if let Some(policy) = path.strip_prefix(BLOCKED_POLICIES) {
            return self.find_reopening(policy);
        }
        if let Some(rest) = path.strip_prefix(SESSION) {
            return self.find_session_step(rest);
        }
        if let Some(segments) = route::match_path(PULL_REQUEST, path) {
            return self.find_pull_request(segments);
        }
        let action = match path {
            LIVENESS | DESCRIPTION if is_options => answer_options(&["GET", "HEAD"]),
            LIVENESS | DESCRIPTION if !is_read => {
                return Err(Problem::method_not_allowed("GET, HEAD, OPTIONS"));
            }
            LIVENESS => {
                self.route = Some(LIVENESS);
                if is_deep(self.query) {
                    return Ok(Step::Identify(Target::Health));
                }
                answer_liveness()
            }
            DESCRIPTION => {
                self.route = Some(DESCRIPTION);
                Action::Describe
            }
            _ if is_options => match &route::find_methods(path)[..] {
                [] => return Err(Problem::not_found()),
                methods => answer_options(methods),
            },
            _ => return self.find_operation(path),
        };
        Ok(Step::Act(action))
    }

    /// Plans the rest of the request if the caller is identified. Otherwise returns the action that
    /// obtains evidence of the caller's identity.
    fn resume(&mut self, target: Target, identified: Identified) -> Result<Action, Problem> {
        let caller = match identified {
            Identified::Caller(caller) => Rc::clone(self.caller.insert(caller)),
            Identified::Needs(evidence) => {
                return Ok(Action::Identify(Box::new(PendingPlan { target, evidence })));
            }
        };
        match target {
            Target::Health => self.plan_health(&caller),
            Target::Reopening(policy) => self.plan_reopening(policy, &caller),
            Target::Session => Ok(self.plan_session(&caller)),
            Target::PullRequest(path) => self.plan_pull_request(path?, &caller),
            Target::Operation(operation, path) => self.plan_operation(operation, path?, &caller),
        }
    }
}
