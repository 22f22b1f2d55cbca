//! Writes. A write creates a job or sends a follow-up.

use serde::{Deserialize, Serialize};

use crate::budget::reservation::BudgetRequest;
use crate::jobs::idempotency::Retry;

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
