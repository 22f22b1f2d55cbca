//! Plans a request with a body in two steps: the head must be accepted before the body is read.

use std::rc::Rc;

use quillgate::parameters::ParameterGroup;
use quillgate::{Day, Operation, ProjectId, Prompt, RateLimitPolicy, Request};

use crate::analytics::archive::read_day;
use crate::app::config::Config;
use crate::auth::caller::Caller;
use crate::auth::turnstile::TurnstileProof;
use crate::hash::fingerprint;
use crate::http::content::{MAX_BODY, is_json, parse_body};
use crate::http::problem::Problem;
use crate::http::request_head::{RequestHead, WriteHeaders};
use crate::jobs::idempotency::{Retry, read_key};
use crate::jobs::records::{KeepPrompts, summarize_prompt};
use crate::jobs::webhook;
use crate::jobs::write::Write;

/// A job operation that writes upstream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum WriteOperation {
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

    const fn policy(&self) -> RateLimitPolicy {
        match self {
            Self::CreateJob => RateLimitPolicy::CreateJob,
            Self::SendMessage(_) => RateLimitPolicy::SendMessage,
        }
    }

    fn job(&self) -> Option<String> {
        match self {
            Self::CreateJob => None,
            Self::SendMessage(id) => Some(id.clone()),
        }
    }
}

/// A write request whose head has been accepted. Its body has not been read yet.
#[derive(Debug, Clone)]
pub struct AdmittedWrite {
    pub(super) operation: WriteOperation,
    pub(super) project: ProjectId,
    pub(super) caller: Rc<Caller>,
    /// The value of `Origin`, if a page sent the request.
    pub(super) origin: Option<String>,
}

/// Checks the announced type and length of a body, before it is read.
///
/// # Errors
/// 413 or 415.
pub(super) fn check_announced_body(head: &RequestHead) -> Result<(), Problem> {
    if !is_json(head.content_type.as_deref()) {
        return Err(Problem::unsupported_media_type());
    }
    let length = head.content_length.as_deref().map(str::parse::<u64>);
    match length {
        Some(Ok(length)) if length > MAX_BODY as u64 => Err(Problem::content_too_large(MAX_BODY)),
        _ => Ok(()),
    }
}

/// Plans a write from its body, after its head was accepted.
///
/// Returns the write, and the Turnstile response to verify before it is sent.
///
/// # Errors
/// 400 for a body that is not a JSON object, and for values and header fields that break a rule.
/// 403 `turnstile-required` for a missing Turnstile response.
pub fn plan_write(
    config: &Config,
    admitted: &AdmittedWrite,
    headers: &WriteHeaders,
    body: &[u8],
) -> Result<(Write, Option<TurnstileProof>), Problem> {
    let operation = &admitted.operation;
    let job = operation.job();
    let path = job.iter().map(|id| ("id", id.clone())).collect();
    let declared = operation.operation().declaration();
    let call = parse_body(declared, path, body)?;
    let prompt = Prompt::read(&call)?;
    let Request { target, body, .. } = call.request(&admitted.project);
    let body = body.ok_or_else(Problem::internal)?;
    let webhook = choose_webhook(config, operation, headers.webhook_url.as_deref())?;
    let proof = require_turnstile(config, admitted, headers)?;
    let key = headers.idempotency_key.as_deref();
    let key = key.map(read_key).transpose()?;
    let retry = Retry::read(headers.idempotency_retry.as_deref())?;
    let keeps_prompt = config.jobs.keep_prompts == KeepPrompts::Whole;
    let requested_webhook = headers.webhook_url.as_deref().unwrap_or("");
    let write = Write {
        budget: admitted.caller.budget_request(operation.policy()),
        subject: admitted.caller.subject.clone(),
        job,
        key,
        fingerprint: fingerprint(&[&target, &body, requested_webhook]),
        retry,
        target,
        body,
        prompt_summary: summarize_prompt(&prompt),
        prompt: keeps_prompt.then(|| prompt.as_str().to_owned()),
        webhook,
    };
    Ok((write, proof))
}

/// Chooses the webhook of a job to create: the caller's address, or else the operator's, if any. A
/// follow-up has none.
///
/// # Errors
/// 400 for a caller's address on a follow-up, without a webhook secret, or if it is not allowed.
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

/// Requires a Turnstile response from pages, if Turnstile is configured.
fn require_turnstile(
    config: &Config,
    admitted: &AdmittedWrite,
    headers: &WriteHeaders,
) -> Result<Option<TurnstileProof>, Problem> {
    match (&config.turnstile, &admitted.origin) {
        (Some(turnstile), Some(origin)) => turnstile
            .require(headers.turnstile.as_deref(), origin)
            .map(Some),
        _ => Ok(None),
    }
}

/// Plans a backfill from its body. Returns the first day to archive.
///
/// # Errors
/// 400 for a body that is not a JSON object, and for an invalid day.
pub fn plan_backfill(body: &[u8]) -> Result<Day, Problem> {
    let declared = Operation::BeginBackfill.declaration();
    read_day(&parse_body(declared, Vec::new(), body)?, "dateFrom")
}
