use quillgate::credential::AdminKey;
use quillgate::{Method, Millis};

use crate::upstream::failure::TransportError;
use crate::upstream::head::UpstreamHead;
use crate::upstream::refusal::Refusal;
use crate::upstream::upstream_settings::UpstreamSettings;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NextAttempt {
    Stop,
    /// Mintlify checks the key before acting, so this is safe even for a POST.
    OtherKey,
    /// If the budget allows the retry.
    Repeat,
}

/// After a 401 for the newest key, the next attempt uses the previous key; a 401 for another
/// reason, such as the plan, is final. A GET is retried once after a transient failure.
#[derive(Debug)]
pub struct Attempts<'a> {
    keys: &'a [AdminKey],
    method: Method,
    key: usize,
    repeated: bool,
    pub deadline: Millis,
}

impl<'a> Attempts<'a> {
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

    pub fn key(&self) -> &'a AdminKey {
        &self.keys[self.key]
    }

    /// While the other key works, only this message reveals that Mintlify rejected the newest
    /// key.
    pub fn describe_refused_key(&self) -> Option<&'static str> {
        (self.key > 0)
            .then_some("Mintlify rejected the first of the gateway's keys (401), so the gateway used the other")
    }

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

/// After a broken connection, and after a 502, 503 or 504 without `Retry-After`.
fn is_transient(reply: Result<&UpstreamHead, TransportError>) -> bool {
    match reply {
        Err(error) => error == TransportError::Broken,
        Ok(head) => matches!(head.status, 502..=504) && head.headers.get("retry-after").is_none(),
    }
}
