//! The admission of requests, without I/O.

use std::rc::Rc;

use quillgate::{
    Call, Method, Millis, Operation, ProjectId, RateLimitPolicy, Rule, ValidationError,
};

use crate::app::config::Config;
use crate::app::routes::{self, Endpoint, HEALTH, Route};
use crate::auth::caller::{Caller, OPERATE};
use crate::auth::session::cookie::{self, Cookie, find_cookie};
use crate::auth::session::cross_site::check_same_origin;
use crate::auth::{
    Credentials, Evidence, Identity, VerifiedTokens, identify, identify_session,
    missing_session_problem,
};
use crate::budget::is_of_organization;
use crate::budget::read_budget::ReadBudget;
use crate::http::content::{RequestValues, check_announced_body};
use crate::http::cors::{self, Origin};
use crate::http::problem::Problem;
use crate::http::request_head::RequestHead;
use crate::http::response::HeaderFields;
use crate::http::route::{PathSegments, join_methods};
use crate::http::url::{decode_query, find_parameter};
use crate::jobs::records::JobQuery;
use crate::jobs::resource::Resource;

/// The facts that the admission of a request establishes, possibly before it refuses the request.
#[derive(Debug, Default)]
pub struct Facts {
    pub origin: Origin,
    pub route: Option<&'static str>,
    pub caller: Option<Rc<Caller>>,
    /// An assertion counts as a cookie, because Cloudflare Access derives the assertion from one.
    pub is_by_cookie: bool,
    pub project: Option<ProjectId>,
    /// Of the operation, or the policy whose block the caller lifts.
    pub policy: Option<RateLimitPolicy>,
    pub budget: HeaderFields,
    /// Of a declared operation.
    pub call: Option<Call>,
    /// Before the body is read.
    pub values: Option<RequestValues>,
}

#[derive(Debug)]
pub enum Admission {
    Admitted(Endpoint),
    /// The methods of the path, for `OPTIONS`.
    Preflight(Vec<&'static str>),
    /// Identifying the caller needs I/O. The host then calls [`admit`] again with the evidence.
    Unidentified(Identity),
}

/// Admits a request, or returns the problem of the first check that fails. `evidence` follows
/// [`Admission::Unidentified`]. The handlers check how values belong together.
pub fn admit(
    config: &Config,
    head: &RequestHead,
    now: Millis,
    evidence: Option<Evidence>,
    (verified, reads): (&mut VerifiedTokens, &mut ReadBudget),
    facts: &mut Facts,
) -> Result<Admission, Problem> {
    if is_liveness(head) {
        facts.route = Some(HEALTH);
        return Ok(Admission::Admitted(Endpoint::Liveness));
    }
    let route = routes::find(&head.method, &head.path);
    let mut credentials = Credentials {
        authorization: head.header("authorization"),
        session: find_cookie(head.header("cookie"), cookie::NAME),
        access_assertion: head.header("cf-access-jwt-assertion"),
    };
    facts.origin = check_origin(config, head, &route, &credentials)?;
    let route = match route {
        Ok(route) => route,
        Err(methods) if methods.is_empty() => return Err(Problem::not_found()),
        Err(methods) if head.method == "OPTIONS" => return Ok(Admission::Preflight(methods)),
        Err(methods) => return Err(Problem::method_not_allowed(&join_methods(&methods))),
    };
    facts.route = Some(route.pattern);
    let endpoint = route.endpoint;
    let operation = match endpoint {
        Endpoint::Liveness
        | Endpoint::Description
        | Endpoint::SignInMethods
        | Endpoint::ConcludeSignIn => return Ok(Admission::Admitted(endpoint)),
        Endpoint::BeginSignIn | Endpoint::EndSession | Endpoint::OpenSession => {
            check_same_origin(head)?;
            if endpoint == Endpoint::OpenSession {
                check_announced_body(head)?;
            }
            return Ok(Admission::Admitted(endpoint));
        }
        Endpoint::ReadSession => {
            if credentials.authorization.is_some() || credentials.session == Cookie::Missing {
                return Err(missing_session_problem());
            }
            // Only the cookie identifies the caller of the session.
            credentials.access_assertion = None;
            None
        }
        Endpoint::Health | Endpoint::LiftBlock => None,
        Endpoint::PullRequest => Some(Operation::GetAgentJobRecord),
        Endpoint::Operation(operation) => Some(operation),
    };
    let (auth, assertion) = (&config.auth, credentials.access_assertion);
    let identity = match evidence {
        None => identify(&credentials, auth, now, verified)?,
        Some(Evidence::Record(record)) => {
            identify_session(record.as_deref(), assertion, auth, now, verified)?
        }
        Some(Evidence::Caller(caller)) => Identity::Known(caller),
    };
    let Identity::Known(caller) = identity else {
        return Ok(Admission::Unidentified(identity));
    };
    facts.caller = Some(Rc::clone(&caller));
    // `identify` reads cookies and assertions only without this field.
    facts.is_by_cookie = credentials.authorization.is_none();
    match operation {
        Some(operation) => authorize(config, head, operation, route.segments, &caller, facts)?,
        None if endpoint == Endpoint::ReadSession => {}
        None => authorize_operator(head, &route, &caller, facts)?,
    }
    if let Some(policy) = facts.policy.filter(|policy| policy.is_read()) {
        let project = facts.project.as_ref();
        facts.budget = reserve_read(config, &caller, policy, project, now, reads)?;
    }
    Ok(Admission::Admitted(endpoint))
}

/// A liveness check needs neither a configuration nor an allowed origin.
pub fn is_liveness(head: &RequestHead) -> bool {
    let query = head.query.as_deref();
    let is_deep = ["deep", "project"]
        .iter()
        .any(|name| find_parameter(query, name).is_some());
    matches!(&*head.method, "GET" | "HEAD") && head.path == HEALTH && !is_deep
}

/// A 500 that web pages of allowed origins can read. For a write, the outcome is unknown, because
/// the gateway may already have sent the write.
pub fn describe_crash(config: Option<&Config>, head: &RequestHead) -> (Facts, Problem) {
    let allowed = config.map_or(&[][..], |config| &config.allowed_origins);
    let origin = cors::check_origin(head.header("origin"), &head.url, allowed);
    let facts = Facts {
        origin: origin.unwrap_or(Origin::Own),
        ..Facts::default()
    };
    let problem = match &*head.method {
        "GET" | "HEAD" | "OPTIONS" => Problem::internal(),
        _ => Problem::internal().with_member("outcome", "unknown".into()),
    };
    (facts, problem)
}

/// A request with a cookie must come from the gateway's own page, because browsers also send
/// cookies with requests from other sites.
fn check_origin(
    config: &Config,
    head: &RequestHead,
    route: &Result<Route<'_>, Vec<&'static str>>,
    credentials: &Credentials<'_>,
) -> Result<Origin, Problem> {
    let origin = cors::check_origin(head.header("origin"), &head.url, &config.allowed_origins)?;
    // An issuer redirects to the callback from another site. The callback reads no credentials.
    let is_callback = matches!(route, Ok(route) if route.endpoint == Endpoint::ConcludeSignIn);
    // An assertion counts as a cookie: see [`Facts::is_by_cookie`].
    let has_cookie = credentials.session != Cookie::Missing
        || (origin == Origin::Own && credentials.access_assertion.is_some());
    if has_cookie && credentials.authorization.is_none() && !is_callback {
        check_same_origin(head)?;
    }
    Ok(origin)
}

fn authorize(
    config: &Config,
    head: &RequestHead,
    operation: Operation,
    segments: PathSegments<'_>,
    caller: &Caller,
    facts: &mut Facts,
) -> Result<(), Problem> {
    let values = RequestValues::from_path(operation, segments)?;
    let declared = operation.declaration();
    let scope = declared.scope.as_str();
    match &values.project {
        Some(project) => caller.authorize(project.as_str(), scope)?,
        // The handler finds the project.
        None => caller.require_anywhere(scope)?,
    }
    facts.project.clone_from(&values.project);
    facts.policy = declared.policy;
    let values = values.with_query(head.query.as_deref())?;
    let is_archived = |project: &ProjectId| config.analytics.archive.includes(project.as_str());
    if is_of_archive(operation) && !values.project.as_ref().is_some_and(is_archived) {
        let detail = "the gateway does not archive this project; its operator must add it to ARCHIVE_PROJECTS";
        return Err(Problem::archive_not_configured(detail));
    }
    if declared.method == Method::Post {
        if values.has_body() {
            check_announced_body(head)?;
        }
        facts.values = Some(values);
    } else {
        let call = values.parse()?;
        if matches!(
            operation,
            Operation::ListAgentJobs | Operation::ListDeployments
        ) {
            // A cursor of another list is refused before the read is counted.
            JobQuery::read(&call, Resource::of(operation))?;
        }
        facts.call = Some(call);
    }
    Ok(())
}

const fn is_of_archive(operation: Operation) -> bool {
    matches!(
        operation,
        Operation::ListDailyViews
            | Operation::ListArchivedViews
            | Operation::GetArchiveStatus
            | Operation::EstimateBackfill
            | Operation::BeginBackfill
    )
}

/// For the health of the gateway, and for lifting a block.
fn authorize_operator(
    head: &RequestHead,
    route: &Route<'_>,
    caller: &Caller,
    facts: &mut Facts,
) -> Result<(), Problem> {
    caller.require_anywhere(OPERATE)?;
    if route.endpoint == Endpoint::Health {
        facts.project = read_operated_project(head, caller)?;
        return Ok(());
    }
    let name = route.segments.first().map(|(_, name)| *name);
    let policy = name.and_then(RateLimitPolicy::from_name);
    // A 429 does not block reads of jobs and deployments.
    let policy = policy.filter(|policy| !policy.is_read());
    let policy = policy.ok_or_else(Problem::not_found)?;
    if !is_of_organization(policy) {
        let project = read_operated_project(head, caller)?;
        let missing = || ValidationError::new("project", Rule::NotEmpty, "empty text");
        facts.project = Some(project.ok_or_else(missing)?);
    }
    facts.policy = Some(policy);
    Ok(())
}

/// The caller must be an operator of the project, because reading its health creates a Durable
/// Object if the project has none.
fn read_operated_project(
    head: &RequestHead,
    caller: &Caller,
) -> Result<Option<ProjectId>, Problem> {
    let Some(encoded) = find_parameter(head.query.as_deref(), "project") else {
        return Ok(None);
    };
    let project = ProjectId::new(decode_query(encoded).unwrap_or_default())
        .map_err(|error| ValidationError::new("project", error.rule, error.found.clone()))?;
    caller.authorize(project.as_str(), OPERATE)?;
    Ok(Some(project))
}

/// Reads of jobs and deployments are limited, because most can cause requests to Mintlify or
/// GitHub. Returns the `RateLimit` header fields.
pub fn reserve_read(
    config: &Config,
    caller: &Caller,
    policy: RateLimitPolicy,
    project: Option<&ProjectId>,
    now: Millis,
    reads: &mut ReadBudget,
) -> Result<HeaderFields, Problem> {
    let limits = &config.limits;
    let mut request = caller.budget_request(policy);
    let project = project.map_or("", ProjectId::as_str);
    // The names are unique, because a project id contains no line feed.
    let name_in_project = |name: &str| format!("\n{}\n{project}\n{name}", policy.as_str());
    request.caller = name_in_project(&request.caller);
    for ceiling in &mut request.ceilings {
        ceiling.name = name_in_project(&ceiling.name);
    }
    let granted = reads.reserve(&request, limits.limit(policy), limits.window(policy), now)?;
    Ok(granted.fields)
}
