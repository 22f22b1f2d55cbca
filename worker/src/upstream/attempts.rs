//! The attempts of a request: which admin key each uses, and whether the gateway retries.

use quillgate::credential::AdminKey;
use quillgate::{Method, Millis};

use crate::upstream::failure::TransportError;
use crate::upstream::head::UpstreamHead;
use crate::upstream::refusal::Refusal;
use crate::upstream::upstream_settings::UpstreamSettings;

/// The next step after an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NextAttempt {
    /// The result is final.
    Stop,
    /// Send the request again with the other key. Mintlify checks the key before acting, so this is
    /// safe even for a POST.
    OtherKey,
    /// Retry the request if the budget allows the retry.
    Repeat,
}

/// The attempts of one request. The first uses the newest key. After a 401 for this key, the next
/// one uses the previous key; a 401 for another reason, such as the plan, is final. A GET is retried once after a transient failure, with the newest key
/// again.
#[derive(Debug)]
pub struct Attempts<'a> {
    keys: &'a [AdminKey],
    method: Method,
    key: usize,
    repeated: bool,
    /// The time by which the last attempt must finish.
    pub deadline: Millis,
}

impl<'a> Attempts<'a> {
    /// Creates the attempts of a request that must finish before `deadline`.
    pub fn new(settings: &'a UpstreamSettings, method: Method, deadline: Millis) -> Self {
        let (_, keys) = settings.keys(method);
        Self {
            keys,
            method,
            key: 0,
            repeated: false,
            deadline,
        }
    }

    /// Returns the key for the next attempt, or `None` if no key is configured.
    pub fn key(&self) -> Option<&'a AdminKey> {
        self.keys.get(self.key)
    }

    /// Returns a log message if the upstream rejected the newest key. While the other key works,
    /// only this message reveals the rejection.
    pub fn describe_refused_key(&self) -> Option<&'static str> {
        (self.key > 0)
            .then_some("the upstream rejected the first of the gateway's keys (401), so the gateway used the other")
    }

    /// Decides the next step after an attempt. `refusal` is the reason of a refusal.
    pub fn plan_next(
        &mut self,
        reply: Result<&UpstreamHead, TransportError>,
        refusal: Option<Refusal>,
        now: Millis,
    ) -> NextAttempt {
        if now >= self.deadline {
            return NextAttempt::Stop;
        }
        let is_key_rejected =
            refusal == Some(Refusal::Key) && reply.is_ok_and(|head| head.status == 401);
        if is_key_rejected && self.key + 1 < self.keys.len() {
            self.key += 1;
            return NextAttempt::OtherKey;
        }
        if self.method == Method::Get && !self.repeated && is_transient(reply) {
            self.repeated = true;
            self.key = 0;
            return NextAttempt::Repeat;
        }
        NextAttempt::Stop
    }
}

/// Whether to retry a GET immediately (RFC 9110, section 9.2.2): after a broken connection, and
/// after a 502, 503 or 504 without `Retry-After`.
fn is_transient(reply: Result<&UpstreamHead, TransportError>) -> bool {
    match reply {
        Err(error) => error == TransportError::Broken,
        Ok(head) => matches!(head.status, 502..=504) && head.headers.get("retry-after").is_none(),
    }
}
