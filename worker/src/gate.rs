//! The decision about a request, from what can be read of it without its body, and
//! then from its body: plain data in, plain data out.

use quillgate::{
    CreateAgentJob, Endpoint, GetAgentJob, JobCursor, JobPageSize, ListAgentJobs, ListPageViews,
    Method, Millis, Operation, ProjectId, Prompt, Request, SendMessage,
};
use serde::Serialize;
use serde_json::Value;

use crate::access::{self, Caller, Credentials, Identity, Signature};
use crate::config::Config;
use crate::content::{LARGEST_BODY, Values, is_json};
use crate::cors::{self, Origin};
use crate::idempotency;
use crate::json;
use crate::ledger::{self, Before};
use crate::oidc::Unverified;
use crate::problem::Problem;
use crate::route::{self, JOB_EVENTS, decoded_segment, percent_decoded, split_url};
use crate::turnstile::Human;
use crate::views::Views;
use crate::webhook;

/// What of a request decides, apart from its body.
#[derive(Debug, Clone, Copy, Default)]
pub struct Incoming<'a> {
    /// The method.
    pub method: &'a str,
    /// The absolute URL.
    pub url: &'a str,
    /// `Authorization`.
    pub authorization: Option<&'a str>,
    /// `Cf-Access-Jwt-Assertion`.
    pub access_assertion: Option<&'a str>,
    /// `Origin`.
    pub origin: Option<&'a str>,
    /// `Content-Type`.
    pub content_type: Option<&'a str>,
    /// `Content-Length`.
    pub content_length: Option<&'a str>,
    /// `Sec-Fetch-Site`, with which a browser says where a request comes from.
    pub fetch_site: Option<&'a str>,
}

/// What is to be done.
pub enum Decision {
    /// Answer that the Worker is up.
    Healthy,
    /// Answer an operator how the gateway and its upstream are, and this project's gate.
    Deep(Option<String>),
    /// Answer with the description of the gateway (`OpenAPI` 3.1).
    Describe,
    /// Answer a question about a path with these methods: a browser's preflight, mostly.
    Options(Vec<&'static str>),
    /// Verify a token's signature, then decide again.
    Verify(Unverified),
    /// Read the body, then ask [`accept`].
    ReadBody(Admitted),
    /// Read a job upstream and pass the answer on.
    Job(Request, String),
    /// Answer with page views, from the cache where that has them.
    Views(Views),
    /// List the jobs of the ledger.
    Jobs {
        /// The most jobs to list.
        limit: u64,
        /// Where the page before ended.
        before: Option<Before>,
    },
    /// Stream the changes of the job with this id.
    Events(String),
}

/// A request that writes, admitted by its head. The host hands it back with the body.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Admitted {
    operation: String,
    project: String,
    id: Option<String>,
    caller: String,
    subject: String,
    share: Option<u32>,
    /// The page that it comes from, when it comes from one.
    origin: Option<String>,
}

impl Admitted {
    /// Reads what the host hands back.
    #[must_use]
    pub fn read(value: &Value) -> Self {
        Self {
            operation: json::owned(value, "operation"),
            project: json::owned(value, "project"),
            id: json::text(value, "id").map(str::to_owned),
            caller: json::owned(value, "caller"),
            subject: json::owned(value, "subject"),
            share: json::count(value, "share"),
            origin: json::text(value, "origin").map(str::to_owned),
        }
    }
}

/// Header fields of a request that writes, beside its body.
#[derive(Debug, Clone, Default)]
pub struct WriteFields {
    /// `Idempotency-Key`.
    pub idempotency_key: Option<String>,
    /// `Idempotency-Retry`.
    pub idempotency_retry: Option<String>,
    /// `Webhook-Url`.
    pub webhook_url: Option<String>,
    /// `Cf-Turnstile-Response`.
    pub turnstile: Option<String>,
}

impl WriteFields {
    /// Reads the fields that the host hands over.
    #[must_use]
    pub fn read(value: &Value) -> Self {
        let field = |name| json::text(value, name).map(str::to_owned);
        Self {
            idempotency_key: field("idempotencyKey"),
            idempotency_retry: field("idempotencyRetry"),
            webhook_url: field("webhookUrl"),
            turnstile: field("turnstile"),
        }
    }
}

/// A request that changes something upstream, to be carried out at most once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Write {
    /// The operation's name.
    pub operation: &'static str,
    /// The policy that it is counted under.
    pub policy: &'static str,
    /// How often the policy allows it in a window.
    pub limit: u32,
    /// Who asks, as [`Caller::key`].
    pub caller: String,
    /// Who asks, as people know them: the token's `sub`.
    pub subject: String,
    /// The most that the caller's token lets it use in a window.
    pub share: Option<u32>,
    /// The job that it is about, when it is about one.
    pub job: Option<String>,
    /// The caller's idempotency key.
    pub key: Option<String>,
    /// What a repetition must be equal to.
    pub fingerprint: String,
    /// Whether the caller wants an unknown outcome tried again.
    pub force: bool,
    /// Path and query.
    pub target: String,
    /// The JSON that is sent, rebuilt from checked values.
    pub body: String,
    /// The prompt's first line, for the ledger.
    pub line: String,
    /// Where the job's completion is told.
    pub webhook: Option<String>,
    /// The Turnstile response that has to be checked first.
    pub human: Option<Human>,
}

/// What is known of a request, and what is to be done.
pub struct Outcome {
    /// The origin's part of the answer's head.
    pub origin: Origin,
    /// The route's pattern, once one is found.
    pub route: Option<&'static str>,
    /// Who asks, once that is known.
    pub caller: Option<Caller>,
    /// The project, once the caller may work on it.
    pub project: Option<String>,
    /// What is to be done, or why nothing is.
    pub decision: Result<Decision, Problem>,
}

const LIVENESS: &str = "/healthz";
const DESCRIPTION: &str = "/openapi.json";

/// Whether a request asks if the Worker is up, which it is however it is set up.
#[must_use]
pub fn is_liveness(incoming: &Incoming<'_>) -> bool {
    let (path, query) = split_url(incoming.url);
    path == LIVENESS && matches!(incoming.method, "GET" | "HEAD") && !is_deep(query)
}

/// Whether `/healthz` is asked for more than whether the Worker is up.
fn is_deep(query: Option<&str>) -> bool {
    pair(query, "deep").is_some()
}

/// The value of a pair of the query, still encoded; empty for one without a value.
fn pair<'a>(query: Option<&'a str>, name: &str) -> Option<&'a str> {
    query.unwrap_or_default().split('&').find_map(|pair| {
        let (own, value) = pair.split_once('=').unwrap_or((pair, ""));
        (own == name).then_some(value)
    })
}

impl Outcome {
    fn new(route: Option<&'static str>, decision: Result<Decision, Problem>) -> Self {
        Self {
            origin: Origin::Own,
            route,
            caller: None,
            project: None,
            decision,
        }
    }

    /// The Worker is up.
    #[must_use]
    pub fn healthy() -> Self {
        Self::new(Some(LIVENESS), Ok(Decision::Healthy))
    }

    /// Nothing is done, because of this.
    #[must_use]
    pub fn refused(problem: Problem) -> Self {
        Self::new(None, Err(problem))
    }
}

/// Decides about a request; `now` is the instant that tokens are checked at, and
/// `signature` whether the host has verified the signature of its foreign token.
#[must_use]
pub fn decide(
    config: &Config,
    incoming: &Incoming<'_>,
    now: Millis,
    signature: Signature,
) -> Outcome {
    let origin = match cors::origin(incoming.origin, incoming.url, &config.allowed_origins) {
        Ok(origin) => origin,
        Err(problem) => return Outcome::refused(problem),
    };
    if origin == Origin::Own && is_forged(incoming) {
        return Outcome::refused(cors::not_allowed());
    }
    let (path, query) = split_url(incoming.url);
    let mut request = Asked {
        config,
        incoming,
        query,
        now,
        signature,
        outcome: Outcome {
            origin,
            ..Outcome::healthy()
        },
    };
    request.outcome.route = None;
    request.outcome.decision = request.decided(path);
    request.outcome
}

/// Whether a page elsewhere makes a browser ask, with the cookie that Cloudflare Access makes an
/// assertion of: an image's address is enough for that, and has no `Origin`.
fn is_forged(incoming: &Incoming<'_>) -> bool {
    let by_cookie = incoming.authorization.is_none() && incoming.access_assertion.is_some();
    by_cookie && incoming.fetch_site == Some("cross-site")
}

/// A request while it is decided about.
struct Asked<'a> {
    config: &'a Config,
    incoming: &'a Incoming<'a>,
    query: Option<&'a str>,
    now: Millis,
    signature: Signature,
    outcome: Outcome,
}

impl Asked<'_> {
    fn decided(&mut self, path: &str) -> Result<Decision, Problem> {
        let reads = matches!(self.incoming.method, "GET" | "HEAD");
        let asks = self.incoming.method == "OPTIONS";
        match path {
            LIVENESS | DESCRIPTION if asks => Ok(Decision::Options(vec!["GET", "HEAD"])),
            LIVENESS | DESCRIPTION if !reads => {
                Err(Problem::method_not_allowed("GET, HEAD, OPTIONS"))
            }
            LIVENESS => self.health(),
            DESCRIPTION => {
                self.outcome.route = Some(DESCRIPTION);
                Ok(Decision::Describe)
            }
            _ if asks => match &route::methods(path)[..] {
                [] => Err(Problem::not_found()),
                methods => Ok(Decision::Options(methods.to_vec())),
            },
            _ => self.operation(path),
        }
    }

    fn health(&mut self) -> Result<Decision, Problem> {
        self.outcome.route = Some(LIVENESS);
        if !is_deep(self.query) {
            return Ok(Decision::Healthy);
        }
        let project = pair(self.query, "project").and_then(percent_decoded);
        match self.identity()? {
            Identity::Unverified(token) => Ok(Decision::Verify(token)),
            Identity::Caller(caller) => {
                let operates = caller.operates();
                self.outcome.caller = Some(caller);
                operates.map(|()| Decision::Deep(project))
            }
        }
    }

    fn identity(&self) -> Result<Identity, Problem> {
        let credentials = Credentials {
            authorization: self.incoming.authorization,
            access_assertion: self.incoming.access_assertion,
        };
        access::identify(&credentials, self.config, self.now, self.signature)
    }

    fn operation(&mut self, path: &str) -> Result<Decision, Problem> {
        let route = route::find(self.incoming.method, path)?;
        self.outcome.route = Some(route.operation.path);
        let caller = match self.identity()? {
            Identity::Caller(caller) => caller,
            Identity::Unverified(token) => return Ok(Decision::Verify(token)),
        };
        let caller = self.outcome.caller.insert(caller);
        let operation = route.operation;
        let (project, id) = path_values(route)?;
        caller.authorize(project.as_str(), operation.scope)?;
        self.outcome.project = Some(project.as_str().to_owned());
        let path = id.iter().map(|id| ("id", id.clone())).collect();
        let values = Values::new(operation, path, self.query)?;
        if operation.method == Method::Post {
            announced_body(self.incoming)?;
            let policy = policy(self.config, operation);
            return Ok(Decision::ReadBody(Admitted {
                operation: operation.name.to_owned(),
                project: project.as_str().to_owned(),
                id,
                caller: caller.key(),
                subject: caller.subject.clone(),
                share: caller.quota.of(policy.name),
                origin: self.incoming.origin.map(str::to_owned),
            }));
        }
        self.read(operation, &values, &project)
    }

    fn read(
        &self,
        operation: &Operation,
        values: &Values,
        project: &ProjectId,
    ) -> Result<Decision, Problem> {
        let name = operation.name;
        if name == ListPageViews::OPERATION.name {
            let views = Views::new(&values.call()?, project, self.config, self.now)?;
            return Ok(Decision::Views(views));
        }
        if name == ListAgentJobs::OPERATION.name {
            let call: ListAgentJobs = values.call()?;
            let cursor = call.cursor.as_ref().map(JobCursor::as_str);
            let before = cursor.map(ledger::before).transpose()?;
            let limit = call.limit.unwrap_or(JobPageSize::DEFAULT).get();
            return Ok(Decision::Jobs { limit, before });
        }
        let call: GetAgentJob = values.call()?;
        let id = values.text("id").unwrap_or_default();
        if name == JOB_EVENTS.name {
            return Ok(Decision::Events(id));
        }
        Ok(Decision::Job(call.request(project), id))
    }
}

/// The values of a path: the project, and the job's id where there is one.
fn path_values(route: route::Route) -> Result<(ProjectId, Option<String>), Problem> {
    let (mut project, mut id) = (String::new(), None);
    for (name, segment) in route.segments {
        let value = decoded_segment(name, &segment)?;
        if name == "projectId" {
            project = value;
        } else {
            id = Some(value);
        }
    }
    Ok((ProjectId::new(project)?, id))
}

/// Refuses a body by what its head says of it, before any of it is read.
fn announced_body(incoming: &Incoming<'_>) -> Result<(), Problem> {
    if !is_json(incoming.content_type) {
        return Err(Problem::unsupported_media_type());
    }
    let length = incoming.content_length.map(str::parse::<u64>);
    match length {
        Some(Ok(length)) if length > LARGEST_BODY as u64 => {
            Err(Problem::content_too_large(LARGEST_BODY))
        }
        _ => Ok(()),
    }
}

/// A budget: its name, and how often it lets something be done in a window.
struct Policy {
    name: &'static str,
    limit: u32,
}

fn policy(config: &Config, operation: &Operation) -> Policy {
    if operation.name == SendMessage::OPERATION.name {
        Policy {
            name: "send-message",
            limit: config.message_limit,
        }
    } else {
        Policy {
            name: "create-job",
            limit: config.create_limit,
        }
    }
}

/// Decides about the body of a request that writes.
///
/// # Errors
/// 400 for a body that is no JSON object, and for values and header fields that break a rule.
pub fn accept(
    config: &Config,
    admitted: &Admitted,
    fields: &WriteFields,
    body: &[u8],
) -> Result<Write, Problem> {
    let creates = admitted.operation == CreateAgentJob::OPERATION.name;
    let operation = if creates {
        &CreateAgentJob::OPERATION
    } else {
        &SendMessage::OPERATION
    };
    let path = admitted.id.iter().map(|id| ("id", id.clone())).collect();
    let values = Values::new(operation, path, None)?.with_body(operation, body)?;
    let project = ProjectId::new(admitted.project.clone())?;
    let request = if creates {
        values.call::<CreateAgentJob>()?.request(&project)
    } else {
        values.call::<SendMessage>()?.request(&project)
    };
    let webhook = match &fields.webhook_url {
        Some(url) if creates => Some(told_at(config, url)?),
        Some(_) => return Err(Problem::no_webhook_here()),
        None if creates => config.webhook.url.clone(),
        None => None,
    };
    let human = match (&config.turnstile, &admitted.origin) {
        (Some(turnstile), Some(origin)) => {
            Some(turnstile.asked(fields.turnstile.as_deref(), origin)?)
        }
        _ => None,
    };
    let policy = policy(config, operation);
    let body = request.body.unwrap_or_default();
    let key = fields.idempotency_key.as_deref();
    let key = key.map(idempotency::Key::read).transpose()?;
    let retry = idempotency::Retry::read(fields.idempotency_retry.as_deref())?;
    let prompt = values.text("prompt").unwrap_or_default();
    Ok(Write {
        operation: operation.name,
        policy: policy.name,
        limit: policy.limit,
        caller: admitted.caller.clone(),
        subject: admitted.subject.clone(),
        share: admitted.share,
        job: admitted.id.clone(),
        key: key.map(|key| key.as_str().to_owned()),
        fingerprint: idempotency::fingerprint(&[
            &request.target,
            &body,
            fields.webhook_url.as_deref().unwrap_or_default(),
        ]),
        force: retry == idempotency::Retry::Force,
        target: request.target,
        body,
        line: ledger::first_line(&Prompt::new(prompt)?),
        webhook,
        human,
    })
}

fn told_at(config: &Config, url: &str) -> Result<String, Problem> {
    if config.webhook.secrets.is_empty() {
        return Err(Problem::webhooks_off());
    }
    webhook::target(url, &config.webhook.hosts)
}
