//! The plan of a request. [`plan`] chooses the first step of a request from the request's head,
//! without I/O.

mod admin;
mod operation;
mod own_route;

use std::rc::Rc;

use quillgate::{Millis, ProjectId, RateLimitPolicy};

use crate::app::action::Action;
use crate::app::config::Config;
use crate::app::plan::admin::is_deep;
use crate::app::plan::own_route::OwnRoute;
use crate::auth::caller::Caller;
use crate::auth::session::cookie;
use crate::auth::session::cookie::{Cookie, find_cookie};
use crate::auth::session::cross_site::check_same_origin;
use crate::auth::{Credentials, Identity, VerifiedTokens, identify};
use crate::http::content::RequestValues;
use crate::http::cors::Origin;
use crate::http::problem::Problem;
use crate::http::request_head::RequestHead;
use crate::http::response::GatewayResponse;
use crate::http::route::join_methods;
use crate::http::{cors, route};
use crate::variable::VariableError;

/// The path of the liveness check and of the health report.
const HEALTH: &str = "/healthz";

/// The first step of a request, and the facts that the plan has established.
#[derive(Debug)]
pub struct Plan {
    /// The facts that the plan has established.
    pub facts: Facts,
    /// The first step, or the problem to respond with.
    pub step: Result<Step, Problem>,
}

/// The facts about a request that its plan establishes.
#[derive(Debug, Default)]
pub struct Facts {
    /// The origin of the request, which determines the CORS fields of the response.
    pub origin: Origin,
    /// The pattern of the route, once found.
    pub route: Option<&'static str>,
    /// The caller, once identified.
    pub caller: Option<Rc<Caller>>,
    /// Whether a cookie identified the caller. An assertion counts as a cookie, because Cloudflare
    /// Access derives the assertion from a cookie.
    pub is_by_cookie: bool,
    /// The project, once the caller is authorized for the project.
    pub project: Option<ProjectId>,
    /// The policy that limits the operation, once the caller is authorized.
    pub policy: Option<RateLimitPolicy>,
}

/// The first step of a request.
#[derive(Debug)]
pub enum Step {
    /// Send this response, which needs no I/O.
    Respond(GatewayResponse),
    /// Begin with this step, which may need I/O.
    Begin(PendingStep),
}

/// A step that may need I/O.
#[derive(Debug)]
pub enum PendingStep {
    /// Identify the caller, then plan the action.
    Identify(Target, Identity),
    /// Run this action.
    Run(Action),
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
    PullRequest(Result<RequestValues, Problem>),
    /// Carry out a declared operation. Invalid ids are reported to identified callers only.
    Operation(Result<RequestValues, Problem>),
}

impl Target {
    /// Whether a Cloudflare Access assertion may identify the caller. Only the session cookie
    /// identifies the caller of [`Self::Session`].
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
    if is_liveness(head) {
        let (facts, response) = answer_liveness();
        let step = Ok(Step::Respond(response));
        return Plan { facts, step };
    }
    let mut router = Router {
        config,
        head,
        now,
        verified,
        credentials: Credentials {
            authorization: head.header("authorization"),
            session: find_cookie(head.header("cookie"), cookie::NAME),
            access_assertion: head.header("cf-access-jwt-assertion"),
        },
        facts: Facts::default(),
    };
    let step = router.find_step();
    let facts = router.facts;
    Plan { facts, step }
}

/// Plans the response to a request while a variable of the gateway is missing or malformed.
/// Liveness checks succeed. In all other cases, returns a 500 problem.
pub fn plan_unconfigured(
    head: &RequestHead,
    error: VariableError,
) -> (Facts, Result<GatewayResponse, Problem>) {
    if is_liveness(head) {
        let (facts, response) = answer_liveness();
        return (facts, Ok(response));
    }
    let problem = Problem::misconfigured(error.variable, error.rule);
    (Facts::default(), Err(problem))
}

/// Plans the response to a request whose handler crashed: a 500 that web pages of allowed origins
/// can read.
///
/// If the request is a write, the problem reports an unknown outcome, because the gateway may
/// already have sent the write.
pub fn plan_crashed(config: Option<&Config>, head: &RequestHead) -> (Facts, Problem) {
    let allowed = config.map_or(&[][..], |config| &config.allowed_origins);
    let facts = Facts {
        origin: cors::check_origin(head.header("origin"), &head.url, allowed)
            .unwrap_or(Origin::Own),
        ..Facts::default()
    };
    let problem = match &*head.method {
        "GET" | "HEAD" | "OPTIONS" => Problem::internal(),
        _ => Problem::internal().with_member("outcome", "unknown".into()),
    };
    (facts, problem)
}

/// Returns whether a request is a liveness check, which needs neither a configuration nor an
/// allowed origin.
pub fn is_liveness(head: &RequestHead) -> bool {
    let is_read = matches!(&*head.method, "GET" | "HEAD");
    is_read && head.path == HEALTH && !is_deep(head.query.as_deref())
}

fn answer_liveness() -> (Facts, GatewayResponse) {
    let facts = Facts {
        route: Some(HEALTH),
        ..Facts::default()
    };
    (facts, GatewayResponse::json(200, r#"{"status":"ok"}"#))
}

/// The input of routing, and the facts established so far.
struct Router<'a> {
    config: &'a Config,
    head: &'a RequestHead,
    now: Millis,
    verified: &'a mut VerifiedTokens,
    credentials: Credentials<'a>,
    facts: Facts,
}

impl Router<'_> {
    fn find_step(&mut self) -> Result<Step, Problem> {
        let head = self.head;
        let origin = cors::check_origin(
            head.header("origin"),
            &head.url,
            &self.config.allowed_origins,
        )?;
        let own = own_route::find(&head.path);
        // The same-origin check below does not apply to the sign-in callback: an issuer redirects
        // to the callback from another site, and the callback reads no credentials.
        let is_callback = matches!(own, Some((OwnRoute::SignInCallback, ..)));
        // Browsers also send cookies with requests from other sites. An assertion counts as a
        // cookie, because Cloudflare Access derives the assertion from a cookie.
        let credentials = &self.credentials;
        let has_cookie = credentials.session != Cookie::Missing
            || (origin == Origin::Own && credentials.access_assertion.is_some());
        if has_cookie && credentials.authorization.is_none() && !is_callback {
            check_same_origin(head)?;
        }
        self.facts.origin = origin;
        if let Some(own) = own {
            return self.plan_own_route(own);
        }
        let route = match route::find(&head.method, &head.path) {
            Ok(route) => route,
            Err(methods) => return answer_other_method(&head.method, &methods),
        };
        self.facts.route = Some(route.operation.declaration().path);
        let values = RequestValues::from_path(route.operation, route.segments);
        self.plan_for_caller(Target::Operation(values))
    }

    /// Plans the action of the caller. If identifying the caller needs I/O, returns the step that
    /// identifies the caller.
    fn plan_for_caller(&mut self, target: Target) -> Result<Step, Problem> {
        let mut credentials = self.credentials;
        if !target.accepts_assertion() {
            credentials.access_assertion = None;
        }
        let step = match identify(&credentials, &self.config.auth, self.now, self.verified)? {
            Identity::Known(caller) => {
                let planner = Planner {
                    config: self.config,
                    head: self.head,
                    now: self.now,
                    caller,
                    facts: &mut self.facts,
                };
                PendingStep::Run(planner.plan(target)?)
            }
            unknown => PendingStep::Identify(target, unknown),
        };
        Ok(Step::Begin(step))
    }
}

/// Responds to `OPTIONS`, or refuses a method that the path does not support. For an unknown path,
/// `methods` is empty and the refusal is a 404.
fn answer_other_method(method: &str, methods: &[&str]) -> Result<Step, Problem> {
    if methods.is_empty() {
        return Err(Problem::not_found());
    }
    if method == "OPTIONS" {
        return Ok(Step::Respond(GatewayResponse::options(methods)));
    }
    Err(Problem::method_not_allowed(&join_methods(methods)))
}

/// The input for planning the action of an identified caller.
pub struct Planner<'a> {
    /// The configuration of the gateway.
    pub config: &'a Config,
    /// The head of the request.
    pub head: &'a RequestHead,
    /// When the request arrived.
    pub now: Millis,
    /// The caller.
    pub caller: Rc<Caller>,
    /// The facts of the plan. The planner adds the caller, the project and the policy.
    pub facts: &'a mut Facts,
}

impl Planner<'_> {
    /// Plans the action.
    ///
    /// # Errors
    /// Returns the problem to respond with if the caller lacks a permission or the request is
    /// invalid.
    pub fn plan(mut self, target: Target) -> Result<Action, Problem> {
        self.facts.caller = Some(Rc::clone(&self.caller));
        // `identify` reads cookies and assertions only without this field.
        self.facts.is_by_cookie = self.head.header("authorization").is_none();
        match target {
            Target::Health => self.plan_health(),
            Target::Reopening(policy) => self.plan_reopening(policy),
            Target::Session => Ok(Action::ReadSession),
            Target::PullRequest(values) => self.plan_pull_request(values?),
            Target::Operation(values) => self.plan_operation(values?),
        }
    }
}
