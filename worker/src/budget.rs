//! Budgets. A budget limits the number of requests of one kind in any window.
//!
//! A policy (`create-job`, `send-message`, `analytics`, `read-jobs`) allows `limit` reservations in
//! any `window`. A sliding log counts the reservations, so there are no bursts at the edges of a
//! window. The gateway serves callers in order of arrival.
//!
//! A Durable Object stores the log of each policy except `read-jobs`, with one row per reservation
//! and its time `at`. Isolates count `read-jobs` in memory: see [`read_budget`]. [`decide`] uses a
//! summary of the log: [`BudgetSnapshot`]. A row counts while `at > now − window`; its slot becomes
//! free exactly at `at + window`. While a request is in flight, the `at` of the request's row is
//! the future time `now + timeout`. When the request ends, `at` becomes the current time. No slot
//! therefore becomes free before the upstream stops counting the request.
//!
//! Two further limits are counted in the same way: the caller's own quota, and [`Ceiling`]s. A
//! ceiling limits the reservations of several callers together, such as all callers that a rule of
//! an issuer admits.

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

/// The number of equal steps into which a window is divided; see [`find_step`].
const STEPS: u64 = 60;

/// A request for a reservation, with a summary of the policy's log.
///
/// Instants are Unix times in milliseconds. Durations are in milliseconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BudgetSnapshot {
    /// The policy whose budget is requested.
    pub policy: RateLimitPolicy,
    /// The length of the window, in milliseconds.
    pub window: u64,
    /// The current time, as a Unix time in milliseconds.
    pub now: u64,
    /// When the upstream's block ends. `None` if the upstream does not block the policy, or if this
    /// request is sent as a probe of the block: see [`upstream_block`].
    pub blocked_until: Option<u64>,
    /// The limit of the policy, at least 1, and its usage.
    pub limit: LimitUsage,
    /// The quota of the caller's own token and its usage.
    pub quota: Option<LimitUsage>,
    /// The ceilings that apply to the caller, and their usage.
    pub ceilings: Vec<LimitUsage>,
}

/// A ceiling on the reservations that several callers hold together in a budget's window.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
pub struct Ceiling {
    /// The key under which the budget counts these callers together.
    pub name: String,
    /// The maximum number of reservations of these callers in any window.
    pub max: u32,
}

/// A limit and its usage. The limit is a policy's limit, a quota or a ceiling.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LimitUsage {
    /// The maximum number of reservations in any window.
    pub max: u32,
    /// The number of reservations in the current window.
    pub count: u32,
    /// The earliest `at` among these reservations. `None` if there are no reservations.
    pub oldest: Option<u64>,
}

impl LimitUsage {
    /// Returns the number of free slots.
    pub const fn left(&self) -> u32 {
        self.max.saturating_sub(self.count)
    }
}

/// The result of granting a reservation. The caller must add the reservation to the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Granted {
    /// The `RateLimit` header fields after this grant.
    pub fields: HeaderFields,
    /// The number of free slots of the policy's limit after this grant.
    pub left: u32,
}

/// Decides whether to grant a reservation.
///
/// # Errors
/// Returns a 429 `quota-exceeded` problem if the upstream blocks the policy, or if a limit has no
/// free slot. The problem has `Retry-After` and the `RateLimit` header fields. The request must not
/// be sent upstream.
///
/// # Example
/// ```
/// use quillgate::RateLimitPolicy;
/// use quillgate_worker::budget::{BudgetSnapshot, LimitUsage, decide};
///
/// let mut snapshot = BudgetSnapshot {
///     policy: RateLimitPolicy::CreateJob,
///     window: 3_600_000,
///     now: 61_000,
///     blocked_until: None,
///     limit: LimitUsage { max: 100, count: 99, oldest: Some(1_000) },
///     quota: None,
///     ceilings: Vec::new(),
/// };
/// let granted = decide(&snapshot).unwrap();
/// assert_eq!(granted.fields.get("ratelimit"), Some("\"create-job\";r=0;t=3540"));
///
/// snapshot.limit.count = 100;
/// let refused = decide(&snapshot).unwrap_err();
/// assert!(refused.headers.contains(&("retry-after", "3540".to_owned())));
/// ```
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

/// A limit that applies to a reservation.
struct Limit {
    /// The name in the header fields and in `violated-policies`.
    name: String,
    usage: LimitUsage,
    /// The reason why this limit refuses the reservation, if it does.
    refusal: Option<Refusal>,
}

/// A reason to refuse a reservation.
struct Refusal {
    /// When the reason ends, as a Unix time in milliseconds.
    until: u64,
    detail: String,
}

impl BudgetSnapshot {
    /// Returns the limit of the policy, the caller's own quota and the tightest ceiling.
    ///
    /// Quotas and ceilings are capped at the policy's limit, except ceilings on reads: the limit on
    /// reads applies to each caller, while a ceiling counts several callers together.
    fn limits(&self) -> Vec<Limit> {
        let within_limit = |usage: LimitUsage| LimitUsage {
            max: usage.max.min(self.limit.max),
            ..usage
        };
        let ceilings = self.ceilings.iter().map(|usage| match self.policy {
            RateLimitPolicy::ReadJobs => *usage,
            RateLimitPolicy::CreateJob
            | RateLimitPolicy::SendMessage
            | RateLimitPolicy::Analytics => within_limit(*usage),
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
            let detail =
                format!("{policy}: the upstream itself answered that its limit is reached");
            own.refusal = Some(Refusal { until, detail });
        }
        let all_callers = " for all callers of the access token's rule";
        let mut limits = vec![own];
        limits.extend(quota.map(|usage| limit("-caller", "access token's own quota", "", usage)));
        limits.extend(tightest.map(|usage| limit("-rule", "ceiling", all_callers, usage)));
        limits
    }

    /// Returns when the next slot becomes free, or one window from now if all slots are free.
    fn next_free(&self, usage: &LimitUsage) -> u64 {
        usage.oldest.unwrap_or(self.now).saturating_add(self.window)
    }

    /// Refuses the reservation for the reason that ends last.
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

    /// Returns `RateLimit-Policy` and `RateLimit`, which describe the limits
    /// (draft-ietf-httpapi-ratelimit-headers). `state` returns the number of free slots of a limit,
    /// and when the next slot becomes free.
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

/// Returns the end of the step that contains `now`. Reads and polls are counted per step, which is
/// a sixtieth of the window. Each read or poll counts until the end of its step has left the
/// window, so the count is never too low.
pub fn find_step(window: Millis, now: Millis) -> Millis {
    let length = (window.0 / STEPS).max(1);
    Millis((now.0 / length + 1) * length)
}

/// Returns the number of seconds from `now` to `moment`, rounded up, at least 1.
fn seconds_until(moment: u64, now: u64) -> u64 {
    moment.saturating_sub(now).div_ceil(1000).max(1)
}
