//! The plan for a request, made from the request's head without I/O.

mod admin;
mod operation;
mod session;

pub use session::describe_session;

use std::rc::Rc;

use quillgate::{Millis, Operation, ProjectId, RateLimitPolicy};

use crate::app::action::Action;
use crate::app::config::Config;
use crate::app::plan::admin::{BLOCKED_POLICY, LIVENESS, find_policy, is_deep};
use crate::app::plan::operation::{PULL_REQUEST, PathValues};
use crate::app::plan::session::METHODS;
use crate::auth::caller::Caller;
use crate::auth::session::SESSION;
use crate::auth::session::cookie;
use crate::auth::session::cookie::{Cookie, find_cookie};
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

/// The gateway's own routes and their methods, in addition to `OPTIONS`. All other routes are
/// operations.
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
    /// The origin of the request, which determines the CORS fields of the response.
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

/// Returns whether a request is a liveness check, which needs no configuration.
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

    /// Returns the plan for a liveness check.
    pub fn healthy() -> Self {
        Self::new(Some(LIVENESS), Ok(answer_liveness()))
    }

    /// Returns the plan that refuses a request.
    pub fn refused(problem: Problem) -> Self {
        Self::new(None, Err(problem))
    }

    /// Returns the plan for a request whose handler crashed: a 500 that web pages of allowed
    /// origins can read.
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

/// A target that only identified callers may use.
#[derive(Debug)]
pub enum Target {
    /// Read the health of the gateway.
    Health,
    /// Unblock a policy that the upstream has blocked.
    Reopening(RateLimitPolicy),
    /// Read the caller's session.
    Session,
    /// Read the pull request of a job. Invalid ids are reported to identified callers only.
    PullRequest(Result<PathValues, Problem>),
    /// Carry out a declared operation. Invalid ids are reported to identified callers only.
    Operation(Operation, Result<PathValues, Problem>),
}

impl Target {
    /// Whether a Cloudflare Access assertion may identify the caller. For [`Self::Session`], only
    /// the cookie may.
    pub const fn accepts_assertion(&self) -> bool {
        !matches!(self, Self::Session)
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
    let mut router = Router {
        config,
        head,
        credentials: Credentials {
            authorization: head.header("authorization"),
            session: find_cookie(head.header("cookie"), cookie::NAME),
            access_assertion: head.header("cf-access-jwt-assertion"),
        },
        route: None,
    };
    // The callback is exempt: the issuer's redirect comes from another site, and the callback reads
    // no credentials.
    if head.path != CALLBACK
        && relies_on_cookie(&router.credentials, &origin)
        && let Err(problem) = check_same_origin(head)
    {
        return Plan::refused(problem);
    }
    let (mut caller, mut project) = (None, None);
    let action = router.find_step().and_then(|step| {
        let target = match step {
            Step::Act(action) => return Ok(action),
            Step::Identify(target) => target,
        };
        let mut credentials = router.credentials;
        if !target.accepts_assertion() {
            credentials.access_assertion = None;
        }
        match identify(&credentials, &config.auth, now, verified)? {
            Identified::Caller(known) => {
                let mut planner = Planner::new(config, head, caller.insert(known), now);
                let action = planner.plan(target);
                project = planner.project;
                action
            }
            Identified::Needs(evidence) => Ok(Action::Identify(Box::new(target), evidence)),
        }
    });
    Plan {
        origin,
        route: router.route,
        caller,
        project,
        action,
    }
}

/// Whether a cookie may identify the caller. Browsers also send cookies with requests from other
/// sites. An assertion counts too, because Cloudflare Access derives it from a cookie.
fn relies_on_cookie(credentials: &Credentials<'_>, origin: &Origin) -> bool {
    credentials.authorization.is_none()
        && (credentials.session != Cookie::Missing
            || (*origin == Origin::Own && credentials.access_assertion.is_some()))
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

/// Finds the route of a request.
struct Router<'a> {
    config: &'a Config,
    head: &'a RequestHead,
    credentials: Credentials<'a>,
    /// The pattern of the route, once found.
    route: Option<&'static str>,
}

impl Router<'_> {
    fn find_step(&mut self) -> Result<Step, Problem> {
        let (method, path) = (&*self.head.method, &*self.head.path);
        for (template, methods) in ROUTES {
            if let Some(segments) = route::match_path(template, path) {
                return self.find_own_step(template, methods, segments);
            }
        }
        if method == "OPTIONS" {
            return match &route::find_methods(path)[..] {
                [] => Err(Problem::not_found()),
                methods => Ok(Step::Act(answer_options(methods))),
            };
        }
        let route = route::find(method, path)?;
        self.route = Some(route.operation.declaration().path);
        let path = PathValues::decode(route.segments);
        Ok(Step::Identify(Target::Operation(route.operation, path)))
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
        Ok(match (template, policy) {
            (_, Some(policy)) => Step::Identify(Target::Reopening(policy)),
            (LIVENESS, _) if is_deep(self.head.query.as_deref()) => Step::Identify(Target::Health),
            (LIVENESS, _) => Step::Act(answer_liveness()),
            (DESCRIPTION, _) => Step::Act(Action::Describe),
            (PULL_REQUEST, _) => Step::Identify(Target::PullRequest(PathValues::decode(segments))),
            _ => self.find_session_step(template)?,
        })
    }
}

/// Plans the request of an identified caller.
pub struct Planner<'a> {
    config: &'a Config,
    head: &'a RequestHead,
    caller: &'a Caller,
    now: Millis,
    /// The project, once the caller is authorized for it.
    pub project: Option<ProjectId>,
}

impl<'a> Planner<'a> {
    /// Creates a planner. `now` is the instant at which the request arrived.
    pub const fn new(
        config: &'a Config,
        head: &'a RequestHead,
        caller: &'a Caller,
        now: Millis,
    ) -> Self {
        Self {
            config,
            head,
            caller,
            now,
            project: None,
        }
    }

    /// Plans the rest of the request.
    ///
    /// # Errors
    /// The problem that refuses the request.
    pub fn plan(&mut self, target: Target) -> Result<Action, Problem> {
        match target {
            Target::Health => self.plan_health(),
            Target::Reopening(policy) => self.plan_reopening(policy),
            Target::Session => Ok(self.plan_session()),
            Target::PullRequest(path) => self.plan_pull_request(path?),
            Target::Operation(operation, path) => self.plan_operation(operation, path?),
        }
    }
}
