//! Requests upstream: sends what [`crate::upstream`] decides.

use js_sys::{Array, JsString, Reflect};
use quillgate::schema::Described as _;
use quillgate::{AgentJob, Method, Millis};
use serde_json::Value;
use wasm_bindgen::{JsCast, JsValue};

use super::context::now;
use super::host::{Message, Outgoing, parse_json, send, stringify_json};
use super::isolate::with_breakers;
use crate::breaker::Scope;
use crate::config::Config;
use crate::json;
use crate::log::ExchangeMetrics;
use crate::problem::Problem;
use crate::shape::is_of_kind;
use crate::upstream::{
    Attempts, LONGEST_ERROR, LONGEST_JOB, LONGEST_PAGE, NextAttempt, ReplyHead, TransportError,
    UpstreamFailure, UpstreamRequest, classify_error, classify_malformed, classify_transport_error,
};
use crate::views::page::PAGE_ROWS;

/// What became of a request.
#[derive(Clone)]
pub struct Exchange<T> {
    /// For the log and `Server-Timing`.
    pub metrics: ExchangeMetrics,
    /// The success, read and checked, or the failure.
    pub outcome: Result<T, UpstreamFailure>,
}

/// A job as the upstream answered it, for who passes the answer on.
pub struct JobReply {
    /// The head of the answer.
    pub head: ReplyHead,
    /// The answer's own text: members that are not known are passed on too.
    pub text: JsString,
}

impl JobReply {
    pub(super) fn read(head: ReplyHead, text: &JsString) -> Option<Self> {
        parse_job(text)?;
        let text = text.clone();
        Some(Self { head, text })
    }
}

/// Checks the shape of a job, as the package would.
fn parse_job(text: &JsString) -> Option<Value> {
    let job = json::parse(String::from(text).as_bytes())?;
    is_of_kind(&job, &AgentJob::KIND).then_some(job)
}

/// A job as the upstream answered it, for who keeps what is known of it.
#[derive(Clone)]
pub struct JobSnapshot {
    /// The status of the answer.
    pub http_status: u16,
    /// The answer's own text.
    pub text: JsString,
    /// The same in one line, as the tables and the event streams have it.
    pub data: String,
    /// The job's id.
    pub id: Option<String>,
    /// Its status.
    pub status: Option<String>,
    /// Its pull request.
    pub pr_link: Option<String>,
}

impl JobSnapshot {
    pub(super) fn read(head: &ReplyHead, text: JsString) -> Option<Self> {
        let job = parse_job(&text)?;
        let member = |name| json::text(&job, name).map(str::to_owned);
        Some(Self {
            http_status: head.status,
            // By JavaScript, which keeps the order of the members.
            data: stringify_json(&parse_json(&text).ok()?).ok()?.into(),
            id: member("id"),
            status: member("status"),
            pr_link: member("prLink"),
            text,
        })
    }
}

/// A page of analytics as the upstream answered it.
pub struct PageReply {
    /// The answer's own text, which stays outside of the wasm's memory.
    pub text: JsString,
    /// How many rows it has.
    pub rows: u64,
    /// Whether there are more.
    pub has_more: bool,
}

impl PageReply {
    /// Checks the shape of a page (SPEC 2.3).
    pub(super) fn read(text: JsString) -> Option<Self> {
        let page = parse_json(&text).ok()?;
        let member = |name: &str| Reflect::get(&page, &JsValue::from_str(name)).ok();
        let rows = u64::from(member("views")?.dyn_into::<Array>().ok()?.length());
        let totals = member("totals")?;
        let has_totals = totals.is_object() && !Array::is_array(&totals);
        let has_more = member("hasMore")?.as_bool()?;
        (has_totals && rows <= PAGE_ROWS).then_some(Self {
            text,
            rows,
            has_more,
        })
    }
}

/// An answer, with its body.
struct Answer {
    head: ReplyHead,
    /// Of a success.
    text: Option<JsString>,
    /// Of an error.
    error: String,
}

/// A request that was sent.
struct Asked {
    scope: Option<Scope>,
    started: Millis,
    answer: Result<Answer, TransportError>,
}

/// Sends requests upstream.
pub struct UpstreamClient<'a> {
    config: &'a Config,
}

impl<'a> UpstreamClient<'a> {
    /// A client with this configuration.
    pub const fn new(config: &'a Config) -> Self {
        Self { config }
    }

    /// Sends a request that is answered by a job, for who passes the answer on.
    pub async fn read_job(&self, request: &UpstreamRequest) -> Exchange<JobReply> {
        let answer = self.ask(request, LONGEST_JOB, &mut || true).await;
        self.conclude(request, answer, |head, text| JobReply::read(head, &text))
    }

    /// Sends a request that is answered by a job, of which what is known is kept.
    pub async fn take_snapshot(&self, request: &UpstreamRequest) -> Exchange<JobSnapshot> {
        let answer = self.ask(request, LONGEST_JOB, &mut || true).await;
        self.conclude(request, answer, |head, text| JobSnapshot::read(&head, text))
    }

    /// Sends a request that is answered by a page of analytics; `pay` reserves a slot of the
    /// budget for each further attempt.
    pub async fn read_page(
        &self,
        request: &UpstreamRequest,
        pay: &mut dyn FnMut() -> bool,
    ) -> Exchange<PageReply> {
        let answer = self.ask(request, LONGEST_PAGE, pay).await;
        self.conclude(request, answer, |_, text| PageReply::read(text))
    }

    /// Sends a request unless its breaker is open.
    async fn ask(
        &self,
        request: &UpstreamRequest,
        longest: u32,
        pay: &mut dyn FnMut() -> bool,
    ) -> Result<Asked, Problem> {
        let scope = request.scope();
        let started = now();
        if let Some(scope) = &scope {
            with_breakers(|breakers| breakers.allow(scope, started))?;
        }
        Ok(Asked {
            scope,
            started,
            answer: self.attempt(request, longest, pay).await,
        })
    }

    /// Sends a request, and again where that is allowed.
    async fn attempt(
        &self,
        request: &UpstreamRequest,
        longest: u32,
        pay: &mut dyn FnMut() -> bool,
    ) -> Result<Answer, TransportError> {
        let deadline = now().plus(self.config.upstream_timeout);
        let mut attempts = Attempts::new(self.config, request.method, deadline);
        let url = self.config.upstream.join(&request.target);
        loop {
            let Some(key) = attempts.key() else {
                return Err(TransportError::Broken);
            };
            let sent = send(Outgoing {
                method: request.method.as_str(),
                url: &url,
                headers: request.headers(key),
                body: request.body.as_deref(),
                time: attempts.time_left(now()),
                longest,
            })
            .await
            .map(|message| (head_of(&message), message));
            let next = match &sent {
                Ok((head, _)) => attempts.plan_next(Ok(head), now()),
                Err(error) => attempts.plan_next(Err(*error), now()),
            };
            let is_again = match next {
                NextAttempt::Stop => false,
                NextAttempt::OtherKey => true,
                NextAttempt::Repeat => pay(),
            };
            match sent {
                Ok((_, message)) if is_again => message.discard(),
                Ok((head, message)) => return Ok(read_body(head, message).await),
                Err(error) if !is_again => return Err(error),
                Err(_) => {}
            }
        }
    }

    fn conclude<T>(
        &self,
        request: &UpstreamRequest,
        asked: Result<Asked, Problem>,
        read: impl FnOnce(ReplyHead, JsString) -> Option<T>,
    ) -> Exchange<T> {
        let asked = match asked {
            Ok(asked) => asked,
            Err(problem) => return Exchange::not_sent(problem),
        };
        let Asked { scope, started, .. } = asked;
        let status = asked.answer.as_ref().ok().map(|answer| answer.head.status);
        let answer = self.classify(request.method, asked.answer);
        let outcome = answer.and_then(|(head, text)| {
            read(head, text).ok_or_else(|| classify_malformed(request.method))
        });
        let failure = outcome.as_ref().err();
        let now = now();
        record_outcome(request, scope.as_ref(), failure, now);
        Exchange {
            metrics: ExchangeMetrics {
                status,
                milliseconds: now.since(started).0,
                operator: failure.and_then(|failure| failure.operator.clone()),
            },
            outcome,
        }
    }

    /// A success with its text, or the failure.
    fn classify(
        &self,
        method: Method,
        answer: Result<Answer, TransportError>,
    ) -> Result<(ReplyHead, JsString), UpstreamFailure> {
        match answer {
            Err(error) => Err(classify_transport_error(error, method)),
            Ok(Answer { head, text, .. }) if head.is_success() => {
                let text = text.ok_or_else(|| classify_malformed(method))?;
                Ok((head, text))
            }
            Ok(Answer { head, error, .. }) => {
                Err(classify_error(&head, &error, method, self.config, now()))
            }
        }
    }
}

/// Tells the breakers how a request went.
fn record_outcome(
    request: &UpstreamRequest,
    scope: Option<&Scope>,
    failure: Option<&UpstreamFailure>,
    now: Millis,
) {
    if let Some(scope) = scope {
        let counted = request.call_outcome(scope, failure);
        with_breakers(|breakers| breakers.record_outcome(scope, counted, now));
    }
}

impl<T> Exchange<T> {
    /// Nothing was sent.
    pub fn not_sent(problem: Problem) -> Self {
        Self {
            metrics: ExchangeMetrics::default(),
            outcome: Err(UpstreamFailure::not_sent(problem)),
        }
    }
}

fn head_of(message: &Message) -> ReplyHead {
    let field = |name| message.headers.get(name).map(str::to_owned);
    ReplyHead {
        status: message.status,
        content_type: field("content-type"),
        retry_after: field("retry-after"),
        request_id: field("x-request-id"),
        content_language: field("content-language"),
    }
}

async fn read_body(head: ReplyHead, message: Message) -> Answer {
    let is_2xx = (200..=299).contains(&head.status);
    Answer {
        text: is_2xx.then(|| message.text()).flatten(),
        error: if is_2xx {
            String::new()
        } else {
            message.read_error(LONGEST_ERROR).await
        },
        head,
    }
}
