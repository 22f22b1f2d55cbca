//! The fetch handler: carries out the plan of a request.

use std::pin::Pin;
use std::rc::Rc;

use js_sys::Promise;
use quillgate::{Day, JobId, Method, Millis, ProjectId};
use wasm_bindgen::JsValue;
use wasm_bindgen::closure::Closure;
use wasm_bindgen::prelude::wasm_bindgen;
use web_sys::{Request, Response, WebSocket};
use worker::Env;
use worker::worker_sys::Context;
use worker::worker_sys::ext::ResponseExt as _;

use crate::analytics::archive;
use crate::analytics::archive::SeriesQuery;
use crate::analytics::archive::store::{ArchiveStore, StoredProject};
use crate::analytics::export::{ExportQuery, LONGEST_WAIT};
use crate::analytics::organization_stub::{ExportCall, OrgStub, ReportCall};
use crate::analytics::page::{CacheStatus, is_no_cache, matches_etag, split_into_pieces};
use crate::analytics::pages::{Page, ReportAnswer};
use crate::analytics::query::ReportQuery;
use crate::app::action::Action;
use crate::app::config::Config;
use crate::app::export::{Brake, RunningExport};
use crate::app::health::Health;
use crate::app::isolate::{
    config, description, find_report, keep_report, load_config, with_reads, with_verified,
};
use crate::app::issuer_keys::find_issuer_key;
use crate::app::log::LogEntry;
use crate::app::plan;
use crate::app::plan::{Plan, is_liveness};
use crate::app::report::report;
use crate::app::write_plan::{AdmittedWrite, plan_backfill, plan_write};
use crate::auth::caller::Caller;
use crate::auth::jwks::NoKey;
use crate::auth::oidc::UnverifiedToken;
use crate::auth::session::cookie::{SameSite, SessionId, clear_cookie, write_cookie};
use crate::auth::session::sign_in::{Callback, SignIn};
use crate::auth::session::stub::SessionStub;
use crate::auth::session::{cookie, sign_in};
use crate::auth::session_record::{NewSession, Opening, Proof};
use crate::auth::signature::verify_signature;
use crate::auth::turnstile::TurnstileProof;
use crate::auth::{
    Signature, invalid_token, missing_token_problem, session, session_record, turnstile,
};
use crate::budget::Verdict;
use crate::budget::read_budget::Reader;
use crate::hash::fingerprint;
use crate::http::content::LARGEST_BODY;
use crate::http::problem::{Problem, ProblemKind};
use crate::http::request_head::{PackedHead, RequestHead, SessionState, header_names};
use crate::http::response::{
    GatewayResponse, HeaderFields, JSON, common_headers, find_transport_security,
};
use crate::http::trace::{Trace, continue_trace, read_tracestate};
use crate::http::url::split_url;
use crate::jobs::events::{
    CHARGE_TEXT, HEARTBEAT, HEARTBEAT_TEXT, JobEvent, LongPoll, OPENING_TEXT, PollProgress,
    limit_stream, parse_event_number, parse_preferred_wait, parse_wait,
};
use crate::jobs::ledger::{JobFilter, Position, encode_cursor};
use crate::jobs::project_stub::{ListCall, PROBLEM_HEADER, ProjectStub, WriteCall};
use crate::jobs::watch::WatchCall;
use crate::jobs::write::Write;
use crate::runtime::{
    Call, HostError, HostResult, StreamSettings, event_stream, hear, into_promise, make_response,
    now, random_bytes, read_body, response_headers,
};
use crate::upstream::client::{Exchange, JobReply, UpstreamClient};
use crate::upstream::metrics::RequestMetrics;
use crate::upstream::transport::{Outgoing, send};
use crate::upstream::{UpstreamRequest, mark_uncertain};
use quillgate::Policy;

/// How long Turnstile, or an issuer's token endpoint, may take to answer.
const VERIFICATION_TIME: Millis = Millis::from_seconds(10);
/// The most bytes of such an answer.
const LONGEST_VERIFICATION: u32 = 64 * 1024;
/// How many sessions a caller may open within a window, in each isolate: nobody needs as many, and each
/// is an object.
const MOST_SESSIONS: u32 = 60;

/// How long a series is fresh when none of its days changes any more: a day.
const SETTLED_LIFETIME: Millis = Millis::from_seconds(86_400);

/// The header fields of a request to hand over, one a line: see [`PackedHead`].
#[wasm_bindgen(js_name = headerNames)]
pub fn join_header_names(is_post: bool) -> String {
    header_names(is_post).join("\n")
}

/// Answers a request, of which `head` is a [`PackedHead`] and `started` the present: with a
/// `Response`, a promise of one, or that promise as the `read` of an object.
#[wasm_bindgen]
pub fn handle(
    head: String,
    started: f64,
    request: Request,
    env: Env,
    execution: Context,
) -> JsValue {
    #[cfg(feature = "trap-route")]
    if let Some(trapped) = super::trap::handle(&head, &env) {
        return trapped;
    }
    let packed = PackedHead::read(&head);
    let config = load_config(&env);
    let started = millis(started);
    let plan = match &config {
        _ if is_liveness(&packed.request_head()) => Plan::healthy(),
        Ok(config) => {
            let cookie = find_cookie(&packed, &request);
            let evidence = Evidence {
                cookie: cookie.as_deref(),
                ..Evidence::default()
            };
            make_plan(config, &packed, started, &evidence)
        }
        Err(error) => Plan::refused(Problem::misconfigured(error.variable, error.rule)),
    };
    let mut context = RequestContext::new(&packed, &plan, started);
    let config = match config {
        Ok(config) => config,
        Err(error) => {
            context.metrics.operator = Some(error.to_string());
            let body = match plan.action {
                Err(problem) => context.refuse(&problem),
                Ok(_) => Outcome::json(200, LIVENESS_BODY),
            };
            return context.finish(&env, body).into();
        }
    };
    match answer_at_once(&mut context, &config, &packed, plan.action) {
        Ok(outcome) => context.finish(&env, outcome).into(),
        Err(action) => {
            let work = Work {
                context,
                config,
                env,
                request,
                execution,
            };
            into_promise(async move { Ok(work.carry_out(&head, action).await.into()) }).into()
        }
    }
}

/// Responds to a request whose handling threw an exception, such as a trap.
#[wasm_bindgen]
pub fn fail(head: &str, started: f64, message: String, env: &Env) -> Response {
    let packed = PackedHead::read(head);
    let config = load_config(env).ok();
    let plan = Plan::crashed(config.as_deref(), &packed.request_head());
    let mut context = RequestContext::new(&packed, &plan, millis(started));
    context.metrics.operator = Some(message);
    let problem = plan.action.err().unwrap_or_else(Problem::internal);
    let outcome = context.refuse(&problem);
    context.finish(env, outcome)
}

/// Lets the daily archive go on: what the cron trigger calls.
#[wasm_bindgen(js_name = runArchive)]
pub fn run_archive(env: Env) -> Promise {
    into_promise(async move {
        if !config(&env)?.analytics.archive.projects.is_empty() {
            OrgStub::new(&env)?.archive().await?;
        }
        Ok(JsValue::UNDEFINED)
    })
}

const LIVENESS_BODY: &str = r#"{"status":"ok"}"#;

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the clock is far below 2^53 and not negative"
)]
fn millis(number: f64) -> Millis {
    Millis(number as u64)
}

/// What is known of a request beside its packed head.
#[derive(Default)]
struct Evidence<'a> {
    signature: Signature,
    cookie: Option<&'a str>,
    session: SessionState<'a>,
}

fn make_plan(
    config: &Config,
    packed: &PackedHead<'_>,
    now: Millis,
    evidence: &Evidence<'_>,
) -> Plan {
    let head = RequestHead {
        cookie: evidence.cookie,
        session: evidence.session,
        ..packed.request_head()
    };
    with_verified(|verified| plan::plan(config, &head, now, evidence.signature, verified))
}

/// `Cookie`, which says nothing where there is `Authorization`: most requests have that, and their
/// cookies are not even looked at.
fn find_cookie(packed: &PackedHead<'_>, request: &Request) -> Option<String> {
    if packed.field("authorization").is_some() {
        return None;
    }
    read_cookies(request)
}

fn read_cookies(request: &Request) -> Option<String> {
    request.headers().get("cookie").ok()?
}

/// Carries out what needs no I/O; gives back what does.
fn answer_at_once(
    context: &mut RequestContext,
    config: &Config,
    packed: &PackedHead<'_>,
    action: Result<Action, Problem>,
) -> Result<Outcome, Action> {
    match action {
        Err(problem) => Ok(context.refuse(&problem)),
        Ok(Action::AnswerLiveness) => Ok(Outcome::json(200, LIVENESS_BODY)),
        Ok(Action::AnswerOptions(methods)) => Ok(GatewayResponse::options(&methods).into()),
        Ok(Action::DescribeSession) => {
            let body = context.caller().map(|caller| {
                session::describe(caller, |project| config.analytics.archive.includes(project))
            });
            Ok(body.map_or_else(
                |problem| context.refuse(&problem),
                |body| Outcome::json(200, &body),
            ))
        }
        Ok(Action::Describe) => Ok(Outcome {
            body: description().map_or(JsValue::NULL, JsValue::from),
            ..Outcome::json(200, "")
        }),
        Ok(Action::ReadReport(query)) => {
            let now = context.started;
            let hot = (!revalidates(packed)).then(|| find_report(&query, now));
            let Some(answer) = hot.flatten() else {
                return Err(Action::ReadReport(query));
            };
            context.metrics.cache = Some("hit".to_owned());
            let ttl = answer.head.ttl(now);
            let cache = CacheStatus::Hit { ttl }.describe();
            let no_budget = HeaderFields::default();
            Ok(report_outcome(packed, answer, &cache, no_budget, now))
        }
        Ok(action) => Err(action),
    }
}

fn revalidates(packed: &PackedHead<'_>) -> bool {
    is_no_cache(packed.field("cache-control"))
}

fn report_outcome(
    packed: &PackedHead<'_>,
    answer: ReportAnswer,
    cache: &str,
    budget: HeaderFields,
    now: Millis,
) -> Outcome {
    let headers = answer.head.headers(cache, now).or(budget);
    if matches_etag(packed.field("if-none-match"), &answer.head.etag) {
        return Outcome {
            headers: headers.without("content-type"),
            ..GatewayResponse::empty(304).into()
        };
    }
    Outcome {
        status: 200,
        headers,
        body: answer.body.into(),
        problem: None,
    }
}

/// An answer before it is a `Response`.
struct Outcome {
    status: u16,
    headers: HeaderFields,
    /// A text, a stream, or `null`.
    body: JsValue,
    problem: Option<ProblemKind>,
}

impl Outcome {
    fn json(status: u16, body: &str) -> Self {
        GatewayResponse::json(status, body).into()
    }
}

impl From<GatewayResponse> for Outcome {
    fn from(response: GatewayResponse) -> Self {
        let body = response.body.as_deref();
        Self {
            status: response.status,
            headers: response.headers,
            body: body.map_or(JsValue::NULL, JsValue::from_str),
            problem: response.problem,
        }
    }
}

/// What is known of a request from its head on.
struct RequestContext {
    id: String,
    started: Millis,
    is_head: bool,
    common: HeaderFields,
    route: Option<&'static str>,
    project: Option<ProjectId>,
    caller: Option<Rc<Caller>>,
    trace: Trace,
    /// The session, where the caller has one.
    session: Option<SessionId>,
    /// What is said about the budget for reads, once the request was counted.
    budget: HeaderFields,
    tracestate: Option<String>,
    metrics: RequestMetrics,
}

impl RequestContext {
    fn new(packed: &PackedHead<'_>, plan: &Plan, started: Millis) -> Self {
        let random = packed.uuid.replace('-', "");
        let trace = continue_trace(packed.traceparent(), &random);
        let tracestate = packed.tracestate().filter(|_| trace.continued);
        let mut common = common_headers(packed.id(), &plan.origin);
        if let Some(policy) = find_transport_security(packed.url) {
            common.set("strict-transport-security", policy);
        }
        Self {
            id: packed.id().to_owned(),
            started,
            is_head: packed.method == "HEAD",
            common,
            route: plan.route,
            project: plan.project.clone(),
            caller: plan.caller.clone(),
            trace,
            tracestate: tracestate.and_then(read_tracestate),
            budget: HeaderFields::default(),
            session: None,
            metrics: RequestMetrics::default(),
        }
    }

    /// Takes over what a second plan knows more.
    fn update(&mut self, plan: &Plan) {
        self.route = plan.route;
        self.project.clone_from(&plan.project);
        self.caller.clone_from(&plan.caller);
    }

    fn refuse(&self, problem: &Problem) -> Outcome {
        GatewayResponse::problem(problem, &self.id).into()
    }

    fn caller(&self) -> Result<&Caller, Problem> {
        self.caller.as_deref().ok_or_else(Problem::internal)
    }

    fn project(&self) -> Result<&ProjectId, Problem> {
        self.project.as_ref().ok_or_else(Problem::internal)
    }

    /// Counts a request that reads jobs.
    fn reserve_read(&self, config: &Config) -> Result<HeaderFields, Problem> {
        reserve_read(self.caller()?, self.project()?, config)
    }

    fn upstream_request(&self, request: quillgate::Request) -> UpstreamRequest {
        UpstreamRequest {
            method: request.method,
            target: request.target,
            body: request.body,
            traceparent: self.trace.traceparent.clone(),
            tracestate: self.tracestate.clone(),
        }
    }

    /// The answer that a read of a job led to.
    fn take_job(&mut self, exchange: Exchange<JobReply>) -> Result<Outcome, Problem> {
        self.metrics.upstream = Some(exchange.metrics);
        let reply = exchange.outcome.map_err(|failure| failure.problem)?;
        Ok(Outcome {
            status: reply.head.status,
            headers: reply.head.forwarded_headers(),
            body: reply.text.into(),
            problem: None,
        })
    }

    /// Makes the response, and writes the log.
    fn finish(self, env: &Env, outcome: Outcome) -> Response {
        let timing = self.metrics.server_timing();
        let mut headers = outcome.headers.or(self.budget).or(self.common);
        if let Some(timing) = timing {
            headers.set("server-timing", timing);
        }
        if self.session.is_some() {
            session::require_revalidation(&mut headers);
        }
        report(
            env,
            &LogEntry {
                request_id: &self.id,
                trace_id: &self.trace.trace_id,
                subject: self.caller.as_deref().map(|caller| &*caller.subject),
                route: self.route,
                project: self.project.as_ref().map(ProjectId::as_str),
                status: outcome.status,
                problem: outcome.problem,
                metrics: &self.metrics,
                milliseconds: now().since(self.started).0,
            },
        );
        let body = if self.is_head {
            JsValue::NULL
        } else {
            outcome.body
        };
        make_response(outcome.status, &headers, &body)
    }
}

/// Counts a read of jobs against the caller's limits.
fn reserve_read(
    caller: &Caller,
    project: &ProjectId,
    config: &Config,
) -> Result<HeaderFields, Problem> {
    // A project's id contains no line feed.
    let name_in_project = |name: &str| [project.as_str(), name].join("\n");
    let mut ceilings = caller.ceilings(Policy::ReadJobs);
    for ceiling in &mut ceilings {
        ceiling.name = name_in_project(&ceiling.name);
    }
    let reader = Reader {
        name: name_in_project(&caller.key()),
        quota: caller.quota.ceiling(Policy::ReadJobs),
        ceilings,
        limit: config.limits.limit(Policy::ReadJobs),
        window: config.limits.window,
    };
    match with_reads(|reads| reads.reserve(&reader, now())) {
        Verdict::Granted(granted) => Ok(granted.fields.into_headers()),
        Verdict::Refused(refused) => Err(refused.problem),
    }
}

/// What comes of one kind of request. All kinds in one future would be one function of 35 kB, and V8
/// compiles a function whole when it is first called: with the first request that needs I/O.
type PendingOutcome<'a> = Pin<Box<dyn Future<Output = Result<Outcome, Problem>> + 'a>>;

/// A request that needs I/O.
struct Work {
    context: RequestContext,
    config: Rc<Config>,
    env: Env,
    request: Request,
    execution: Context,
}

impl Work {
    async fn carry_out(mut self, head: &str, action: Action) -> Response {
        let packed = PackedHead::read(head);
        let is_callback = matches!(action, Action::ConcludeSignIn);
        let outcome = match self.dispatch(&packed, action).await {
            Ok(outcome) => outcome,
            // Somebody in a browser reads it, whom JSON would leave standing there.
            Err(problem) if is_callback && self.wants_page() => Outcome {
                headers: HeaderFields::default()
                    .with("location", sign_in::failure_path(problem.kind)),
                problem: Some(problem.kind),
                ..GatewayResponse::empty(303).into()
            },
            Err(problem) => self.context.refuse(&problem),
        };
        self.context.finish(&self.env, outcome)
    }

    async fn dispatch(
        &mut self,
        packed: &PackedHead<'_>,
        action: Action,
    ) -> Result<Outcome, Problem> {
        let action = match self.identify(packed, action).await? {
            Ok(outcome) => return Ok(outcome),
            Err(action) => action,
        };
        if is_budgeted_read(&action) {
            self.context.budget = self.context.reserve_read(&self.config)?;
        }
        let pending: PendingOutcome<'_> = match action {
            Action::ReadReport(query) => Box::pin(self.read_report(packed, query)),
            Action::ExportReport(query) => Box::pin(self.export_report(packed, *query)),
            Action::ReadJob { request, ref job } => {
                match parse_preferred_wait(packed.field("prefer")) {
                    Some(seconds) => Box::pin(self.long_poll(packed, job, seconds)),
                    None => Box::pin(self.read_job(request)),
                }
            }
            Action::ReadBody(ref admitted) => Box::pin(self.write(packed, admitted)),
            Action::ListJobs {
                filter,
                limit,
                before,
            } => Box::pin(self.list_jobs(filter, limit, before)),
            Action::StreamEvents(ref job) => Box::pin(self.stream_events(packed, job.as_ref())),
            Action::ReadRecord(ref job) => Box::pin(self.read_record(job)),
            Action::DeleteRecord(ref job) => Box::pin(self.delete_record(job)),
            Action::ReadSeries(ref query) => Box::pin(self.read_series(packed, query)),
            Action::ReadArchiveStatus => Box::pin(self.read_archive_status()),
            Action::EstimateBackfill(from) => Box::pin(self.estimate_backfill(from)),
            Action::BeginBackfill => Box::pin(self.begin_backfill()),
            Action::AnswerHealth => Box::pin(self.answer_health()),
            Action::Reopen(policy) => Box::pin(self.reopen(policy)),
            Action::OpenSession => Box::pin(self.open_session(packed)),
            Action::EndSession => Box::pin(self.end_session()),
            Action::DescribeMethods => {
                let body = session::describe_methods(&self.config.auth);
                let outcome = Outcome::json(200, &body);
                let headers = outcome.headers.with("cache-control", "public, max-age=60");
                return Ok(Outcome { headers, ..outcome });
            }
            Action::BeginSignIn => return self.begin_sign_in(packed),
            Action::ConcludeSignIn => Box::pin(self.conclude_sign_in(packed)),
            // These were handled before.
            Action::VerifySignature(_)
            | Action::ReadSession(_)
            | Action::DescribeSession
            | Action::AnswerLiveness
            | Action::AnswerOptions(_)
            | Action::Describe => return Err(Problem::internal()),
        };
        pending.await
    }

    // --- identity ----------------------------------------------------------

    /// Reads the session and verifies the signature that the plan needs, each at most once, and plans
    /// again. After a session that has ended, an assertion may still need its signature verified.
    async fn identify(
        &mut self,
        packed: &PackedHead<'_>,
        mut action: Action,
    ) -> Result<Result<Outcome, Action>, Problem> {
        if let Action::ReadSession(id) = action {
            match self.read_session(packed, id).await? {
                Ok(outcome) => return Ok(Ok(outcome)),
                Err(next) => action = next,
            }
        }
        let Action::VerifySignature(token) = action else {
            return Ok(Err(action));
        };
        self.verify(&token).await?;
        let evidence = Evidence {
            signature: Signature::Verified,
            ..Evidence::default()
        };
        Ok(self.plan_again(packed, &evidence))
    }

    async fn read_session(
        &mut self,
        packed: &PackedHead<'_>,
        id: SessionId,
    ) -> Result<Result<Outcome, Action>, Problem> {
        let asked = async { SessionStub::new(&self.env, id.as_str())?.read().await };
        let record = asked.await.map_err(|error| self.gate_failed(&error))?;
        let session = record.as_deref();
        self.context.session = session.is_some().then_some(id);
        let cookie = read_cookies(&self.request);
        let evidence = Evidence {
            cookie: cookie.as_deref(),
            session: session.map_or(SessionState::Ended, SessionState::Open),
            ..Evidence::default()
        };
        Ok(self.plan_again(packed, &evidence))
    }

    /// Plans with more evidence than before, and carries out what needs no I/O.
    fn plan_again(
        &mut self,
        packed: &PackedHead<'_>,
        evidence: &Evidence<'_>,
    ) -> Result<Outcome, Action> {
        let plan = make_plan(&self.config, packed, self.context.started, evidence);
        self.context.update(&plan);
        answer_at_once(&mut self.context, &self.config, packed, plan.action)
    }

    /// Verifies a foreign token's signature.
    async fn verify(&mut self, token: &UnverifiedToken) -> Result<(), Problem> {
        let started = self.context.started;
        let found = find_issuer_key(&self.env, &self.execution, token, started).await;
        let found = found.map_err(|error| self.gate_failed(&error))?;
        let key = found.map_err(|reason| match reason {
            NoKey::Unavailable => Problem::issuer_unavailable(),
            NoKey::Unusable(reason) => invalid_token(reason),
        })?;
        match verify_signature(token, &key).await {
            Ok(true) => Ok(()),
            Ok(false) | Err(_) => Err(invalid_token(crate::auth::jwt::WRONG_SIGNATURE)),
        }
    }

    // --- sessions -----------------------------------------------------------

    async fn open_session(&mut self, packed: &PackedHead<'_>) -> Result<Outcome, Problem> {
        let body = self.read_body().await?;
        let token = session::read_opening(body.as_bytes())?;
        let proof = match (&token, packed.field("cf-access-jwt-assertion")) {
            (Some(token), _) => Proof::AccessToken(token),
            (None, Some(assertion)) => Proof::AccessAssertion(assertion),
            (None, None) => return Err(missing_token_problem()),
        };
        let opened = self.verify_proof(proof).await?;
        self.reserve_session(&opened.caller)?;
        let cookie = self.keep_session(&opened).await?;
        self.end_session_of_browser().await?;
        let outcome = Outcome::json(
            201,
            &session::describe(&opened.caller, |project| {
                self.config.analytics.archive.includes(project)
            }),
        );
        let headers = outcome.headers.with("set-cookie", cookie);
        Ok(Outcome { headers, ..outcome })
    }

    /// Checks what a session is to be opened with.
    async fn verify_proof(&mut self, proof: Proof<'_>) -> Result<NewSession, Problem> {
        let started = self.context.started;
        let mut signature = Signature::Unverified;
        loop {
            match session_record::open(proof, &self.config.auth, started, signature)? {
                Opening::Session(opened) => {
                    self.context.caller = Some(Rc::clone(&opened.caller));
                    return Ok(opened);
                }
                Opening::Unverified(_) if signature == Signature::Verified => {
                    return Err(Problem::internal());
                }
                Opening::Unverified(token) => self.verify(&token).await?,
            }
            signature = Signature::Verified;
        }
    }

    /// Counts a session that a caller opens.
    fn reserve_session(&self, caller: &Caller) -> Result<(), Problem> {
        let window = self.config.limits.window;
        let reader = Reader {
            // No project's id begins with a line feed.
            name: ["\nsession", &caller.key()].join("\n"),
            quota: None,
            ceilings: Vec::new(),
            limit: MOST_SESSIONS,
            window,
        };
        match with_reads(|reads| reads.reserve(&reader, now())) {
            Verdict::Granted(_) => Ok(()),
            Verdict::Refused(refused) => Err(Problem {
                detail: format!(
                    "a caller may open {MOST_SESSIONS} sessions in any {} seconds",
                    window.0.div_ceil(1000)
                ),
                ..refused.problem
            }),
        }
    }

    /// Keeps a session; gives its cookie.
    async fn keep_session(&mut self, opened: &NewSession) -> Result<String, Problem> {
        let NewSession {
            caller,
            record,
            secret,
        } = opened;
        let config = Rc::clone(&self.config);
        let secret = config.auth.token_secrets.get(*secret);
        let secret = secret.ok_or_else(Problem::internal)?;
        let random = random_bytes().map_err(|error| self.gate_failed(&error))?;
        let (id, value) = SessionId::new(&random, secret);
        let asked = async {
            let session = SessionStub::new(&self.env, id.as_str())?;
            session.open(record, caller.expires).await
        };
        asked.await.map_err(|error| self.gate_failed(&error))?;
        let lifetime = caller.expires.since(self.context.started);
        Ok(write_cookie(
            cookie::NAME,
            &value,
            SameSite::Strict,
            lifetime,
        ))
    }

    async fn end_session(&mut self) -> Result<Outcome, Problem> {
        self.end_session_of_browser().await?;
        let headers = HeaderFields::default().with("set-cookie", clear_cookie());
        Ok(Outcome {
            headers,
            ..GatewayResponse::empty(204).into()
        })
    }

    async fn end_session_of_browser(&mut self) -> Result<(), Problem> {
        match self.find_session() {
            Some(id) => self.end_session_named(id.as_str()).await,
            None => Ok(()),
        }
    }

    /// The session whose cookie the browser sends, open or not.
    fn find_session(&self) -> Option<SessionId> {
        let cookies = read_cookies(&self.request);
        SessionId::read(cookies.as_deref(), &self.config.auth.token_secrets)?.ok()
    }

    async fn end_session_named(&mut self, name: &str) -> Result<(), Problem> {
        let asked = async { SessionStub::new(&self.env, name)?.end().await };
        asked.await.map_err(|error| self.gate_failed(&error))
    }

    /// Whether a browser wants to show the answer.
    fn wants_page(&self) -> bool {
        let accept = self.request.headers().get("accept");
        sign_in::accepts_page(accept.ok().flatten().as_deref())
    }

    fn begin_sign_in(&mut self, packed: &PackedHead<'_>) -> Result<Outcome, Problem> {
        let config = Rc::clone(&self.config);
        let sign_in = SignIn::read(split_url(packed.url).1, &config.auth)?;
        let random = random_bytes().map_err(|error| self.gate_failed(&error))?;
        let started = self.context.started;
        let before = self.find_session();
        let (before, url) = (before.as_ref(), packed.url);
        let redirect = sign_in::begin(&config.auth, &sign_in, before, url, &random, started);
        Ok(redirect_to(302, &redirect.location, &redirect.cookie))
    }

    async fn conclude_sign_in(&mut self, packed: &PackedHead<'_>) -> Result<Outcome, Problem> {
        let cookies = read_cookies(&self.request);
        let (config, cookies) = (Rc::clone(&self.config), cookies.as_deref());
        let callback = sign_in::read_callback(&config.auth, packed.url, cookies, now())?;
        self.consume_sign_in(&callback).await?;
        let headers = HeaderFields::default()
            .with("accept", JSON)
            .with("content-type", "application/x-www-form-urlencoded");
        let sent = send(Outgoing {
            method: "POST",
            url: &callback.issuer.token_endpoint,
            headers,
            body: Some(&callback.body),
            time: VERIFICATION_TIME,
            longest: LONGEST_VERIFICATION,
        });
        let message = sent.await.map_err(|_| Problem::issuer_unavailable())?;
        let Some(answer) = message.text() else {
            let status = message.head.status;
            message.discard();
            return Err(match status {
                400..=499 => sign_in::failed_problem("the issuer has not accepted the code"),
                _ => Problem::issuer_unavailable(),
            });
        };
        let token = sign_in::read_id_token(&String::from(answer));
        let token = token.ok_or_else(Problem::issuer_unavailable)?;
        let proof = Proof::IdToken {
            token: &token,
            client: callback.issuer,
            nonce: &callback.nonce,
        };
        let opened = self.verify_proof(proof).await?;
        self.reserve_session(&opened.caller)?;
        let cookie = self.keep_session(&opened).await?;
        // The browser does not send its cookie here: the redirect comes from another site.
        if let Some(before) = &callback.before {
            self.end_session_named(before).await?;
        }
        Ok(redirect_to(303, &callback.return_path, &cookie))
    }

    /// Marks a sign-in as used before the issuer is called: each sign-in costs the issuer at most one
    /// token request, even if that request fails.
    async fn consume_sign_in(&mut self, callback: &Callback<'_>) -> Result<(), Problem> {
        let asked = async {
            let session = SessionStub::new(&self.env, &callback.name)?;
            session.open("", callback.ends).await
        };
        if asked.await.map_err(|error| self.gate_failed(&error))? {
            return Ok(());
        }
        Err(sign_in::failed_problem(
            "this sign-in has already been used; begin again",
        ))
    }

    // --- reports ------------------------------------------------------------

    async fn read_report(
        &mut self,
        packed: &PackedHead<'_>,
        query: ReportQuery,
    ) -> Result<Outcome, Problem> {
        let call = self.report_call(packed, query, true)?;
        let asked = async { OrgStub::new(&self.env)?.report(&call).await };
        let reply = asked.await.map_err(|error| self.gate_failed(&error))?;
        self.context.metrics = reply.metrics;
        let Some(found) = reply.pages else {
            let refusal = reply.refusal.ok_or_else(Problem::internal)?;
            return Ok(refusal.into());
        };
        let query = &call.query;
        let rows = std::iter::once(found.first).chain(found.second);
        let pieces = split_into_pieces(query.offset, query.limit);
        let pages: Vec<_> = rows.map(Page::from).zip(pieces).collect();
        let answer =
            ReportAnswer::cut(query.operation, &pages).map_err(|error| self.gate_failed(&error))?;
        let now = now();
        if answer.head.is_fresh(now) {
            keep_report(query, &pages, &answer, now);
        }
        let budget = found.headers;
        Ok(report_outcome(packed, answer, &found.cache, budget, now))
    }

    // --- archive ------------------------------------------------------------

    async fn read_series(
        &mut self,
        packed: &PackedHead<'_>,
        query: &SeriesQuery,
    ) -> Result<Outcome, Problem> {
        let store = self.archive()?;
        let held = store.series(self.project()?.as_str(), query).await;
        let held = held.map_err(|error| self.archive_failed(&error))?;
        let body = archive::write_series(query, &held);
        let recheck_days = self.config.analytics.archive.recheck_days;
        let lifetime = if archive::is_final(query, &held, recheck_days) {
            SETTLED_LIFETIME
        } else {
            self.config.analytics.fresh_for
        };
        let etag = ["\"", &fingerprint(&[&body]), "\""].concat();
        let max_age = (lifetime.0 / 1000).to_string();
        let headers = HeaderFields::default()
            .with("cache-control", ["private, max-age=", &max_age].concat())
            .with("etag", etag.clone())
            .with("vary", "Origin, Authorization");
        if matches_etag(packed.field("if-none-match"), &etag) {
            return Ok(Outcome {
                headers,
                ..GatewayResponse::empty(304).into()
            });
        }
        let outcome = Outcome::json(200, &body);
        let headers = outcome.headers.or(headers);
        Ok(Outcome { headers, ..outcome })
    }

    async fn read_archive_status(&mut self) -> Result<Outcome, Problem> {
        let now = now();
        let stored = self.load_archive(now).await?;
        let (config, record) = (&self.config, &stored.record);
        let body = archive::write_status(record, stored.bytes, &config.analytics.archive, now);
        Ok(Outcome::json(200, &body))
    }

    async fn estimate_backfill(&mut self, from: Day) -> Result<Outcome, Problem> {
        let now = now();
        let record = self.load_archive(now).await?.record;
        let begin = archive::begin_of_backfill(&record, from, &self.config.analytics.archive, now);
        let body = archive::write_backfill(&record, begin, &self.config.analytics.archive, now);
        Ok(Outcome::json(200, &body))
    }

    async fn begin_backfill(&mut self) -> Result<Outcome, Problem> {
        let from = plan_backfill(self.read_body().await?.as_bytes())?;
        let now = now();
        let record = self.load_archive(now).await?.record;
        let begin = archive::begin_of_backfill(&record, from, &self.config.analytics.archive, now);
        let store = self.archive()?;
        let wanted = store.want(self.project()?.as_str(), begin).await;
        wanted.map_err(|error| self.archive_failed(&error))?;
        let body = archive::write_backfill(&record, begin, &self.config.analytics.archive, now);
        Ok(Outcome::json(202, &body))
    }

    async fn load_archive(&mut self, now: Millis) -> Result<StoredProject, Problem> {
        let store = self.archive()?;
        let stored = store.load(
            self.project()?.as_str(),
            &self.config.analytics.archive,
            now,
        );
        stored.await.map_err(|error| self.archive_failed(&error))
    }

    fn archive(&mut self) -> Result<ArchiveStore, Problem> {
        let store = ArchiveStore::open(&self.env).map_err(|error| self.gate_failed(&error))?;
        store.ok_or_else(|| {
            let detail =
                "the gateway has no database for days: a D1 database has to be bound as ARCHIVE";
            Problem::archive_not_configured(detail)
        })
    }

    fn report_call(
        &self,
        packed: &PackedHead<'_>,
        query: ReportQuery,
        takes_stale: bool,
    ) -> Result<ReportCall, Problem> {
        let caller = self.caller()?;
        Ok(ReportCall {
            id: self.context.id.clone(),
            traceparent: self.context.trace.traceparent.clone(),
            tracestate: self.context.tracestate.clone(),
            caller: caller.key(),
            quota: caller.quota.ceiling(Policy::Analytics),
            ceilings: caller.ceilings(Policy::Analytics),
            query,
            revalidate: revalidates(packed),
            takes_stale,
        })
    }

    async fn export_report(
        &mut self,
        packed: &PackedHead<'_>,
        mut query: ExportQuery,
    ) -> Result<Outcome, Problem> {
        let wait = parse_wait(packed.field("prefer")).map(|wait| wait.min(LONGEST_WAIT));
        let project = self.project()?.clone();
        let now = self.context.started;
        let first = query.next(&project, &self.config.analytics, now)?;
        let first = first.ok_or_else(Problem::internal)?;
        let mut head = Vec::new();
        query.begin(wait.unwrap_or(0), &mut head);
        let mut headers = query.headers();
        if let Some(wait) = wait {
            headers.set("preference-applied", format!("wait={wait}"));
        }
        let mut export = RunningExport {
            env: self.env.clone(),
            config: Rc::clone(&self.config),
            project,
            call: ExportCall {
                report: self.report_call(packed, first, false)?,
                format: query.format,
                skip: 0,
            },
            query,
            expires: self.caller()?.expires,
            session: self.context.session.clone(),
            started: now,
            requests: 0,
            pages: 0,
            metrics: RequestMetrics::default(),
            budget: HeaderFields::default(),
            prefetch: None,
            place: None,
            prefetches: !self.context.is_head,
        };
        let began = export.next_chunk(&Brake::default()).await;
        self.context.metrics = std::mem::take(&mut export.metrics);
        let headers = headers.or(std::mem::take(&mut export.budget));
        match began {
            Err(refusal) => Ok(refusal.into()),
            Ok(_) if self.context.is_head => Ok(Outcome {
                headers,
                ..GatewayResponse::empty(200).into()
            }),
            Ok(rows) => Ok(Outcome {
                status: 200,
                headers,
                body: export
                    .into_stream(&head, &rows, &self.request.signal())
                    .into(),
                problem: None,
            }),
        }
    }

    // --- jobs --------------------------------------------------------------

    async fn read_body(&self) -> Result<String, Problem> {
        let body = read_body(&self.request, LARGEST_BODY).await;
        let body = body.map_err(|_| Problem::malformed_body())?;
        body.ok_or_else(|| Problem::content_too_large(LARGEST_BODY))
    }

    async fn read_job(&mut self, request: quillgate::Request) -> Result<Outcome, Problem> {
        let request = self.context.upstream_request(request);
        let client = UpstreamClient::new(&self.config.upstream);
        self.context.take_job(client.read_job(&request).await)
    }

    async fn write(
        &mut self,
        packed: &PackedHead<'_>,
        admitted: &AdmittedWrite,
    ) -> Result<Outcome, Problem> {
        let body = self.read_body().await?;
        let headers = packed.write_headers();
        let (write, proof) = plan_write(&self.config, admitted, &headers, body.as_bytes())?;
        if let Some(proof) = proof {
            self.verify_turnstile(&proof, &write, packed.uuid).await?;
        }
        let call = WriteCall {
            call: self.call()?,
            write,
        };
        let asked = async { self.project_stub()?.write(&call).await };
        match asked.await {
            Ok(reply) => {
                self.context.metrics = reply.metrics;
                Ok(reply.response.into())
            }
            Err(error) => Err(mark_uncertain(self.gate_failed(&error), Method::Post)),
        }
    }

    async fn verify_turnstile(
        &self,
        proof: &TurnstileProof,
        write: &Write,
        uuid: &str,
    ) -> Result<(), Problem> {
        let turnstile = self.config.turnstile.as_ref();
        let turnstile = turnstile.ok_or_else(Problem::internal)?;
        let idempotency_key =
            turnstile::choose_idempotency_key(write.key_fingerprint().as_deref(), uuid);
        let body = turnstile::build_verification(&turnstile.secret, proof, &idempotency_key);
        let sent = send(Outgoing {
            method: "POST",
            url: &turnstile.verify_url,
            headers: HeaderFields::default().with("content-type", JSON),
            body: Some(&body),
            time: VERIFICATION_TIME,
            longest: LONGEST_VERIFICATION,
        });
        let message = sent.await.map_err(|_| turnstile::unavailable_problem())?;
        let Some(answer) = message.text() else {
            message.discard();
            return Err(turnstile::unavailable_problem());
        };
        if turnstile::is_accepted(&String::from(answer), &proof.hostname) {
            return Ok(());
        }
        Err(turnstile::failed_problem())
    }

    async fn list_jobs(
        &mut self,
        filter: JobFilter,
        limit: u64,
        before: Option<Position>,
    ) -> Result<Outcome, Problem> {
        let call = ListCall {
            call: self.call()?,
            filter,
            limit,
            cursor: before.as_ref().map(encode_cursor),
        };
        let asked = async { self.project_stub()?.list(&call).await };
        let response = asked.await.map_err(|error| self.gate_failed(&error))?;
        Ok(response.into())
    }

    async fn read_record(&mut self, job: &JobId) -> Result<Outcome, Problem> {
        let call = self.call()?;
        let asked = async { self.project_stub()?.read_record(&call, job.as_str()).await };
        let response = asked.await.map_err(|error| self.gate_failed(&error))?;
        Ok(response.into())
    }

    async fn delete_record(&mut self, job: &JobId) -> Result<Outcome, Problem> {
        let id = &self.context.id;
        let asked = async { self.project_stub()?.delete_record(id, job.as_str()).await };
        let response = asked.await.map_err(|error| self.gate_failed(&error))?;
        Ok(response.into())
    }

    // --- changes -----------------------------------------------------------

    async fn stream_events(
        &mut self,
        packed: &PackedHead<'_>,
        job: Option<&JobId>,
    ) -> Result<Outcome, Problem> {
        let after = packed.field("last-event-id").and_then(parse_event_number);
        let socket = match self.watch(job, after).await? {
            Ok(socket) => socket,
            Err(refusal) => return Ok(refusal),
        };
        let signal = self.request.signal();
        let count_poll = self.poll_counter()?;
        let stream = event_stream(
            &socket,
            &signal,
            &StreamSettings {
                opening: OPENING_TEXT,
                heartbeat: HEARTBEAT_TEXT,
                period: HEARTBEAT.0,
                lifetime: self.stream_lifetime()?.0,
                charge: CHARGE_TEXT,
            },
            Box::new(move || count_poll().then_some(()).ok_or(JsValue::NULL)),
        );
        let stream = stream.map_err(|error| self.gate_failed(&error))?;
        if self.context.is_head {
            // Nobody reads the stream, so that the socket would stay open.
            let _ = stream.cancel();
        }
        let content_type = "text/event-stream; charset=utf-8";
        Ok(Outcome {
            status: 200,
            headers: HeaderFields::default().with("content-type", content_type),
            body: stream.into(),
            problem: None,
        })
    }

    /// How long a stream of the caller's stays open.
    fn stream_lifetime(&self) -> Result<Millis, Problem> {
        let in_session = self.context.session.is_some();
        Ok(limit_stream(self.caller()?.expires, now(), in_session))
    }

    async fn long_poll(
        &mut self,
        packed: &PackedHead<'_>,
        job: &JobId,
        seconds: u64,
    ) -> Result<Outcome, Problem> {
        let socket = match self.watch(Some(job), None).await? {
            Ok(socket) => socket,
            Err(refusal) => return Ok(refusal),
        };
        let poll = Rc::new(std::cell::RefCell::new(LongPoll::new(
            packed.field("if-none-match"),
        )));
        let heard = Rc::clone(&poll);
        let count_poll = self.poll_counter()?;
        let on_message = Closure::new(move |text: String| {
            if text == CHARGE_TEXT {
                return !count_poll();
            }
            let event = JobEvent::from_text(&text);
            let progress = event.map(|event| heard.borrow_mut().on_event(event));
            progress == Some(PollProgress::Done)
        });
        let signal = self.request.signal();
        let lifetime = self.stream_lifetime()?;
        let time = Millis::from_seconds(seconds).min(lifetime);
        let heard = hear(&socket, &signal, time, on_message).await;
        heard.map_err(|error| self.gate_failed(&error))?;
        // The object went away before it could say anything.
        let response = poll.borrow().to_response(seconds);
        response
            .map(Outcome::from)
            .ok_or_else(Problem::gate_unavailable)
    }

    /// Opens a socket on which changes come, or gives the answer that says why there is none.
    async fn watch(
        &mut self,
        job: Option<&JobId>,
        after: Option<u64>,
    ) -> Result<Result<WebSocket, Outcome>, Problem> {
        let Call {
            id,
            project,
            traceparent,
            tracestate,
        } = self.call()?;
        let watch = WatchCall {
            id,
            project,
            job: job.map(|job| job.as_str().to_owned()),
            traceparent,
            // A key of any length, where the runtime takes 256 characters.
            caller: fingerprint(&[&self.caller()?.key()]),
            tracestate,
            after,
        };
        let asked = async { self.project_stub()?.watch(&watch.to_url()).await };
        let response = asked.await.map_err(|error| self.gate_failed(&error))?;
        match response.websocket() {
            Some(socket) => Ok(Ok(socket)),
            None => Ok(Err(pass_on(&response))),
        }
    }

    /// Returns a function that counts a poll as a read of this caller. It returns whether the poll is
    /// within the caller's limits.
    fn poll_counter(&self) -> Result<impl Fn() -> bool + use<>, Problem> {
        let caller = Rc::clone(self.context.caller.as_ref().ok_or_else(Problem::internal)?);
        let (project, config) = (self.project()?.clone(), Rc::clone(&self.config));
        Ok(move || reserve_read(&caller, &project, &config).is_ok())
    }

    // --- health ------------------------------------------------------------

    async fn answer_health(&mut self) -> Result<Outcome, Problem> {
        let config = Rc::clone(&self.config);
        let asked = async {
            let organisation = OrgStub::new(&self.env)?.health().await?;
            let project = match self.context.project {
                Some(_) => Some(self.project_stub()?.health().await?),
                None => None,
            };
            HostResult::Ok((organisation, project))
        };
        let (organisation, project) = asked.await.map_err(|error| self.gate_failed(&error))?;
        let issuers = config.auth.trusted_issuers.iter();
        let issuers = issuers.map(|issuer| issuer.issuer.as_str()).collect();
        let health = Health::new(organisation, project, issuers);
        Ok(Outcome::json(200, &health.to_json()))
    }

    async fn reopen(&mut self, policy: Policy) -> Result<Outcome, Problem> {
        let asked = async {
            match policy {
                Policy::Analytics => OrgStub::new(&self.env)?.reopen(policy).await,
                _ => self.project_stub()?.reopen(policy).await,
            }
        };
        asked.await.map_err(|error| self.gate_failed(&error))?;
        Ok(GatewayResponse::empty(204).into())
    }

    // --- what all of them need ---------------------------------------------

    fn caller(&self) -> Result<&Caller, Problem> {
        self.context.caller()
    }

    fn project(&self) -> Result<&ProjectId, Problem> {
        self.context.project()
    }

    fn call(&self) -> Result<Call, Problem> {
        Ok(Call {
            id: self.context.id.clone(),
            project: self.project()?.as_str().to_owned(),
            traceparent: self.context.trace.traceparent.clone(),
            tracestate: self.context.tracestate.clone(),
        })
    }

    fn project_stub(&self) -> HostResult<ProjectStub> {
        let project = self.context.project.as_ref();
        let project = project.ok_or_else(|| HostError::new("a request without a project"))?;
        ProjectStub::new(&self.env, project.as_str())
    }

    /// The problem of an object that does not answer; the log says why.
    fn gate_failed(&mut self, error: &HostError) -> Problem {
        self.context.metrics.operator = Some(error.to_string());
        Problem::gate_unavailable()
    }

    /// The problem of a database that fails: before its migrations it has no tables.
    fn archive_failed(&mut self, error: &HostError) -> Problem {
        if !error.to_string().contains("no such table") {
            return self.gate_failed(error);
        }
        let detail = "the archive's database has no tables: `wrangler d1 migrations apply ARCHIVE` makes them";
        self.context.metrics.operator = Some(detail.to_owned());
        Problem::archive_not_configured(detail)
    }
}

fn redirect_to(status: u16, location: &str, cookie: &str) -> Outcome {
    let headers = HeaderFields::default()
        .with("location", location.to_owned())
        .with("set-cookie", cookie.to_owned());
    Outcome {
        headers,
        ..GatewayResponse::empty(status).into()
    }
}

/// Whether an action is counted as a read of jobs: each makes the gateway ask upstream.
const fn is_budgeted_read(action: &Action) -> bool {
    matches!(
        action,
        Action::ReadJob { .. }
            | Action::ListJobs { .. }
            | Action::StreamEvents(_)
            | Action::ReadRecord(_)
    )
}

/// An object's answer in the place of a WebSocket.
fn pass_on(response: &Response) -> Outcome {
    let headers = response_headers(response);
    let problem = headers.get(PROBLEM_HEADER).and_then(ProblemKind::from_name);
    Outcome {
        status: response.status(),
        headers: headers.without(PROBLEM_HEADER),
        body: response.body().map_or(JsValue::NULL, JsValue::from),
        problem,
    }
}
