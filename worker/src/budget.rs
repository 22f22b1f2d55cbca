//! Budgets. A sliding log counts the reservations of a policy such as `create-job`, so
//! there are no bursts at the edges of a window. A Durable Object stores each log except those of
//! reads, which isolates count in memory: see [`read_budget`].
//!
//! A row counts while `at > now − window`. While a request is in flight, its `at` is the future
//! time `now + timeout`, so that no slot becomes free before Mintlify stops counting the
//! request.

pub mod health;
pub mod limits;
pub mod read_budget;
pub mod reservation;
#[cfg(all(target_arch = "wasm32", feature = "runtime"))]
pub(crate) mod store;
pub mod upstream_block;

use std::cmp::Reverse;

use quillgate::{Millis, RateLimitPolicy};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::http::problem::Problem;
use crate::http::problem_kind::ProblemKind;
use crate::http::response::HeaderFields;

/// Whether the organization's object counts the policy, for all projects together.
pub const fn is_of_organization(policy: RateLimitPolicy) -> bool {
    matches!(
        policy,
        RateLimitPolicy::Analytics
            | RateLimitPolicy::CreateDeployment
            | RateLimitPolicy::CreatePreview
    )
}

/// Whether a refused request counts. Mintlify may count it, and a short window forgets it soon.
pub const fn counts_refusals(policy: RateLimitPolicy) -> bool {
    matches!(
        policy,
        RateLimitPolicy::CreateDeployment | RateLimitPolicy::CreatePreview
    )
}

/// The number of equal steps into which a window is divided; see [`find_step`].
const STEPS: u64 = 60;

/// A request for a reservation, with a summary of the policy's log. Instants and durations are in
/// milliseconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BudgetSnapshot {
    pub policy: RateLimitPolicy,
    pub window: u64,
    pub now: u64,
    /// `None` if Mintlify does not block the policy, or if this request probes the block: see
    /// [`upstream_block`].
    pub blocked_until: Option<u64>,
    /// `max` is at least 1.
    pub limit: LimitUsage,
    pub quota: Option<LimitUsage>,
    pub ceilings: Vec<LimitUsage>,
}

/// A limit on the reservations that several callers hold together, such as all callers that a rule
/// of an issuer admits.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
pub struct Ceiling {
    pub name: String,
    pub max: u32,
}

/// A policy's limit, a quota or a ceiling, with its usage in the current window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LimitUsage {
    pub max: u32,
    pub count: u32,
    /// The earliest `at` among these reservations.
    pub oldest: Option<u64>,
}

impl LimitUsage {
    pub const fn left(&self) -> u32 {
        self.max.saturating_sub(self.count)
    }
}

/// A grant. The caller must add the reservation to the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Granted {
    pub fields: HeaderFields,
    /// Counts only the policy's limit.
    pub left: u32,
}

/// Decides whether to grant a reservation. After a 429 problem, the request must not be sent
/// upstream.
pub fn decide(snapshot: &BudgetSnapshot) -> Result<Granted, Problem> {
    let limits = snapshot.limits();
    let refusals = limits.iter().filter_map(|limit| limit.refusal.as_ref());
    if let Some(last) = refusals.max_by_key(|refusal| refusal.until) {
        return Err(snapshot.refuse(&limits, last));
    }
    let after_grant = |Limit { usage, .. }: &Limit| {
        let left = usage.left().saturating_sub(1);
        (left, Some(snapshot.next_free(usage)))
    };
    Ok(Granted {
        fields: snapshot.fields(&limits, after_grant).into_iter().collect(),
        left: snapshot.limit.left().saturating_sub(1),
    })
}

struct Limit {
    name: String,
    usage: LimitUsage,
    refusal: Option<Refusal>,
}

struct Refusal {
    /// In milliseconds.
    until: u64,
    detail: String,
}

impl BudgetSnapshot {
    /// Quotas and ceilings are capped at the policy's limit, except ceilings on reads: the limit on
    /// reads applies to each caller, while a ceiling counts several callers together.
    fn limits(&self) -> Vec<Limit> {
        let within_limit = |usage: LimitUsage| LimitUsage {
            max: usage.max.min(self.limit.max),
            ..usage
        };
        let ceilings = self.ceilings.iter().map(|usage| {
            if self.policy.is_read() {
                *usage
            } else {
                within_limit(*usage)
            }
        });
        let tightest = ceilings.min_by_key(|usage| (usage.left(), Reverse(self.next_free(usage))));
        let quota = self.quota.map(within_limit);
        let (policy, window) = (self.policy.as_str(), self.window_seconds());
        let limit = |suffix, noun, scope, usage: LimitUsage| Limit {
            name: format!("{policy}{suffix}"),
            usage,
            refusal: (usage.left() == 0).then(|| Refusal {
                until: self.next_free(&usage),
                detail: format!(
                    "{policy}: the {noun} of {} in any {window} seconds{scope} is used up",
                    usage.max
                ),
            }),
        };
        let mut own = limit("", "limit", "", self.limit);
        let spent_until = own.refusal.as_ref().map_or(self.now, |spent| spent.until);
        if let Some(until) = self.blocked_until.filter(|until| *until > spent_until) {
            let detail = format!("{policy}: Mintlify itself answered that its limit is reached");
            own.refusal = Some(Refusal { until, detail });
        }
        let all_callers = " for all callers of the access token's rule";
        let mut limits = vec![own];
        limits.extend(quota.map(|usage| limit("-caller", "access token's own quota", "", usage)));
        limits.extend(tightest.map(|usage| limit("-rule", "ceiling", all_callers, usage)));
        limits
    }

    /// One window from now if all slots are free.
    fn next_free(&self, usage: &LimitUsage) -> u64 {
        usage.oldest.unwrap_or(self.now).saturating_add(self.window)
    }

    fn refuse(&self, limits: &[Limit], last: &Refusal) -> Problem {
        let fields = self.fields(limits, |limit| match &limit.refusal {
            Some(refusal) => (0, Some(refusal.until)),
            // For a limit that does not refuse the reservation, `t` could be later than
            // `Retry-After`. draft-ietf-httpapi-ratelimit-headers forbids this, so `t` is omitted.
            None => (limit.usage.left(), None),
        });
        let violated = limits.iter().filter(|limit| limit.refusal.is_some());
        let violated: Vec<_> = violated.map(|limit| &limit.name).collect();
        let wait = seconds_until(last.until, self.now);
        let mut problem = Problem::new(ProblemKind::QuotaExceeded, last.detail.clone())
            .with_header("retry-after", wait.to_string())
            .with_member("violated-policies", json!(violated));
        problem.headers.extend(fields);
        problem
    }

    /// Returns `RateLimit-Policy` and `RateLimit` (draft-ietf-httpapi-ratelimit-headers). `state`
    /// returns the free slots of a limit, and when the next slot becomes free.
    fn fields(
        &self,
        limits: &[Limit],
        state: impl Fn(&Limit) -> (u32, Option<u64>),
    ) -> [(&'static str, String); 2] {
        let window = self.window_seconds();
        let (mut policies, mut states) = (Vec::new(), Vec::new());
        for limit in limits {
            let (name, max) = (&limit.name, limit.usage.max);
            policies.push(format!("\"{name}\";q={max};w={window}"));
            let (left, until) = state(limit);
            let time = until.map(|until| format!(";t={}", seconds_until(until, self.now)));
            states.push(format!("\"{name}\";r={left}{}", time.unwrap_or_default()));
        }
        [
            ("ratelimit-policy", policies.join(", ")),
            ("ratelimit", states.join(", ")),
        ]
    }

    fn window_seconds(&self) -> u64 {
        self.window.div_ceil(1000)
    }
}

/// Returns the end of the step that contains `now`. A read or poll counts until the end of its step
/// has left the window, so the count is never too low.
pub fn find_step(window: Millis, now: Millis) -> Millis {
    let length = (window.0 / STEPS).max(1);
    Millis((now.0 / length + 1) * length)
}

/// Rounds up, to at least 1.
fn seconds_until(moment: u64, now: u64) -> u64 {
    moment.saturating_sub(now).div_ceil(1000).max(1)
}
