use js_sys::JsString;
use quillgate::declaration::Pagination;
use quillgate::pages::{Totals, has_more_rows};
use quillgate::schema::JsonType;
use quillgate::{Operation, PageSize};

use crate::http::problem::Problem;
use crate::runtime::now;
use crate::upstream::attempts::{Attempts, NextAttempt};
use crate::upstream::breaker::with_breakers;
use crate::upstream::failure::{
    UpstreamFailure, classify_error, classify_leak, classify_malformed, classify_transport_error,
};
use crate::upstream::head::UpstreamHead;
use crate::upstream::metrics::ExchangeMetrics;
use crate::upstream::page_check::read_page;
use crate::upstream::refusal::Refusal;
use crate::upstream::request::UpstreamRequest;
use crate::upstream::transport::{Caching, Outgoing, Received, send};
use crate::upstream::upstream_settings::UpstreamSettings;

/// The message of a larger error response is ignored.
const MAX_ERROR_BYTES: usize = 64 * 1024;
/// A typical job takes 500 bytes.
const MAX_JOB_BYTES: usize = 64 * 1024;
/// A deployment lists its changed files. `SQLite` limits a row to 2 MB.
const MAX_DEPLOYMENT_BYTES: usize = 512 * 1024;
/// A typical page of 250 rows takes 30 kB. There is room for 250 paths of 16 kB, the longest that
/// common servers accept.
const MAX_PAGE_BYTES: usize = 4 * 1024 * 1024;
/// There is room for 1,000 turns of 8 kB, each with a question, an answer and its sources.
const MAX_CONVERSATIONS_BYTES: usize = 8 * 1024 * 1024;

#[derive(Clone)]
pub struct Exchange<T> {
    pub metrics: ExchangeMetrics,
    pub outcome: Result<T, UpstreamFailure>,
}

/// A 2xx response with JSON. Neither the body nor the forwarded headers contain an admin key.
pub struct UpstreamResponse {
    pub head: UpstreamHead,
    pub body: String,
}

pub struct FetchedPage {
    /// Outside wasm memory.
    pub text: JsString,
    /// 1 if the report is not a list.
    pub rows: u64,
    /// `false` without offset pagination.
    pub has_more: bool,
    pub totals: Option<Totals>,
}

impl FetchedPage {
    /// `None` if the page does not have the declared type, or if a page with an offset has more
    /// than [`PageSize::MAX`] rows.
    pub fn read(
        operation: Operation,
        UpstreamResponse { body, .. }: UpstreamResponse,
    ) -> Option<Self> {
        let JsonType::Object(declared) = operation.result() else {
            return None;
        };
        let pagination = operation.declaration().pagination;
        let member = pagination.rows();
        let (end, _) = read_page(&body, declared.fields, member).ok()?;
        let rows = if member.is_some() { end.rows } else { 1 };
        let is_by_offset = matches!(pagination, Pagination::Offset { .. });
        let has_more = is_by_offset && has_more_rows(end.has_more, rows, PageSize::MAX.get());
        (!is_by_offset || rows <= PageSize::MAX.get()).then(|| Self {
            text: body.into(),
            rows,
            has_more,
            totals: end.totals,
        })
    }
}

/// `pay` reserves budget for a retry, and returns whether that succeeded.
pub async fn send_upstream(
    settings: &UpstreamSettings,
    request: &UpstreamRequest<'_>,
    pay: &mut dyn FnMut() -> bool,
) -> Exchange<UpstreamResponse> {
    let (method, circuit, started) = (request.method(), request.circuit(), now());
    if let Err(problem) = with_breakers(|breakers| breakers.allow(&circuit, started)) {
        return Exchange::not_sent(problem);
    }
    let url = settings.base_url.join(request.target);
    let mut attempts = Attempts::new(settings, method, started.plus(settings.timeout));
    let (reply, error) = loop {
        let sent = send(Outgoing {
            method: method.as_str(),
            url: &url,
            headers: request.headers(attempts.key()),
            body: request.body,
            caching: Caching::Bypass,
            time: attempts.deadline.since(now()),
        });
        let reply = sent.await;
        // The body decides whether another key is tried.
        let error = match &reply {
            Ok(Received { head, body }) if matches!(head.status, 401 | 403) => {
                Some(body.read(MAX_ERROR_BYTES).await.unwrap_or_default())
            }
            _ => None,
        };
        let head = reply.as_ref().map(|reply| &reply.head);
        let head = head.map_err(|error| *error);
        let refusal = match (head, &error) {
            (Ok(head), Some(error)) => Refusal::classify(head, error),
            _ => None,
        };
        match attempts.plan_next(head, refusal, now()) {
            NextAttempt::OtherKey => {}
            NextAttempt::Repeat if pay() => {}
            NextAttempt::Repeat | NextAttempt::Stop => break (reply, error),
        }
    };
    let status = reply.as_ref().ok().map(|reply| reply.head.status);
    let outcome = match reply {
        Ok(reply) => read_response(settings, request, reply, error).await,
        Err(error) => Err(classify_transport_error(error, method)),
    };
    let failure = outcome.as_ref().err();
    let ended = now();
    with_breakers(|breakers| {
        breakers.record(&circuit, request.call_outcome(failure), ended);
    });
    let refused_key = attempts.describe_refused_key().map(str::to_owned);
    Exchange {
        metrics: ExchangeMetrics {
            status,
            milliseconds: ended.since(started).0,
            operator: failure
                .and_then(|failure| failure.problem.operator.clone())
                .or(refused_key),
        },
        outcome,
    }
}

/// `error` is the body of a 401 or 403.
async fn read_response(
    settings: &UpstreamSettings,
    request: &UpstreamRequest<'_>,
    Received { head, body }: Received,
    error: Option<String>,
) -> Result<UpstreamResponse, UpstreamFailure> {
    let method = request.method();
    if !head.is_success() {
        let error = match head.status {
            200..=299 | 401 | 403 => error,
            _ => body.read(MAX_ERROR_BYTES).await,
        };
        let error = error.unwrap_or_default();
        let failure = classify_error(&head, &error, method, settings, now());
        return Err(failure.of_operation(request.operation, head.status));
    }
    let Some(body) = body.read(max_bytes(request.operation)).await else {
        return Err(classify_malformed(method));
    };
    match classify_leak(&head, &body, method, settings) {
        Some(leak) => Err(leak),
        None => Ok(UpstreamResponse { head, body }),
    }
}

const fn max_bytes(operation: Operation) -> usize {
    match operation {
        Operation::CreateAgentJob | Operation::SendMessage | Operation::GetAgentJob => {
            MAX_JOB_BYTES
        }
        Operation::CreateDeployment
        | Operation::CreatePreview
        | Operation::RunAutomation
        | Operation::GetDeployment => MAX_DEPLOYMENT_BYTES,
        Operation::ListConversations => MAX_CONVERSATIONS_BYTES,
        _ => MAX_PAGE_BYTES,
    }
}

impl Exchange<UpstreamResponse> {
    /// If `read` returns `None`, the response is malformed, and the outcome of a write unknown.
    pub fn read<T>(
        self,
        request: &UpstreamRequest<'_>,
        read: impl FnOnce(UpstreamResponse) -> Option<T>,
    ) -> Exchange<T> {
        Exchange {
            metrics: self.metrics,
            outcome: self.outcome.and_then(|response| {
                read(response).ok_or_else(|| classify_malformed(request.method()))
            }),
        }
    }
}

impl<T> Exchange<T> {
    pub fn is_sent(&self) -> bool {
        !self.outcome.as_ref().is_err_and(|failure| !failure.is_sent)
    }

    pub fn not_sent(problem: Problem) -> Self {
        Self {
            metrics: ExchangeMetrics::default(),
            outcome: Err(UpstreamFailure::not_sent(problem)),
        }
    }
}
