//! The plans of requests with bodies. The gateway checks the announced body in the head, and reads
//! the body only if the head is accepted. [`plan_write`] then plans a write to the upstream.

use quillgate::Request;

use crate::app::config::Config;
use crate::auth::caller::Caller;
use crate::hash::fingerprint;
use crate::http::content::{MAX_BODY, RequestValues, is_json};
use crate::http::problem::Problem;
use crate::http::request_head::RequestHead;
use crate::jobs::idempotency::{Retry, read_key};
use crate::jobs::records::{KeepPrompts, summarize_prompt};
use crate::jobs::webhook;
use crate::jobs::write::Write;

/// Checks the `Content-Type` and `Content-Length` of a body before the body is read.
///
/// # Errors
/// - 415 if `Content-Type` is not JSON.
/// - 413 if `Content-Length` is more than [`MAX_BODY`].
pub(super) fn check_announced_body(head: &RequestHead) -> Result<(), Problem> {
    if !is_json(head.header("content-type")) {
        return Err(Problem::unsupported_media_type());
    }
    let length = head.header("content-length").map(str::parse::<u64>);
    match length {
        Some(Ok(length)) if length > MAX_BODY as u64 => Err(Problem::content_too_large(MAX_BODY)),
        _ => Ok(()),
    }
}

/// Plans a write from the body of a request, after the head was accepted.
///
/// # Errors
/// Returns 400 if the body is not a JSON object, or if a value or header field breaks a rule.
pub fn plan_write(
    config: &Config,
    head: &RequestHead,
    caller: &Caller,
    values: RequestValues,
    body: &[u8],
) -> Result<Write, Problem> {
    let requested_webhook = head.raw_header("webhook-url");
    let project = values.project.clone();
    let call = values.parse_with_body(body)?;
    let policy = call.declaration().policy.ok_or_else(Problem::internal)?;
    // Only a follow-up has the parameter `id`, which names its job.
    let job = call.text("id").map(str::to_owned);
    let prompt = call.text("prompt").ok_or_else(Problem::internal)?;
    let Request { target, body, .. } = call.request(&project);
    let body = body.ok_or_else(Problem::internal)?;
    let webhook = choose_webhook(config, job.as_deref(), requested_webhook)?;
    let key = head.raw_header("idempotency-key");
    let key = key.map(read_key).transpose()?;
    let retry = Retry::read(head.raw_header("idempotency-retry"))?;
    let keeps_prompt = config.jobs.keep_prompts == KeepPrompts::Whole;
    Ok(Write {
        budget: caller.budget_request(policy),
        subject: caller.subject.clone(),
        job,
        key,
        fingerprint: fingerprint(&[&target, &body, requested_webhook.unwrap_or("")]),
        retry,
        target,
        body,
        prompt_summary: summarize_prompt(prompt),
        prompt: keeps_prompt.then(|| prompt.to_owned()),
        webhook,
    })
}

/// Returns the webhook URL for a new job: the caller's `Webhook-Url`, or else the operator's
/// default, if any. Returns `None` for a follow-up.
///
/// # Errors
/// With `Webhook-Url`, returns a 400 problem for a follow-up, for a URL that is not allowed, or if
/// no webhook secret is configured.
fn choose_webhook(
    config: &Config,
    job: Option<&str>,
    requested: Option<&str>,
) -> Result<Option<String>, Problem> {
    let settings = &config.jobs.webhook;
    match (job, requested) {
        (None, None) => Ok(settings.url.clone()),
        (Some(_), None) => Ok(None),
        (Some(_), Some(_)) => Err(Problem::webhook_on_follow_up()),
        (None, Some(_)) if settings.secrets.is_empty() => Err(Problem::webhooks_off()),
        (None, Some(url)) => webhook::check_address(url, &settings.hosts).map(Some),
    }
}
