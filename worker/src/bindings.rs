//! What the shell can call: functions on text, and nothing that keeps state but the
//! configuration. Objects go over as JSON; the hot path's only argument is packed by hand.

use std::sync::OnceLock;

use quillgate::credential::AdminKey;
use quillgate::response::Head;
use quillgate::{Endpoint, GetAgentJob, JobId, JobStatus, Method, Millis, ProjectId};
use serde::Serialize;
use serde_json::{Value, json};
use wasm_bindgen::prelude::wasm_bindgen;

use crate::access::Signature;
use crate::answer::{self, Answer, Fields};
use crate::breaker::Breaker;
use crate::budget;
use crate::config::{Config, ConfigError};
use crate::gate::{self, Admitted, Decision, Incoming, Outcome, WriteFields};
use crate::idempotency::{self, Stored};
use crate::json;
use crate::ledger::{self, Before};
use crate::oidc;
use crate::problem::Problem;
use crate::trace;
use crate::turnstile;
use crate::upstream::{self, Reading, Silence};
use crate::views::Views;
use crate::webhook;

static CONFIG: OnceLock<Result<Config, ConfigError>> = OnceLock::new();

fn config() -> Result<&'static Config, Problem> {
    match CONFIG.get() {
        Some(Ok(config)) => Ok(config),
        Some(Err(error)) => Err(Problem::misconfigured(error.variable, error.rule)),
        None => Err(Problem::internal()),
    }
}

/// JSON of what cannot fail to be JSON.
fn told<T: Serialize>(value: &T) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// What the shell hands over; `null` reads as an object without members.
fn parsed(text: &str) -> Value {
    json::value(text.as_bytes()).unwrap_or_default()
}

/// What the shell needs to know of the configuration. It holds the admin keys.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Settings<'a> {
    base_url: String,
    write_keys: Vec<&'a str>,
    read_keys: Vec<&'a str>,
    timeout: u64,
    window: u64,
    analytics_limit: u32,
    create_limit: u32,
    message_limit: u32,
    poll: u64,
    issuers: Vec<&'a str>,
    turnstile: Option<TurnstileSettings<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct TurnstileSettings<'a> {
    secret: &'a str,
    verify_url: &'a str,
}

/// Reads the variables, a JSON object of those that are set, and keeps what they say.
/// Gives the settings, or `{"error"}` that names the variable at fault.
#[wasm_bindgen]
pub fn configure(variables: &str) -> String {
    let variables = parsed(variables);
    let read = || Config::read(|name| json::text(&variables, name).map(str::to_owned));
    match CONFIG.get_or_init(read) {
        Ok(config) => {
            let exposed =
                |keys: &'static [AdminKey]| keys.iter().map(AdminKey::expose).collect::<Vec<_>>();
            let write_keys = exposed(&config.admin_keys);
            let read_keys = if config.read_keys.is_empty() {
                write_keys.clone()
            } else {
                exposed(&config.read_keys)
            };
            told(&Settings {
                base_url: config.upstream.join(""),
                write_keys,
                read_keys,
                timeout: config.upstream_timeout.0,
                window: config.limit_window.0,
                analytics_limit: config.analytics_limit,
                create_limit: config.create_limit,
                message_limit: config.message_limit,
                poll: config.job_poll.0,
                issuers: config
                    .trusted_issuers
                    .iter()
                    .map(|own| own.issuer.as_str())
                    .collect(),
                turnstile: config.turnstile.as_ref().map(|own| TurnstileSettings {
                    secret: &own.secret,
                    verify_url: &own.verify_url,
                }),
            })
        }
        Err(error) => told(&json!({ "error": error.to_string() })),
    }
}

/// What is known of a request, and what the shell is to do.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Decided<'a> {
    id: &'a str,
    headers: Fields,
    route: Option<&'static str>,
    project: Option<String>,
    subject: Option<String>,
    caller: Option<String>,
    share: Option<u32>,
    trace_id: String,
    traceparent: String,
    todo: Todo,
}

#[derive(Serialize)]
#[serde(tag = "do", rename_all = "camelCase")]
enum Todo {
    Answer {
        answer: Answer,
    },
    Deep {
        asked: Option<String>,
    },
    Describe,
    #[serde(rename_all = "camelCase")]
    Verify {
        issuer: String,
        jwks: String,
        kid: String,
        algorithm: &'static str,
        signed: String,
        signature: String,
    },
    ReadBody {
        admitted: Admitted,
    },
    Job {
        target: String,
        job: String,
    },
    Views {
        views: Views,
    },
    Jobs {
        limit: u64,
        before: Option<Before>,
    },
    Events {
        job: String,
    },
}

/// Decides about a request. `packed` holds, separated by line feeds, which none of them can
/// hold: a random UUID, the method, the URL, `X-Request-Id`, `traceparent`, `Authorization`,
/// `Cf-Access-Jwt-Assertion`, `Origin`, `Content-Type`, `Content-Length`, `Sec-Fetch-Site`; what is not there
/// is empty. `now` is in milliseconds; `verified` tells that the shell has verified the
/// signature of this very token.
#[wasm_bindgen]
pub fn decide(packed: &str, now: f64, verified: bool) -> String {
    let mut fields = packed.split('\n');
    let mut next = || fields.next().unwrap_or_default();
    let (uuid, method, url) = (next(), next(), next());
    let (own_id, traceparent) = (next(), next());
    let mut field = || Some(next()).filter(|value| !value.is_empty());
    let incoming = Incoming {
        method,
        url,
        authorization: field(),
        access_assertion: field(),
        origin: field(),
        content_type: field(),
        content_length: field(),
        fetch_site: field(),
    };
    let id = if is_harmless(own_id) { own_id } else { uuid };
    let signature = if verified {
        Signature::Checked
    } else {
        Signature::Unchecked
    };
    let outcome = if gate::is_liveness(&incoming) {
        Outcome::healthy()
    } else {
        match config() {
            Ok(config) => gate::decide(config, &incoming, millis(now), signature),
            Err(problem) => Outcome::refused(problem),
        }
    };
    let traceparent = Some(traceparent).filter(|value| !value.is_empty());
    told(&decided(id, uuid, traceparent, outcome))
}

/// A caller's own request id is taken over when it is short and of harmless characters.
fn is_harmless(id: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"_-=".contains(&byte);
    !id.is_empty() && id.len() <= 255 && id.bytes().all(fits)
}

fn decided<'a>(
    id: &'a str,
    uuid: &str,
    traceparent: Option<&str>,
    outcome: Outcome,
) -> Decided<'a> {
    let trace = trace::child(traceparent, &uuid.replace('-', ""));
    let caller = outcome.caller.as_ref();
    let policy = matches!(outcome.decision, Ok(Decision::Views(_))).then_some("analytics");
    Decided {
        id,
        headers: answer::always(id, &outcome.origin),
        route: outcome.route,
        subject: caller.map(|caller| caller.subject.clone()),
        share: caller
            .zip(policy)
            .and_then(|(caller, policy)| caller.quota.of(policy)),
        caller: caller.map(crate::access::Caller::key),
        project: outcome.project,
        trace_id: trace.trace_id,
        traceparent: trace.traceparent,
        todo: match outcome.decision {
            Ok(decision) => todo(decision),
            Err(problem) => Todo::Answer {
                answer: Answer::problem(&problem, id),
            },
        },
    }
}

fn todo(decision: Decision) -> Todo {
    match decision {
        Decision::Healthy => Todo::Answer {
            answer: Answer::json(r#"{"status":"ok"}"#),
        },
        Decision::Deep(asked) => Todo::Deep { asked },
        Decision::Describe => Todo::Describe,
        Decision::Options(methods) => Todo::Answer {
            answer: Answer::options(&methods),
        },
        Decision::Verify(token) => Todo::Verify {
            issuer: token.issuer,
            jwks: token.jwks,
            kid: token.kid,
            algorithm: token.algorithm.as_str(),
            signed: token.signed,
            signature: token.signature,
        },
        Decision::ReadBody(admitted) => Todo::ReadBody { admitted },
        Decision::Job(request, job) => Todo::Job {
            target: request.target,
            job,
        },
        Decision::Views(views) => Todo::Views { views },
        Decision::Jobs { limit, before } => Todo::Jobs { limit, before },
        Decision::Events(job) => Todo::Events { job },
    }
}

/// Decides about the body of a request that writes: `{"write"}`, or the `{"answer"}`.
#[wasm_bindgen]
pub fn accept(head: &str, body: &str) -> String {
    let head = parsed(head);
    let id = json::text(&head, "id").unwrap_or_default();
    let admitted = Admitted::read(&head["admitted"]);
    let fields = WriteFields::read(&head["fields"]);
    let accepted =
        config().and_then(|config| gate::accept(config, &admitted, &fields, body.as_bytes()));
    match accepted {
        Ok(write) => told(&json!({ "write": write })),
        Err(problem) => refused(&problem, id),
    }
}

fn refused(problem: &Problem, id: &str) -> String {
    told(&json!({ "answer": Answer::problem(problem, id) }))
}

/// The answer to a request that the shell itself could not carry out.
#[wasm_bindgen]
pub fn refuse(kind: &str, detail: &str, id: &str) -> String {
    told(&Answer::problem(&problem_of(kind, detail), id))
}

fn problem_of(kind: &str, detail: &str) -> Problem {
    match kind {
        "invalid-token" => crate::access::not_accepted(detail),
        "issuer-unavailable" => Problem::issuer_unavailable(),
        "content-too-large" => Problem::content_too_large(crate::content::LARGEST_BODY),
        "malformed-body" => Problem::malformed_body(),
        "turnstile-failed" => turnstile::failed(),
        "turnstile-unavailable" => turnstile::unavailable(),
        "gate-unavailable" => Problem::gate_unavailable(),
        "gate-unavailable-write" => upstream::uncertain(Problem::gate_unavailable(), Method::Post),
        _ => Problem::internal(),
    }
}

/// The key of a JWK Set that a signature is to be verified with: `{"key"}` with its JSON,
/// which is `null` when the set has no such key, or `{"error"}`.
#[wasm_bindgen]
pub fn jwk(set: &str, kid: &str, algorithm: &str) -> String {
    let found = oidc::Algorithm::named(algorithm)
        .ok_or("the access token's algorithm is not one of an issuer's")
        .and_then(|algorithm| oidc::jwk(set, kid, algorithm));
    told(&match found {
        Ok(key) => json!({ "key": key }),
        Err(error) => json!({ "error": error }),
    })
}

/// Whether Turnstile's answer says that a person was there, on a page of this host.
#[wasm_bindgen]
pub fn turnstile_passed(answer: &str, hostname: &str) -> bool {
    turnstile::passed(answer, hostname)
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Reserved {
    headers: Fields,
    left: u32,
    answer: Option<Answer>,
    claim_until: Option<u64>,
}

/// Decides whether a request may use a slot of a budget; `ask` is a [`budget::Ask`] with the
/// request's id.
#[wasm_bindgen]
pub fn reserve(ask: &str) -> String {
    let ask = parsed(ask);
    let id = json::text(&ask, "id").unwrap_or_default();
    told(&match budget::reserve(&budget::Ask::read(&ask)) {
        budget::Verdict::Granted(granted) => Reserved {
            headers: fields(granted.fields),
            left: granted.left,
            answer: None,
            claim_until: None,
        },
        budget::Verdict::Refused(refused) => Reserved {
            headers: Fields::default(),
            left: 0,
            answer: Some(Answer::problem(&refused.problem, id)),
            claim_until: refused.claim_until,
        },
    })
}

fn fields(fields: budget::Fields) -> Fields {
    Fields(vec![
        ("ratelimit-policy", fields.rate_limit_policy),
        ("ratelimit", fields.rate_limit),
    ])
}

/// Decides about a request with an idempotency key: `{"do": "fresh" | "again" | "replay"}` or
/// the `{"answer"}`.
#[wasm_bindgen]
pub fn repeat(asked: &str) -> String {
    let asked = parsed(asked);
    let id = json::text(&asked, "id").unwrap_or_default();
    let fingerprint = json::text(&asked, "fingerprint").unwrap_or_default();
    let retry = if json::flag(&asked, "force") {
        idempotency::Retry::Force
    } else {
        idempotency::Retry::Normal
    };
    let stored = asked.get("stored").filter(|stored| stored.is_object());
    let stored = stored.map(Stored::read);
    let now = Millis(json::number(&asked, "now").unwrap_or_default());
    let verdict = idempotency::verdict(stored.as_ref(), fingerprint, retry, now);
    let what = match verdict {
        idempotency::Verdict::Fresh => "fresh",
        idempotency::Verdict::Again => "again",
        idempotency::Verdict::Replay => "replay",
        idempotency::Verdict::Refused(problem) => return refused(&problem, id),
    };
    told(&json!({ "do": what }))
}

/// What the shell knows of an answer of the upstream.
struct Reply {
    id: String,
    /// Whether the request writes.
    writes: bool,
    now: u64,
    /// `None` when there was no answer.
    status: Option<u16>,
    timed_out: bool,
    content_type: Option<String>,
    retry_after: Option<String>,
    request_id: Option<String>,
    /// Whether the body, a success's, is what was promised.
    malformed: bool,
}

impl Reply {
    fn read(reply: &Value) -> Self {
        let field = |name| json::text(reply, name).map(str::to_owned);
        Self {
            id: json::owned(reply, "id"),
            writes: json::flag(reply, "writes"),
            now: json::number(reply, "now").unwrap_or_default(),
            status: json::status(reply),
            timed_out: json::flag(reply, "timedOut"),
            content_type: field("contentType"),
            retry_after: field("retryAfter"),
            request_id: field("requestId"),
            malformed: json::flag(reply, "malformed"),
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ReplyRead {
    /// `None` for a success, which the shell passes on.
    answer: Option<Answer>,
    settled: &'static str,
    /// How long the upstream wants to be left alone, when it answered 429.
    closed_for: Option<u64>,
    /// What the operator has to mend.
    operator: Option<String>,
    /// Whether this counts as a failure of the upstream.
    failure: bool,
}

/// Reads what became of a request upstream; `body` is an error's.
#[wasm_bindgen]
pub fn reading(reply: &str, body: &str) -> String {
    let reply = Reply::read(&parsed(reply));
    told(&match config() {
        Ok(config) => read(&reply, body, config),
        Err(problem) => ReplyRead {
            answer: Some(Answer::problem(&problem, &reply.id)),
            settled: "unknown",
            closed_for: None,
            operator: None,
            failure: false,
        },
    })
}

fn read(reply: &Reply, body: &str, config: &Config) -> ReplyRead {
    let method = if reply.writes {
        Method::Post
    } else {
        Method::Get
    };
    let mut operator = None;
    let mut closed_for = None;
    let problem = match reply.status {
        None if reply.timed_out => Some(upstream::silence(Silence::TimedOut, method)),
        None => Some(upstream::silence(Silence::Broken, method)),
        Some(status) => match upstream::reading(status, reply.content_type.as_deref()) {
            Reading::Success if reply.malformed => Some(upstream::malformed(method)),
            Reading::Success => None,
            Reading::Problem(problem) => Some(upstream::uncertain(problem, method)),
            Reading::Error => {
                let error = upstream_error(reply, status, body, config);
                let now = Millis(reply.now);
                let closed = budget::closed_until(error.retry_after, now).since(now);
                closed_for = (status == 429).then_some(closed.0);
                Some(upstream::error(&error, method))
            }
            Reading::KeyRefused => {
                let error = upstream_error(reply, status, body, config);
                operator = Some(upstream::key_trouble(
                    key_of(reply, config),
                    status,
                    &error.message,
                ));
                Some(upstream::key_refused())
            }
        },
    };
    let complete = reply
        .status
        .filter(|status| problem.is_none() || !(200..=299).contains(status));
    ReplyRead {
        failure: problem.is_some()
            && reply
                .status
                .is_none_or(|status| !(400..500).contains(&status)),
        answer: problem.map(|problem| Answer::problem(&problem, &reply.id)),
        settled: idempotency::settled(complete).as_str(),
        closed_for,
        operator,
    }
}

/// The variable of the key that a request was sent with.
fn key_of(reply: &Reply, config: &Config) -> &'static str {
    if reply.writes || config.read_keys.is_empty() {
        "ADMIN_API_KEY"
    } else {
        "ADMIN_READ_KEY"
    }
}

fn upstream_error(reply: &Reply, status: u16, body: &str, config: &Config) -> quillgate::ApiError {
    let head = Head {
        status,
        request_id: reply.request_id.clone(),
        retry_after: reply.retry_after.clone(),
    };
    let keys = config.admin_keys.iter().chain(&config.read_keys);
    head.api_error(upstream::error_body(body, keys).as_ref(), Millis(reply.now))
}

/// Asks the breaker, whose state the shell keeps: `{"state"}`, and the `{"answer"}` when
/// nothing may go upstream.
#[wasm_bindgen]
pub fn breaker_allows(state: &str, now: f64, id: &str) -> String {
    let mut breaker = Breaker::read(state);
    let refused = breaker.allow(millis(now)).err();
    let answer = refused.map(|problem| Answer::problem(&problem, id));
    told(&json!({ "state": told(&breaker), "answer": answer }))
}

/// Tells the breaker what became of a request; gives its new state, which is empty when there
/// is nothing to remember.
#[wasm_bindgen]
pub fn breaker_told(state: &str, success: bool, now: f64) -> String {
    let mut breaker = Breaker::read(state);
    breaker.told(success, millis(now));
    if breaker.is_calm(millis(now)) {
        return String::new();
    }
    told(&breaker)
}

/// The breaker's state in a word: `closed`, `open` or `half-open`.
#[wasm_bindgen]
pub fn breaker_state(state: &str, now: f64) -> String {
    let breaker = Breaker::read(state);
    breaker.state(millis(now)).as_str().to_owned()
}

/// The path of a job upstream; empty for what is no job.
#[wasm_bindgen]
pub fn job_target(project: &str, id: &str) -> String {
    let target = || {
        let call = GetAgentJob::new(JobId::new(id).ok()?);
        Some(call.request(&ProjectId::new(project).ok()?).target)
    };
    target().unwrap_or_default()
}

/// Whether a job in this state has come to its end.
#[wasm_bindgen]
pub fn is_terminal(status: &str) -> bool {
    JobStatus::from(status.to_owned()).is_terminal()
}

/// The cursor that leads to the jobs before this one.
#[wasm_bindgen]
pub fn cursor(created: f64, row: f64) -> String {
    let (created, row) = (millis(created).0, millis(row).0);
    ledger::cursor(&Before { created, row })
}

#[derive(Serialize)]
struct Delivery {
    body: String,
    signature: String,
}

/// A webhook's body and signature. `timestamp` is in seconds; `moment` is ISO 8601.
#[wasm_bindgen]
pub fn delivery(id: &str, timestamp: f64, moment: &str, status: &str, job: &str) -> String {
    let event = webhook::event(&JobStatus::from(status.to_owned())).unwrap_or_default();
    let body = webhook::payload(event, moment, job);
    let secrets = config()
        .map(|config| &config.webhook.secrets[..])
        .unwrap_or_default();
    let signature = webhook::sign(secrets, id, millis(timestamp).0, &body);
    told(&Delivery { body, signature })
}

/// When a webhook is tried again, in milliseconds; below zero for never. `attempts` have been
/// made, the last with this status, 0 for no answer.
#[wasm_bindgen]
pub fn next_delivery(attempts: u32, status: u16, retry_after: &str, jitter: f64, now: f64) -> f64 {
    let wait = quillgate::date::retry_after(retry_after, millis(now));
    let status = Some(status).filter(|status| *status != 0);
    match webhook::next(attempts, status, wait, jitter) {
        webhook::Next::Again(wait) => float(wait.0),
        webhook::Next::Done | webhook::Next::GivenUp => -1.0,
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the host's clock and counters are far below 2^53 and not negative"
)]
fn millis(number: f64) -> Millis {
    Millis(number as u64)
}

#[expect(clippy::cast_precision_loss, reason = "far below 2^53")]
fn float(number: u64) -> f64 {
    number as f64
}
