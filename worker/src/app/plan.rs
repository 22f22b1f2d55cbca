//! The plan for a request: made from its head, and then from its body when it writes. Plain data
//! in, plain data out.

use std::rc::Rc;

use quillgate::parameters::Parameters;
use quillgate::{
    Call, Cursor, Day, JobId, JobPageSize, Millis, Operation, Policy, ProjectId, Prompt, Request,
    Rule, ValidationError,
};

use crate::analytics::archive::{SeriesQuery, read_day};
use crate::analytics::export::ExportQuery;
use crate::analytics::query::ReportQuery;
use crate::app::config::Config;
use crate::auth as identity;
use crate::auth::caller::{Caller, OPERATE};
use crate::auth::oidc::UnverifiedToken;
use crate::auth::session::cookie::{Cookie, SessionId, find_cookie};
use crate::auth::session::cross_site::check_same_origin;
use crate::auth::session::sign_in::{CALLBACK, START};
use crate::auth::session::{SESSION, cookie};
use crate::auth::turnstile::TurnstileProof;
use crate::auth::{Credentials, Identity, Signature, VerifiedTokens, session, session_record};
use crate::hash::fingerprint;
use crate::http::content::{LARGEST_BODY, Values, is_json};
use crate::http::cors::Origin;
use crate::http::problem::Problem;
use crate::http::problem_kind::ProblemKind;
use crate::http::request_head::{RequestHead, SessionState, WriteHeaders};
use crate::http::route::decode_segment;
use crate::http::url::{decode_percent, find_parameter, split_url};
use crate::http::{cors, route};
use crate::jobs::idempotency::Retry;
use crate::jobs::ledger::{JobFilter, KeepPrompts, Position};
use crate::jobs::write::Write;
use crate::jobs::{idempotency, ledger, webhook};

/// What to do with a request.
#[derive(Debug)]
pub enum Action {
    /// Answer that the Worker is up.
    AnswerLiveness,
    /// Answer an operator with the health of the gateway and its upstream, and of the plan's project
    /// if it has one.
    AnswerHealth,
    /// Open a policy that the upstream has closed, for an operator.
    Reopen(Policy),
    /// Answer with the gateway's description of itself (`OpenAPI` 3.1).
    Describe,
    /// Answer an `OPTIONS` request, mostly a browser's preflight, for a path with these methods.
    AnswerOptions(Vec<&'static str>),
    /// Verify a token's signature, then plan again.
    VerifySignature(UnverifiedToken),
    /// Read the record of a session, then plan again.
    ReadSession(SessionId),
    /// Answer with the session of the caller.
    DescribeSession,
    /// Open a session.
    OpenSession,
    /// End the session of the browser, if it has one.
    EndSession,
    /// Answer how a session can be opened.
    DescribeMethods,
    /// Send the browser to an issuer, where somebody signs in.
    BeginSignIn,
    /// Open a session for somebody who has signed in at an issuer.
    ConcludeSignIn,
    /// Read the body, then call [`plan_write`].
    ReadBody(AdmittedWrite),
    /// Read a job upstream and pass the answer on.
    ReadJob {
        /// The request upstream.
        request: Request,
        /// The job.
        job: JobId,
    },
    /// Answer with a report, from the cache if it has it.
    ReadReport(ReportQuery),
    /// Stream a whole report, page by page.
    ExportReport(Box<ExportQuery>),
    /// List the jobs of the ledger.
    ListJobs {
        /// Which of them.
        filter: JobFilter,
        /// The most jobs to list.
        limit: u64,
        /// Where the previous page ended.
        before: Option<Position>,
    },
    /// Stream the changes of this job, or of all jobs of the project.
    StreamEvents(Option<JobId>),
    /// Answer what is recorded of this job.
    ReadRecord(JobId),
    /// Delete what is recorded of this job.
    DeleteRecord(JobId),
    /// Answer from the archive with a series.
    ReadSeries(SeriesQuery),
    /// Answer what the archive holds.
    ReadArchiveStatus,
    /// Answer what a backfill from this day on takes.
    EstimateBackfill(Day),
    /// Read the body, then call [`plan_backfill`] and begin the backfill.
    BeginBackfill,
}

/// An operation that changes something upstream.
#[derive(Debug, Clone, PartialEq, Eq)]
enum WriteOperation {
    CreateJob,
    SendMessage(String),
}

impl WriteOperation {
    const fn operation(&self) -> Operation {
        match self {
            Self::CreateJob => Operation::CreateAgentJob,
            Self::SendMessage(_) => Operation::SendMessage,
        }
    }

    const fn policy(&self) -> Policy {
        match self {
            Self::CreateJob => Policy::CreateJob,
            Self::SendMessage(_) => Policy::SendMessage,
        }
    }
}

/// A request that writes, admitted by its head.
#[derive(Debug, Clone)]
pub struct AdmittedWrite {
    operation: WriteOperation,
    project: ProjectId,
    caller: Rc<Caller>,
    /// The origin of the page that sends it, when a page does.
    origin: Option<String>,
}

/// What is known about a request, and what to do with it.
#[derive(Debug)]
pub struct Plan {
    /// The origin, as far as the answer depends on it.
    pub origin: Origin,
    /// The pattern of the route, once it is found.
    pub route: Option<&'static str>,
    /// The caller, once identified.
    pub caller: Option<Rc<Caller>>,
    /// The project, once the caller is authorised for it.
    pub project: Option<ProjectId>,
    /// What to do, or why nothing is done.
    pub action: Result<Action, Problem>,
}

const LIVENESS: &str = "/healthz";
const DESCRIPTION: &str = "/openapi.json";
/// Followed by the name of a policy that the upstream has closed.
const CLOSURES: &str = "/healthz/closures/";

/// Whether a request asks only if the Worker is up, which needs no configuration.
#[must_use]
pub fn is_liveness(head: &RequestHead<'_>) -> bool {
    let (path, query) = split_url(head.url);
    path == LIVENESS && matches!(head.method, "GET" | "HEAD") && !is_deep(query)
}

/// Whether a request to `/healthz` needs an operator: for budgets, of a project or of all.
fn is_deep(query: Option<&str>) -> bool {
    ["deep", "project"]
        .iter()
        .any(|name| find_parameter(query, name).is_some())
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

    /// The plan that answers that the Worker is up.
    #[must_use]
    pub fn healthy() -> Self {
        Self::new(Some(LIVENESS), Ok(Action::AnswerLiveness))
    }

    /// The plan that does nothing, because of a problem.
    #[must_use]
    pub fn refused(problem: Problem) -> Self {
        Self::new(None, Err(problem))
    }

    /// The plan for a request whose handling crashed: 500, readable by pages of allowed origins.
    ///
    /// A write may already have been sent, so its problem says that the outcome is unknown.
    #[must_use]
    pub fn crashed(config: Option<&Config>, head: &RequestHead<'_>) -> Self {
        let allowed = config.map_or(&[][..], |config| &config.allowed_origins);
        let problem = match head.method {
            "GET" | "HEAD" | "OPTIONS" => Problem::internal(),
            _ => Problem::internal().with_member("outcome", "unknown".into()),
        };
        Self {
            origin: cors::check_origin(head.origin, head.url, allowed).unwrap_or(Origin::Own),
            ..Self::refused(problem)
        }
    }
}

/// Plans a request. `now` is the instant at which tokens are checked, `signature` says whether the
/// host has verified the signature of an issuer's token, and `verified` are the tokens that were
/// verified before.
#[must_use]
pub fn plan(
    config: &Config,
    head: &RequestHead<'_>,
    now: Millis,
    signature: Signature,
    verified: &mut VerifiedTokens,
) -> Plan {
    let origin = match cors::check_origin(head.origin, head.url, &config.allowed_origins) {
        Ok(origin) => origin,
        Err(problem) => return Plan::refused(problem),
    };
    let (path, query) = split_url(head.url);
    // An issuer redirects there from another site, and neither assertion nor session counts there.
    if path != CALLBACK
        && (sends_session(head) || (origin == Origin::Own && sends_assertion(head)))
        && let Err(problem) = check_same_origin(head)
    {
        return Plan::refused(problem);
    }
    let mut planner = Planner {
        config,
        head,
        query,
        now,
        signature,
        verified,
        route: None,
        caller: None,
        project: None,
    };
    let action = planner.plan(path);
    Plan {
        origin,
        route: planner.route,
        caller: planner.caller,
        project: planner.project,
        action,
    }
}

fn sends_session(head: &RequestHead<'_>) -> bool {
    find_cookie(head.cookie, cookie::NAME) != Cookie::Missing
}

/// Whether the caller may be identified by an assertion. Cloudflare Access derives it from a cookie,
/// which a browser also sends for pages of other sites.
fn sends_assertion(head: &RequestHead<'_>) -> bool {
    head.authorization.is_none() && head.access_assertion.is_some()
}

/// A request that is being planned.
struct Planner<'a> {
    config: &'a Config,
    head: &'a RequestHead<'a>,
    query: Option<&'a str>,
    now: Millis,
    signature: Signature,
    verified: &'a mut VerifiedTokens,
    route: Option<&'static str>,
    caller: Option<Rc<Caller>>,
    project: Option<ProjectId>,
}

/// The values of a path.
struct PathValues {
    project: ProjectId,
    /// The other ones, by name.
    others: Vec<(&'static str, String)>,
}

impl Planner<'_> {
    fn plan(&mut self, path: &str) -> Result<Action, Problem> {
        let reads = matches!(self.head.method, "GET" | "HEAD");
        let asks = self.head.method == "OPTIONS";
        if let Some(policy) = path.strip_prefix(CLOSURES) {
            return self.plan_reopening(policy);
        }
        if let Some(rest) = path.strip_prefix(SESSION) {
            return self.plan_session(rest);
        }
        match path {
            LIVENESS | DESCRIPTION if asks => Ok(Action::AnswerOptions(vec!["GET", "HEAD"])),
            LIVENESS | DESCRIPTION if !reads => {
                Err(Problem::method_not_allowed("GET, HEAD, OPTIONS"))
            }
            LIVENESS => self.plan_health(),
            DESCRIPTION => {
                self.route = Some(DESCRIPTION);
                Ok(Action::Describe)
            }
            _ if asks => match &route::find_methods(path)[..] {
                [] => Err(Problem::not_found()),
                methods => Ok(Action::AnswerOptions(methods.to_vec())),
            },
            _ => self.plan_operation(path),
        }
    }

    fn plan_health(&mut self) -> Result<Action, Problem> {
        self.route = Some(LIVENESS);
        if !is_deep(self.query) {
            return Ok(Action::AnswerLiveness);
        }
        let caller = match self.identify()? {
            Ok(caller) => Rc::clone(self.caller.insert(caller)),
            Err(action) => return Ok(action),
        };
        caller.require_operator()?;
        self.project = self.read_operated_project(&caller)?;
        Ok(Action::AnswerHealth)
    }

    /// Reads the parameter `project` of an operator's request, if it has one. Objects are created for
    /// any name, so the caller must be an operator of that project.
    fn read_operated_project(&self, caller: &Caller) -> Result<Option<ProjectId>, Problem> {
        let Some(encoded) = find_parameter(self.query, "project") else {
            return Ok(None);
        };
        let project = decode_percent(encoded).unwrap_or_default();
        let project = ProjectId::new(project)
            .map_err(|error| ValidationError::new("project", error.rule, error.found.clone()))?;
        caller.authorize(project.as_str(), OPERATE)?;
        Ok(Some(project))
    }

    /// Plans an operator's request to unblock a policy.
    fn plan_reopening(&mut self, policy: &str) -> Result<Action, Problem> {
        let policy = Policy::from_name(policy).filter(|policy| *policy != Policy::ReadJobs);
        let policy = policy.ok_or_else(Problem::not_found)?;
        self.route = Some("/healthz/closures/{policy}");
        match self.head.method {
            "DELETE" => {}
            "OPTIONS" => return Ok(Action::AnswerOptions(vec!["DELETE"])),
            _ => return Err(Problem::method_not_allowed("DELETE, OPTIONS")),
        }
        let caller = match self.identify()? {
            Ok(caller) => Rc::clone(self.caller.insert(caller)),
            Err(action) => return Ok(action),
        };
        caller.require_operator()?;
        if policy != Policy::Analytics {
            let project = self.read_operated_project(&caller)?;
            let missing = || ValidationError::new("project", Rule::NotEmpty, "empty text");
            self.project = Some(project.ok_or_else(missing)?);
        }
        Ok(Action::Reopen(policy))
    }

    /// Plans what concerns a session itself; `rest` is the path after [`SESSION`].
    fn plan_session(&mut self, rest: &str) -> Result<Action, Problem> {
        let (route, methods): (_, &[_]) = match rest {
            "" => (SESSION, &["GET", "HEAD", "POST", "DELETE"]),
            "/methods" => ("/session/methods", &["GET", "HEAD"]),
            START => ("/session/start", &["GET"]),
            "/callback" => (CALLBACK, &["GET"]),
            _ => return Err(Problem::not_found()),
        };
        self.route = Some(route);
        let method = self.head.method;
        if method == "OPTIONS" {
            return Ok(Action::AnswerOptions(methods.to_vec()));
        }
        if !methods.contains(&method) {
            return Err(Problem::method_not_allowed(&route::join_methods(methods)));
        }
        match (rest, method) {
            ("/methods", _) => Ok(Action::DescribeMethods),
            ("/callback", _) => Ok(Action::ConcludeSignIn),
            (START, _) => {
                check_same_origin(self.head)?;
                Ok(Action::BeginSignIn)
            }
            (_, "POST") => {
                check_same_origin(self.head)?;
                check_announced_body(self.head)?;
                Ok(Action::OpenSession)
            }
            (_, "DELETE") => {
                check_same_origin(self.head)?;
                Ok(Action::EndSession)
            }
            _ => match self.identify_session() {
                None => Err(session::problem::missing_problem()),
                Some(identity) => match identity? {
                    Err(action) => Ok(action),
                    Ok(caller) => {
                        self.caller = Some(caller);
                        Ok(Action::DescribeSession)
                    }
                },
            },
        }
    }

    /// Identifies the caller, or returns the action that must come first.
    fn identify(&mut self) -> Result<Result<Rc<Caller>, Action>, Problem> {
        let credentials = Credentials {
            authorization: self.head.authorization,
            access_assertion: self.head.access_assertion,
        };
        if self.head.authorization.is_none()
            && let Some(identity) = self.identify_session()
        {
            let has_ended =
                matches!(&identity, Err(problem) if problem.kind == ProblemKind::SessionEnded);
            // An old cookie must not lock out a person whom Cloudflare Access lets in.
            if !has_ended || !credentials.has_token(&self.config.auth) {
                return identity;
            }
        }
        let identity = identity::identify(
            &credentials,
            &self.config.auth,
            self.now,
            self.signature,
            self.verified,
        );
        Ok(match identity? {
            Identity::Caller(caller) => Ok(caller),
            Identity::Unverified(token) => Err(Action::VerifySignature(token)),
        })
    }

    /// Identifies the caller by the cookie of a session; `None` when there is none.
    fn identify_session(&self) -> Option<Result<Result<Rc<Caller>, Action>, Problem>> {
        let id = SessionId::read(self.head.cookie, &self.config.auth.token_secrets)?;
        Some(id.and_then(|id| match self.head.session {
            SessionState::Unread => Ok(Err(Action::ReadSession(id))),
            SessionState::Ended => Err(session::problem::ended_problem()),
            SessionState::Open(record) => {
                session_record::identify(record, &self.config.auth, self.now).map(Ok)
            }
        }))
    }

    fn plan_operation(&mut self, path: &str) -> Result<Action, Problem> {
        let route = route::find(self.head.method, path)?;
        let operation = route.operation;
        let declared = operation.declaration();
        self.route = Some(declared.path);
        let caller = match self.identify()? {
            Ok(caller) => caller,
            Err(action) => return Ok(action),
        };
        let caller = Rc::clone(self.caller.insert(caller));
        let path = decode_path(route)?;
        caller.authorize(path.project.as_str(), declared.scope.as_str())?;
        self.project = Some(path.project.clone());
        let values = Values::new(declared, path.others, self.query)?;
        self.plan_call(operation, path.project, &values, caller)
    }

    fn plan_call(
        &self,
        operation: Operation,
        project: ProjectId,
        values: &Values,
        caller: Rc<Caller>,
    ) -> Result<Action, Problem> {
        let call = || values.call();
        match operation {
            Operation::CreateAgentJob => {
                self.admit_write(WriteOperation::CreateJob, project, caller)
            }
            Operation::SendMessage => {
                let id = values.text("id").ok_or_else(Problem::not_found)?;
                self.admit_write(WriteOperation::SendMessage(id), project, caller)
            }
            Operation::GetAgentJob => {
                let call = call()?;
                Ok(Action::ReadJob {
                    request: call.request(&project),
                    job: JobId::read(&call)?,
                })
            }
            Operation::StreamAgentJobEvents => {
                Ok(Action::StreamEvents(Some(JobId::read(&call()?)?)))
            }
            Operation::StreamProjectJobEvents => {
                call()?;
                Ok(Action::StreamEvents(None))
            }
            Operation::GetAgentJobRecord => Ok(Action::ReadRecord(JobId::read(&call()?)?)),
            Operation::DeleteAgentJobRecord => Ok(Action::DeleteRecord(JobId::read(&call()?)?)),
            Operation::ListAgentJobs => plan_list(&call()?),
            Operation::ListDailyViews => {
                self.check_archive(&project)?;
                Ok(Action::ReadSeries(SeriesQuery::read(&call()?)?))
            }
            Operation::GetArchiveStatus => {
                self.check_archive(&project)?;
                Ok(Action::ReadArchiveStatus)
            }
            Operation::EstimateBackfill => {
                self.check_archive(&project)?;
                Ok(Action::EstimateBackfill(read_day(&call()?, "dateFrom")?))
            }
            Operation::BeginBackfill => {
                self.check_archive(&project)?;
                check_announced_body(self.head)?;
                Ok(Action::BeginBackfill)
            }
            Operation::ListPageViews
            | Operation::ListVisitors
            | Operation::GetCallerStats
            | Operation::GetConversation
            | Operation::ListConversations
            | Operation::ListSearches
            | Operation::GetFeedbackByPage
            | Operation::ListFeedback => self.plan_report(operation, &call()?, &project),
            Operation::ExportPageViews
            | Operation::ExportVisitors
            | Operation::ExportFeedback
            | Operation::ExportSearches
            | Operation::ExportConversations => plan_export(operation, &call()?, &project),
        }
    }

    fn check_archive(&self, project: &ProjectId) -> Result<(), Problem> {
        if self.config.analytics.archive.includes(project.as_str()) {
            return Ok(());
        }
        let detail = "the gateway keeps no days of this project: ARCHIVE_PROJECTS has to name it";
        Err(Problem::archive_not_configured(detail))
    }

    fn plan_report(
        &self,
        operation: Operation,
        call: &Call,
        project: &ProjectId,
    ) -> Result<Action, Problem> {
        let query = ReportQuery::new(operation, call, project, &self.config.analytics, self.now)?;
        Ok(Action::ReadReport(query))
    }

    fn admit_write(
        &self,
        operation: WriteOperation,
        project: ProjectId,
        caller: Rc<Caller>,
    ) -> Result<Action, Problem> {
        check_announced_body(self.head)?;
        Ok(Action::ReadBody(AdmittedWrite {
            operation,
            project,
            caller,
            origin: self.head.origin.map(str::to_owned),
        }))
    }
}

fn plan_export(operation: Operation, call: &Call, project: &ProjectId) -> Result<Action, Problem> {
    let report = operation.exported().ok_or_else(Problem::internal)?;
    let query = ExportQuery::new(report, call, project)?;
    Ok(Action::ExportReport(Box::new(query)))
}

fn plan_list(call: &Call) -> Result<Action, Problem> {
    let limit = Option::<JobPageSize>::read(call)?;
    let cursor = Option::<Cursor>::read(call)?;
    let cursor = cursor.as_ref().map(Cursor::as_str);
    Ok(Action::ListJobs {
        filter: JobFilter::read(call)?,
        limit: limit.unwrap_or(JobPageSize::DEFAULT).get(),
        before: cursor.map(ledger::decode_cursor).transpose()?,
    })
}

/// Decodes the values of a path.
fn decode_path(route: route::Route<'_>) -> Result<PathValues, Problem> {
    let (mut project, mut others) = (None, Vec::new());
    for (name, segment) in route.segments {
        let value = decode_segment(name, segment)?;
        if name == "projectId" {
            project = Some(value);
        } else {
            others.push((name, value));
        }
    }
    let project = project.ok_or_else(Problem::not_found)?;
    Ok(PathValues {
        project: ProjectId::new(project)?,
        others,
    })
}

/// Refuses a body by what the head says about it, before any of it is read.
fn check_announced_body(head: &RequestHead<'_>) -> Result<(), Problem> {
    if !is_json(head.content_type) {
        return Err(Problem::unsupported_media_type());
    }
    let length = head.content_length.map(str::parse::<u64>);
    match length {
        Some(Ok(length)) if length > LARGEST_BODY as u64 => {
            Err(Problem::content_too_large(LARGEST_BODY))
        }
        _ => Ok(()),
    }
}

/// Plans an admitted request that writes, now that its body is known.
///
/// Returns the write, and the Turnstile response that has to be verified first, if any.
///
/// # Errors
/// 400 for a body that is not a JSON object, and for values and header fields that break a rule.
pub fn plan_write(
    config: &Config,
    admitted: &AdmittedWrite,
    headers: &WriteHeaders,
    body: &[u8],
) -> Result<(Write, Option<TurnstileProof>), Problem> {
    let declared = admitted.operation.operation().declaration();
    let job = match &admitted.operation {
        WriteOperation::CreateJob => None,
        WriteOperation::SendMessage(id) => Some(id.clone()),
    };
    let path = job.iter().map(|id| ("id", id.clone())).collect();
    let values = Values::new(declared, path, None)?.with_body(body)?;
    let request = values.call()?.request(&admitted.project);
    let webhook = choose_webhook(config, &admitted.operation, headers.webhook_url.as_deref())?;
    let proof = match (&config.turnstile, &admitted.origin) {
        (Some(turnstile), Some(origin)) => {
            Some(turnstile.require(headers.turnstile.as_deref(), origin)?)
        }
        _ => None,
    };
    let body = request.body.ok_or_else(Problem::internal)?;
    let key = headers.idempotency_key.as_deref();
    let key = key.map(idempotency::Key::read).transpose()?;
    let retry = Retry::read(headers.idempotency_retry.as_deref())?;
    let prompt = values.text("prompt").ok_or_else(Problem::malformed_body)?;
    let prompt = Prompt::new(prompt)?;
    let is_kept = config.jobs.keep_prompts == KeepPrompts::Whole;
    let policy = admitted.operation.policy();
    let write = Write {
        policy,
        caller: admitted.caller.key(),
        subject: admitted.caller.subject.clone(),
        quota: admitted.caller.quota.ceiling(policy),
        ceilings: admitted.caller.ceilings(policy),
        job,
        key: key.map(|key| key.as_str().to_owned()),
        fingerprint: fingerprint(&[
            &request.target,
            &body,
            headers.webhook_url.as_deref().unwrap_or(""),
        ]),
        retry,
        target: request.target,
        body,
        prompt_summary: ledger::summarize_prompt(&prompt),
        prompt: is_kept.then(|| prompt.as_str().to_owned()),
        webhook,
    };
    Ok((write, proof))
}

/// Plans a backfill, now that its body is known: the first day that it makes wanted.
///
/// # Errors
/// 400 for a body that is not a JSON object, and for a day that is none.
pub fn plan_backfill(body: &[u8]) -> Result<Day, Problem> {
    let declared = Operation::BeginBackfill.declaration();
    let values = Values::new(declared, Vec::new(), None)?.with_body(body)?;
    read_day(&values.call()?, "dateFrom")
}

/// Decides where the job's end is announced: at the caller's address, or else at the operator's.
fn choose_webhook(
    config: &Config,
    operation: &WriteOperation,
    requested: Option<&str>,
) -> Result<Option<String>, Problem> {
    match (operation, requested) {
        (WriteOperation::CreateJob, None) => Ok(config.jobs.webhook.url.clone()),
        (WriteOperation::SendMessage(_), None) => Ok(None),
        (WriteOperation::SendMessage(_), Some(_)) => Err(Problem::webhook_on_follow_up()),
        (WriteOperation::CreateJob, Some(_)) if config.jobs.webhook.secrets.is_empty() => {
            Err(Problem::webhooks_off())
        }
        (WriteOperation::CreateJob, Some(url)) => {
            webhook::check_address(url, &config.jobs.webhook.hosts).map(Some)
        }
    }
}
