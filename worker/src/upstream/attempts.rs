//! Decides which key a request uses, and whether to retry the request.

use quillgate::credential::AdminKey;
use quillgate::{Method, Millis};

use crate::upstream::failure::TransportError;
use crate::upstream::head::UpstreamHead;
use crate::upstream::settings::UpstreamSettings;

/// The next step after an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NextAttempt {
    /// Stop: the result is final.
    Stop,
    /// Send the request with the other key. Mintlify checks the key before it acts, so this is safe
    /// for a POST too.
    OtherKey,
    /// Retry the request if the budget allows it.
    Repeat,
}

/// The attempts of one request.
///
/// The first attempt uses the newest key. A 401 selects the previous key. A GET is retried once
/// after a transient failure.
#[derive(Debug)]
pub struct Attempts<'a> {
    keys: &'a [AdminKey],
    method: Method,
    key: usize,
    repeated: bool,
    /// The time by which the last attempt must end.
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

    /// Describes a refused key for the log. While the previous key still works, only this message
    /// reveals that the new key does not work.
    pub fn describe_refused_key(&self) -> Option<&'static str> {
        (self.key > 0)
            .then_some("the upstream rejected the first of the gateway's keys (401), so the gateway used the other")
    }

    /// Decides the next step after an attempt and selects its key.
    pub fn plan_next(
        &mut self,
        reply: Result<&UpstreamHead, TransportError>,
        now: Millis,
    ) -> NextAttempt {
        if now >= self.deadline {
            return NextAttempt::Stop;
        }
        if reply.is_ok_and(|head| head.status == 401) && self.key + 1 < self.keys.len() {
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

/// Returns whether a GET should be retried immediately (RFC 9110, section 9.2.2). Returns `false`
/// after a timeout, and for a response with `Retry-After`.
fn is_transient(reply: Result<&UpstreamHead, TransportError>) -> bool {
    match reply {
        Err(error) => error == TransportError::Broken,
        Ok(head) => matches!(head.status, 502..=504) && head.headers.get("retry-after").is_none(),
    }
}
