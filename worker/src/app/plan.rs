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
use crate::app::plan::admin::{BLOCKED_POLICY, LIVENESS, find_policy, is_deep};
use crate::app::plan::identity::{Target, find_credentials};
use crate::app::plan::operation::PathValues;
use crate::app::plan::pull_request::PULL_REQUEST;
use crate::app::plan::session::METHODS;
use crate::auth::caller::Caller;
use crate::auth::session::SESSION;
use crate::auth::session::cookie::Cookie;
use crate::auth::session::cross_site::check_same_origin;
use crate::auth::session::sign_in::{CALLBACK, START};
use crate::auth::{Credentials, Identified, VerifiedTokens, identify};
use crate::http::cors::Origin;
use crate::http::problem::Problem;
use crate::http::request_head::RequestHead;
use crate::http::response::GatewayResponse;
use crate::http::route::PathSegments;
use crate::http::{cors, route};

const DESCRIPTION: &str = "/openapi.json";

/// The gateway's own routes and their methods, in addition to `OPTIONS`. The others are operations.
const ROUTES: [(&str, &[&str]); 8] = [
    (LIVENESS, &["GET", "HEAD"]),
    (DESCRIPTION, &["GET", "HEAD"]),
    (BLOCKED_POLICY, &["DELETE"]),
    (SESSION, &["GET", "HEAD", "POST", "DELETE"]),
    (METHODS, &["GET", "HEAD"]),
    (START, &["GET"]),
    (CALLBACK, &["GET"]),
    (PULL_REQUEST, &["GET", "HEAD"]),
];

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
        for (template, methods) in ROUTES {
            if let Some(segments) = route::match_path(template, path) {
                return self.find_own_step(template, methods, segments);
            }
        }
        if self.head.method != "OPTIONS" {
            return self.find_operation(path);
        }
        match &route::find_methods(path)[..] {
            [] => Err(Problem::not_found()),
            methods => Ok(Step::Act(answer_options(methods))),
        }
    }

    /// Finds the first step for a route that is not an operation.
    fn find_own_step(
        &mut self,
        template: &'static str,
        methods: &[&str],
        segments: PathSegments<'_>,
    ) -> Result<Step, Problem> {
        let policy = find_policy(&segments);
        if template == BLOCKED_POLICY && policy.is_none() {
            return Err(Problem::not_found());
        }
        let method = &*self.head.method;
        let is_supported = methods.contains(&method);
        // The log has no route for other methods of these two paths.
        if is_supported || !matches!(template, LIVENESS | DESCRIPTION) {
            self.route = Some(template);
        }
        if method == "OPTIONS" {
            return Ok(Step::Act(answer_options(methods)));
        }
        if !is_supported {
            return Err(Problem::method_not_allowed(&route::join_methods(methods)));
        }
        Ok(match template {
            LIVENESS if is_deep(self.query) => Step::Identify(Target::Health),
            LIVENESS => Step::Act(answer_liveness()),
            DESCRIPTION => Step::Act(Action::Describe),
            BLOCKED_POLICY => {
                Step::Identify(Target::Reopening(policy.ok_or_else(Problem::not_found)?))
            }
            PULL_REQUEST => Step::Identify(Target::PullRequest(PathValues::decode(segments))),
            _ => self.find_session_step(template)?,
        })
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
