use quillgate::{Call, Operation, ProjectId, Request};
use serde::{Deserialize, Serialize};

use crate::auth::caller::Caller;
use crate::budget::reservation::BudgetRequest;
use crate::hash::fingerprint;
use crate::http::problem::Problem;
use crate::http::request_head::RequestHead;
use crate::jobs::idempotency::{Retry, read_key};
use crate::jobs::job_settings::JobSettings;
use crate::jobs::records::{KeepPrompts, summarize_prompt};
use crate::jobs::resource::Resource;
use crate::jobs::webhook;

/// A `POST` to Mintlify. The gateway never repeats it automatically if the first attempt may have
/// taken effect.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
pub struct Write {
    pub operation: Operation,
    pub budget: BudgetRequest,
    pub subject: String,
    /// The job that receives a follow-up.
    pub job: Option<String>,
    /// Without quotes.
    pub key: Option<String>,
    /// Requests with the same key must have the same fingerprint.
    pub fingerprint: String,
    pub retry: Retry,
    pub target: String,
    /// Built from validated values.
    pub body: Option<String>,
    pub prompt_summary: String,
    /// `None` if the settings keep whole prompts out of job records.
    pub prompt: Option<String>,
    /// Of a preview.
    pub branch: Option<String>,
    pub webhook: Option<String>,
}

impl Write {
    pub fn read(
        operation: Operation,
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
        let prompt = call.text("prompt");
        let Request { target, body, .. } = call.request(project);
        let webhook = choose_webhook(settings, operation, requested_webhook)?;
        let key = head.raw_header("idempotency-key");
        let keeps_prompt = settings.keep_prompts == KeepPrompts::Whole;
        let hashed_body = body.as_deref().unwrap_or("");
        Ok(Self {
            operation,
            budget: caller.budget_request(policy),
            subject: caller.subject.clone(),
            job,
            key: key.map(read_key).transpose()?,
            fingerprint: fingerprint(&[&target, hashed_body, requested_webhook.unwrap_or("")]),
            retry: Retry::read(head.raw_header("idempotency-retry"))?,
            prompt_summary: prompt.map(summarize_prompt).unwrap_or_default(),
            prompt: prompt.filter(|_| keeps_prompt).map(str::to_owned),
            branch: call.text("branch").map(str::to_owned),
            webhook,
            target,
            body,
        })
    }

    pub const fn resource(&self) -> Resource {
        Resource::of(self.operation)
    }
}

fn choose_webhook(
    settings: &JobSettings,
    operation: Operation,
    requested: Option<&str>,
) -> Result<Option<String>, Problem> {
    let settings = &settings.webhook;
    let has_end = !matches!(operation, Operation::SendMessage | Operation::RunAutomation);
    match requested {
        None => Ok(settings.url.clone().filter(|_| has_end)),
        Some(_) if !has_end => Err(Problem::webhook_without_end()),
        Some(_) if settings.secrets.is_empty() => Err(Problem::webhooks_off()),
        Some(url) => webhook::check_address(url, &settings.hosts).map(Some),
    }
}
