//! Writes. A write creates a job or sends a follow-up.

use quillgate::{Call, ProjectId, Request};
use serde::{Deserialize, Serialize};

use crate::auth::caller::Caller;
use crate::budget::reservation::BudgetRequest;
use crate::hash::fingerprint;
use crate::http::problem::Problem;
use crate::http::request_head::RequestHead;
use crate::jobs::idempotency::{Retry, read_key};
use crate::jobs::job_settings::JobSettings;
use crate::jobs::records::{KeepPrompts, summarize_prompt};
use crate::jobs::webhook;

/// A state-changing request to the upstream. The gateway never repeats the request automatically if
/// the first attempt may have taken effect.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
pub struct Write {
    /// The budget reservation that the request needs, with the caller. Idempotency keys are scoped
    /// to the caller.
    pub budget: BudgetRequest,
    /// The `sub` claim of the caller's token. Job records show this subject as the author.
    pub subject: String,
    /// The id of the job that receives a follow-up, or `None` to create a job.
    pub job: Option<String>,
    /// The caller's idempotency key, without quotes.
    pub key: Option<String>,
    /// A hash of the request. Requests with the same key must have the same fingerprint.
    pub fingerprint: String,
    /// Whether to retry an earlier request with the same key if that request failed with a 5xx or
    /// has an unknown outcome.
    pub retry: Retry,
    /// The path and query of the upstream request.
    pub target: String,
    /// The JSON body for the upstream, built from validated values.
    pub body: String,
    /// The summary of the prompt, for the job's record.
    pub prompt_summary: String,
    /// The whole prompt, or `None` if the settings keep whole prompts out of job records.
    pub prompt: Option<String>,
    /// The address that receives a webhook when the job ends, if any.
    pub webhook: Option<String>,
}

impl Write {
    /// Reads a call that creates a job or sends a follow-up.
    ///
    /// # Errors
    /// Returns a 400 problem if a header field breaks a rule.
    pub fn read(
        call: &Call,
        project: &ProjectId,
        head: &RequestHead,
        caller: &Caller,
        settings: &JobSettings,
    ) -> Result<Self, Problem> {
        let requested_webhook = head.raw_header("webhook-url");
        let policy = call.declaration().policy.ok_or_else(Problem::internal)?;
        // Only a follow-up has the parameter `id`, which names its job.
        let job = call.text("id").map(str::to_owned);
        let prompt = call.text("prompt").ok_or_else(Problem::internal)?;
        let Request { target, body, .. } = call.request(project);
        let body = body.ok_or_else(Problem::internal)?;
        let webhook = choose_webhook(settings, job.as_deref(), requested_webhook)?;
        let key = head.raw_header("idempotency-key");
        let keeps_prompt = settings.keep_prompts == KeepPrompts::Whole;
        Ok(Self {
            budget: caller.budget_request(policy),
            subject: caller.subject.clone(),
            job,
            key: key.map(read_key).transpose()?,
            fingerprint: fingerprint(&[&target, &body, requested_webhook.unwrap_or("")]),
            retry: Retry::read(head.raw_header("idempotency-retry"))?,
            target,
            body,
            prompt_summary: summarize_prompt(prompt),
            prompt: keeps_prompt.then(|| prompt.to_owned()),
            webhook,
        })
    }
}

/// Returns the webhook URL for a new job: the caller's `Webhook-Url`, or else the operator's
/// default, if any. Returns `None` for a follow-up.
///
/// # Errors
/// With `Webhook-Url`, returns a 400 problem for a follow-up, for a URL that is not allowed, or if
/// no webhook secret is configured.
fn choose_webhook(
    settings: &JobSettings,
    job: Option<&str>,
    requested: Option<&str>,
) -> Result<Option<String>, Problem> {
    let settings = &settings.webhook;
    match (job, requested) {
        (None, None) => Ok(settings.url.clone()),
        (Some(_), None) => Ok(None),
        (Some(_), Some(_)) => Err(Problem::webhook_on_follow_up()),
        (None, Some(_)) if settings.secrets.is_empty() => Err(Problem::webhooks_off()),
        (None, Some(url)) => webhook::check_address(url, &settings.hosts).map(Some),
    }
}
