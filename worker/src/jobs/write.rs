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

/// A creation or follow-up. The gateway never repeats it automatically if the first attempt may
/// have taken effect.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
pub struct Write {
    pub budget: BudgetRequest,
    pub subject: String,
    /// The job that receives a follow-up, or `None` to create a job.
    pub job: Option<String>,
    /// Without quotes.
    pub key: Option<String>,
    /// Requests with the same key must have the same fingerprint.
    pub fingerprint: String,
    pub retry: Retry,
    pub target: String,
    /// Built from validated values.
    pub body: String,
    pub prompt_summary: String,
    /// `None` if the settings keep whole prompts out of job records.
    pub prompt: Option<String>,
    pub webhook: Option<String>,
}

impl Write {
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
