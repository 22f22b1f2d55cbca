//! Budgets: the maximum number of upstream requests of each kind in any window.
//!
//! A policy (`create-job`, `send-message`, `analytics`, `read-jobs`) allows `limit` reservations in
//! any `window`. A sliding log counts them, so there are no bursts at the edges of a window.
//! Callers are served in order of arrival.
//!
//! The Durable Object stores the log, one row per reservation with its time `at`. [`decide`] uses a
//! summary of the log: [`BudgetSnapshot`]. A row counts while `at > now − window`; its slot becomes
//! free exactly at `at + window`. While a request is in flight, the `at` of its row is the future
//! time `now + timeout`. When the request ends, `at` becomes the current time. No slot therefore
//! becomes free before the upstream stops counting the request.
//!
//! Two further limits are counted in the same way: the quota of the caller's own token, and
//! [`Ceiling`]s on the reservations of several callers, such as all callers that a rule of an
//! issuer admits.

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
    /// request is a probe; see [`upstream_block`].
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
    /// The maximum number of their reservations in any window.
    pub max: u32,
}

/// The limit of a policy, a quota or a ceiling, with the reservations that count towards it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LimitUsage {
    /// The maximum number of reservations in any window.
    pub max: u32,
    /// The number of reservations in the current window.
    pub count: u32,
    /// The earliest `at` among these reservations. `None` if there are none.
    pub oldest: Option<u64>,
}

impl LimitUsage {
    /// Returns the number of free slots.
    pub const fn left(&self) -> u32 {
        self.max.saturating_sub(self.count)
    }
}

/// The consequences of a granted reservation. The reservation must be added to the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Granted {
    /// The `RateLimit` header fields after this grant.
    pub fields: HeaderFields,
    /// The number of free slots of the policy's limit after this grant.
    pub left: u32,
}

/// The consequences of a refused reservation. The request must not be sent upstream.
#[derive(Debug, Clone, PartialEq)]
pub struct Refused {
    /// 429 `quota-exceeded`, with `Retry-After` and the budget's header fields.
    pub problem: Problem,
    /// The budget's header fields alone, for a response that succeeds without a reservation.
    pub fields: HeaderFields,
}

/// Decides whether to grant a reservation.
///
/// # Errors
/// [`Refused`] if the upstream blocks the policy, or a limit has no free slot.
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
/// assert!(refused.problem.headers.contains(&("retry-after", "3540".to_owned())));
/// ```
pub fn decide(snapshot: &BudgetSnapshot) -> Result<Granted, Box<Refused>> {
    let limits = snapshot.limits();
    let violations = snapshot.violations(&limits);
    if let Some(last) = violations.iter().max_by_key(|violation| violation.until) {
        return Err(Box::new(snapshot.refuse(&limits, &violations, last)));
    }
    let after_grant = |_: &str, usage: &LimitUsage| {
        let left = usage.left().saturating_sub(1);
        (left, Some(snapshot.next_free(usage)))
    };
    Ok(Granted {
        fields: snapshot.fields(&limits, after_grant).into_iter().collect(),
        left: snapshot.limit.left().saturating_sub(1),
    })
}

/// The kind of a limit.
#[derive(Debug, Clone, Copy)]
enum LimitKind {
    /// The limit of the policy.
    Policy,
    /// The quota of the caller's own token.
    Quota,
    /// A ceiling that the caller shares with others.
    Ceiling,
}

/// A reason to refuse a reservation.
struct Violation {
    /// The name of the limit in the header fields and in `violated-policies`.
    name: String,
    /// When the reason ends, as a Unix time in milliseconds.
    until: u64,
    detail: String,
}

impl BudgetSnapshot {
    /// Returns the limit of the policy, the caller's own quota and the tightest ceiling.
    ///
    /// Quotas and ceilings are capped at the policy's limit, except ceilings on reads: the limit on
    /// reads applies to each caller, while a ceiling counts several callers together.
    fn limits(&self) -> Vec<(LimitKind, LimitUsage)> {
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
        let mut limits = vec![(LimitKind::Policy, self.limit)];
        limits.extend(quota.map(|usage| (LimitKind::Quota, usage)));
        limits.extend(tightest.map(|usage| (LimitKind::Ceiling, usage)));
        limits
    }

    /// Returns when the next slot becomes free, or one window from now if all slots are free.
    fn next_free(&self, usage: &LimitUsage) -> u64 {
        usage.oldest.unwrap_or(self.now).saturating_add(self.window)
    }

    /// Returns the reasons to refuse the reservation. If several end at the same time, the problem
    /// describes the last of them.
    fn violations(&self, limits: &[(LimitKind, LimitUsage)]) -> Vec<Violation> {
        let policy = self.policy.as_str();
        let blocked_until = self.blocked_until.filter(|until| *until > self.now);
        let upstream = blocked_until.map(|until| Violation {
            name: policy.to_owned(),
            until,
            detail: format!("{policy}: the upstream itself answered that its limit is reached"),
        });
        let spent = limits.iter().filter(|(_, usage)| usage.left() == 0);
        let spent = spent.map(|(kind, usage)| Violation {
            name: self.name_of(*kind),
            until: self.next_free(usage),
            detail: self.detail(*kind, usage.max),
        });
        upstream.into_iter().chain(spent).collect()
    }

    fn refuse(
        &self,
        limits: &[(LimitKind, LimitUsage)],
        violations: &[Violation],
        last: &Violation,
    ) -> Refused {
        let fields = self.fields(limits, |name, usage| {
            let named = violations.iter().filter(|own| own.name == name);
            match named.map(|violation| violation.until).max() {
                Some(until) => (0, Some(until)),
                // `t` could be later than `Retry-After`, which the draft forbids, so it is omitted.
                None => (usage.left(), None),
            }
        });
        let mut violated: Vec<_> = violations.iter().map(|own| &*own.name).collect();
        violated.dedup();
        let wait = seconds_until(last.until, self.now);
        let mut problem = Problem::new(ProblemKind::QuotaExceeded, last.detail.clone())
            .with_header("retry-after", wait.to_string())
            .with_member("violated-policies", json!(violated));
        problem.headers.extend(fields.clone());
        Refused {
            problem,
            fields: fields.into_iter().collect(),
        }
    }

    fn detail(&self, kind: LimitKind, max: u32) -> String {
        let (policy, window) = (self.policy.as_str(), self.window_seconds());
        match kind {
            LimitKind::Policy => {
                format!("{policy}: the limit of {max} in any {window} seconds is used up")
            }
            LimitKind::Quota => format!(
                "{policy}: the access token's own quota of {max} in any {window} seconds is used up"
            ),
            LimitKind::Ceiling => format!(
                "{policy}: the ceiling of {max} in any {window} seconds for all callers of the access token's rule is used up"
            ),
        }
    }

    /// Returns `RateLimit-Policy` and `RateLimit`, which describe the limits
    /// (draft-ietf-httpapi-ratelimit-headers). `state` returns the number of free slots of a limit,
    /// and when the next slot becomes free.
    fn fields(
        &self,
        limits: &[(LimitKind, LimitUsage)],
        state: impl Fn(&str, &LimitUsage) -> (u32, Option<u64>),
    ) -> [(&'static str, String); 2] {
        let window = self.window_seconds();
        let (mut policies, mut states) = (Vec::new(), Vec::new());
        for (kind, usage) in limits {
            let name = self.name_of(*kind);
            policies.push(format!("\"{name}\";q={};w={window}", usage.max));
            let (left, until) = state(&name, usage);
            let time = until.map(|until| format!(";t={}", seconds_until(until, self.now)));
            states.push(format!("\"{name}\";r={left}{}", time.unwrap_or_default()));
        }
        [
            ("ratelimit-policy", policies.join(", ")),
            ("ratelimit", states.join(", ")),
        ]
    }

    /// Returns the name of a limit in the header fields and in `violated-policies`.
    fn name_of(&self, kind: LimitKind) -> String {
        let suffix = match kind {
            LimitKind::Policy => "",
            LimitKind::Quota => "-caller",
            LimitKind::Ceiling => "-rule",
        };
        format!("{}{suffix}", self.policy.as_str())
    }

    fn window_seconds(&self) -> u64 {
        self.window.div_ceil(1000)
    }
}

/// Returns the end of the step that contains `now`. Reads and polls are counted per step, which is
/// a sixtieth of the window. They count until the end of their step leaves the window, so the count
/// is never too low.
pub fn find_step(window: Millis, now: Millis) -> Millis {
    let length = (window.0 / STEPS).max(1);
    Millis((now.0 / length + 1) * length)
}

/// Returns the number of seconds from `now` to `moment`, rounded up, at least 1.
fn seconds_until(moment: u64, now: u64) -> u64 {
    moment.saturating_sub(now).div_ceil(1000).max(1)
}
