//! A request that creates a job or sends a follow-up.

use quillgate::Policy;
use serde::{Deserialize, Serialize};

#[cfg(doc)]
use crate::auth::caller::Caller;
use crate::budget::Ceiling;
use crate::hash::fingerprint;
use crate::jobs::idempotency::Retry;

/// A request that changes something upstream, to be carried out at most once.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
pub struct Write {
    /// The policy under which it is counted.
    pub policy: Policy,
    /// The caller's [`Caller::key`].
    pub caller: String,
    /// The caller as people know them: the token's `sub`.
    pub subject: String,
    /// The caller's own quota for the policy.
    pub quota: Option<u32>,
    /// The ceilings for the policy that the caller shares with others.
    pub ceilings: Vec<Ceiling>,
    /// The job that it changes, unless it creates one.
    pub job: Option<String>,
    /// The caller's idempotency key.
    pub key: Option<String>,
    /// What a repetition of the request must have in common with it.
    pub fingerprint: String,
    /// Whether to send it again although its outcome is unknown.
    pub retry: Retry,
    /// Path and query.
    pub target: String,
    /// The JSON that is sent upstream, rebuilt from checked values.
    pub body: String,
    /// A summary of the prompt, for the ledger.
    pub prompt_summary: String,
    /// The whole prompt, when the ledger keeps it.
    pub prompt: Option<String>,
    /// Where the end of the job is announced.
    pub webhook: Option<String>,
}

impl Write {
    /// A fingerprint of the caller, the idempotency key and the request. `None` without a key.
    #[must_use]
    pub fn key_fingerprint(&self) -> Option<String> {
        let key = self.key.as_deref()?;
        Some(fingerprint(&[&self.caller, key, &self.fingerprint]))
    }
}
