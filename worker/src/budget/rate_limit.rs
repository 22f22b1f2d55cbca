//! `RateLimit` and `RateLimit-Policy`, the header fields that describe a budget
//! (draft-ietf-httpapi-ratelimit-headers).

use crate::http::response::HeaderFields;

/// The values of the two header fields.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RateLimitFields {
    /// `RateLimit-Policy`: the limit, the token's own quota if any, and the ceiling with the fewest
    /// slots left.
    pub rate_limit_policy: String,
    /// `RateLimit`: the slots left, and the seconds until the next one becomes free.
    pub rate_limit: String,
}

/// The state of a limit, as `RateLimit` reports it.
pub(super) struct PolicyState {
    pub left: u32,
    /// When the next slot becomes free, in milliseconds since the Unix epoch.
    pub until: Option<u64>,
}

impl PolicyState {
    /// Returns the state of a limit in a refusal. A limit that is not violated has no time: it
    /// could be later than `Retry-After`, which the draft forbids.
    pub fn refused(violated_until: Option<u64>, left: u32) -> Self {
        Self {
            left: if violated_until.is_some() { 0 } else { left },
            until: violated_until,
        }
    }
}

impl RateLimitFields {
    /// Adds a limit of `max` slots per `window` seconds to both fields.
    pub(super) fn add(&mut self, name: &str, max: u32, window: u64, state: &PolicyState, now: u64) {
        let policy = format!("\"{name}\";q={max};w={window}");
        let mut remaining = format!("\"{name}\";r={}", state.left);
        if let Some(until) = state.until {
            let time = format!(";t={}", seconds_until(until, now));
            remaining += &time;
        }
        append(&mut self.rate_limit_policy, &policy);
        append(&mut self.rate_limit, &remaining);
    }

    /// Returns the fields `RateLimit-Policy` and `RateLimit`.
    pub fn into_headers(self) -> HeaderFields {
        HeaderFields::default()
            .with("ratelimit-policy", self.rate_limit_policy)
            .with("ratelimit", self.rate_limit)
    }
}

/// Appends an item to a list (RFC 9651, section 3.1).
fn append(list: &mut String, item: &str) {
    if !list.is_empty() {
        *list += ", ";
    }
    *list += item;
}

/// Returns the whole seconds until a moment, rounded up, at least 1.
pub(super) fn seconds_until(moment: u64, now: u64) -> u64 {
    moment.saturating_sub(now).div_ceil(1000).max(1)
}
