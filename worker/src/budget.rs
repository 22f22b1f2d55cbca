//! Budgets: the maximum number of upstream requests of each kind in any window.
//!
//! A policy (`create-job`, `send-message`, `analytics`, `read-jobs`) allows `limit` reservations in
//! any `window`. A sliding log counts them, so there are no bursts at the edges of a window.
//! Callers are served in order of arrival.
//!
//! The host stores the log, one row per reservation with its instant `at`, and passes a summary:
//! [`BudgetSnapshot`]. A row counts while `at > now − window`; its slot becomes free exactly at
//! `at + window`. The row of a request in flight has the future instant `now + timeout`. When the
//! request ends, the row moves to the present. No slot therefore becomes free before the upstream
//! stops counting the request.
//!
//! Two further limits are as exact as the policy's: the quota of the caller's own token, and
//! [`Ceiling`]s on the reservations of several callers, such as all callers that a rule of an
//! issuer admits.

pub mod health;
pub mod limits;
pub mod rate_limit;
pub mod read_budget;
pub mod reservation;
#[cfg(all(target_arch = "wasm32", feature = "runtime"))]
pub(crate) mod store;
pub mod upstream_block;

use std::cmp::Reverse;

use quillgate::RateLimitPolicy;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::budget::rate_limit::{PolicyState, RateLimitFields};
use crate::http::problem::Problem;
use crate::http::problem_kind::ProblemKind;

/// A request for a reservation, with a summary of the policy's log.
///
/// Instants are in milliseconds since the Unix epoch, durations in milliseconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BudgetSnapshot {
    /// The policy whose budget is requested.
    pub policy: RateLimitPolicy,
    /// The length of the window, in milliseconds.
    pub window: u64,
    /// The current time, in milliseconds since the Unix epoch.
    pub now: u64,
    /// The end of the upstream's block. `None` without a block, or if this request is a probe; see
    /// [`upstream_block`].
    pub blocked_until: Option<u64>,
    /// The policy's limit, at least 1, and its use.
    pub limit: CeilingUsage,
    /// The caller's own quota and its use.
    pub quota: Option<CeilingUsage>,
    /// The ceilings that apply to the caller, and their use.
    pub ceilings: Vec<CeilingUsage>,
}

/// A ceiling on the reservations that several callers hold together in a budget's window.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
pub struct Ceiling {
    /// The key under which the budget counts these callers together.
    pub name: String,
    /// The maximum number of their reservations in any window.
    pub max: u32,
}

/// The reservations that count under a limit, a quota or a [`Ceiling`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CeilingUsage {
    /// The maximum number of reservations in any window.
    pub max: u32,
    /// The number of reservations in the current window.
    pub count: u32,
    /// The earliest `at` among these reservations. `None` if there are none.
    pub oldest: Option<u64>,
}

impl CeilingUsage {
    /// Returns the number of reservations that are still possible.
    pub const fn left(&self) -> u32 {
        self.max.saturating_sub(self.count)
    }

    /// Returns when the next slot becomes free; one window from now if all are free.
    pub fn next_free(&self, window: u64, now: u64) -> u64 {
        self.oldest.unwrap_or(now).saturating_add(window)
    }
}

/// The decision about a request for a reservation.
#[derive(Debug, Clone, PartialEq)]
pub enum Decision {
    /// Granted: the host inserts a row.
    Granted(Granted),
    /// Refused: the host must not send the request upstream.
    Refused(Refused),
}

/// The consequences of a granted reservation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Granted {
    /// The `RateLimit` header fields after this grant.
    pub fields: RateLimitFields,
    /// The number of slots of the limit left after this grant.
    pub left: u32,
}

/// The consequences of a refused reservation.
#[derive(Debug, Clone, PartialEq)]
pub struct Refused {
    /// 429 `quota-exceeded`, with `Retry-After` and the budget's header fields.
    pub problem: Problem,
    /// The budget's header fields alone, for a response that succeeds without a reservation.
    pub fields: RateLimitFields,
}

/// Decides whether to grant a reservation.
///
/// # Example
/// ```
/// use quillgate_worker::budget::{BudgetSnapshot, CeilingUsage, Decision, decide};
/// use quillgate::RateLimitPolicy;
///
/// let mut snapshot = BudgetSnapshot {
///     policy: RateLimitPolicy::CreateJob,
///     window: 3_600_000,
///     now: 61_000,
///     blocked_until: None,
///     limit: CeilingUsage { max: 100, count: 99, oldest: Some(1_000) },
///     quota: None,
///     ceilings: Vec::new(),
/// };
/// let Decision::Granted(granted) = decide(&snapshot) else { panic!() };
/// assert_eq!(granted.fields.rate_limit, "\"create-job\";r=0;t=3540");
///
/// snapshot.limit.count = 100;
/// let Decision::Refused(refused) = decide(&snapshot) else { panic!() };
/// assert!(refused.problem.headers.contains(&("retry-after", "3540".to_owned())));
/// ```
pub fn decide(snapshot: &BudgetSnapshot) -> Decision {
    let violations = snapshot.violations();
    if let Some(last) = violations.iter().max_by_key(|violation| violation.until) {
        return Decision::Refused(snapshot.refuse(&violations, last));
    }
    let state = |usage: &CeilingUsage| PolicyState {
        left: usage.left().saturating_sub(1),
        until: Some(snapshot.next_free(usage)),
    };
    let policy = state(&snapshot.limit);
    Decision::Granted(Granted {
        fields: snapshot.fields(&policy, &state),
        left: policy.left,
    })
}

/// A rule that can refuse a reservation, with its maximum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rule {
    /// The limit of the policy.
    Limit(u32),
    /// The quota of the caller's own token.
    Quota(u32),
    /// A ceiling on several callers.
    Ceiling(u32),
    /// A block by the upstream.
    Upstream,
}

struct Violation {
    rule: Rule,
    /// When the rule no longer refuses, in milliseconds since the Unix epoch.
    until: u64,
}

/// A limit in addition to the policy's limit: the quota of the caller's token, or a ceiling that
/// the caller shares with others.
struct CallerLimit {
    rule: Rule,
    /// The suffix that [`BudgetSnapshot::name_of`] appends to the name of the policy.
    suffix: &'static str,
    usage: CeilingUsage,
}

impl BudgetSnapshot {
    /// Returns the caller's own quota and the tightest ceiling.
    ///
    /// Neither exceeds the limit, except a ceiling on reads. The limit on reads applies per caller,
    /// and a ceiling counts several callers.
    fn caller_limits(&self) -> impl Iterator<Item = CallerLimit> {
        let quota = self.quota.map(|usage| {
            let max = usage.max.min(self.limit.max);
            CallerLimit {
                rule: Rule::Quota(max),
                suffix: "-caller",
                usage: CeilingUsage { max, ..usage },
            }
        });
        let ceilings = self.ceilings.iter().map(|usage| {
            let max = match self.policy {
                RateLimitPolicy::ReadJobs => usage.max,
                RateLimitPolicy::CreateJob
                | RateLimitPolicy::SendMessage
                | RateLimitPolicy::Analytics => usage.max.min(self.limit.max),
            };
            CallerLimit {
                rule: Rule::Ceiling(max),
                suffix: "-rule",
                usage: CeilingUsage { max, ..*usage },
            }
        });
        let tightest = ceilings
            .min_by_key(|CallerLimit { usage, .. }| (usage.left(), Reverse(self.next_free(usage))));
        quota.into_iter().chain(tightest)
    }

    fn next_free(&self, usage: &CeilingUsage) -> u64 {
        usage.next_free(self.window, self.now)
    }

    fn violations(&self) -> Vec<Violation> {
        let mut violations = Vec::new();
        let mut add = |rule, until| violations.push(Violation { rule, until });
        if let Some(until) = self.blocked_until.filter(|until| *until > self.now) {
            add(Rule::Upstream, until);
        }
        if self.limit.left() == 0 {
            add(Rule::Limit(self.limit.max), self.next_free(&self.limit));
        }
        for limit in self.caller_limits().filter(|limit| limit.usage.left() == 0) {
            add(limit.rule, self.next_free(&limit.usage));
        }
        violations
    }

    fn refuse(&self, violations: &[Violation], last: &Violation) -> Refused {
        let is_general =
            |violation: &&Violation| matches!(violation.rule, Rule::Limit(_) | Rule::Upstream);
        let general = violations.iter().filter(is_general);
        let general_until = general.map(|violation| violation.until).max();
        let mut violated = Vec::new();
        if general_until.is_some() {
            violated.push(self.policy.as_str().to_owned());
        }
        let spent = self.caller_limits().filter(|limit| limit.usage.left() == 0);
        violated.extend(spent.map(|limit| self.name_of(&limit)));
        let policy = PolicyState::refused(general_until, self.limit.left());
        let fields = self.fields(&policy, &|usage| {
            let left = usage.left();
            PolicyState::refused((left == 0).then(|| self.next_free(usage)), left)
        });
        let wait = rate_limit::seconds_until(last.until, self.now);
        let problem = Problem::new(ProblemKind::QuotaExceeded, self.detail(last.rule))
            .with_header("retry-after", wait.to_string())
            .with_header("ratelimit-policy", fields.rate_limit_policy.clone())
            .with_header("ratelimit", fields.rate_limit.clone())
            .with_member("violated-policies", json!(violated));
        Refused { problem, fields }
    }

    fn detail(&self, rule: Rule) -> String {
        let (policy, window) = (self.policy.as_str(), self.window_seconds());
        match rule {
            Rule::Limit(max) => {
                format!("{policy}: the limit of {max} in any {window} seconds is used up")
            }
            Rule::Quota(max) => format!(
                "{policy}: the access token's own quota of {max} in any {window} seconds is used up"
            ),
            Rule::Ceiling(max) => format!(
                "{policy}: the ceiling of {max} in any {window} seconds for all callers of the access token's rule is used up"
            ),
            Rule::Upstream => {
                format!("{policy}: the upstream itself answered that its limit is reached")
            }
        }
    }

    /// Returns the header fields of the policy and of the caller's limits.
    fn fields(
        &self,
        policy: &PolicyState,
        state: &dyn Fn(&CeilingUsage) -> PolicyState,
    ) -> RateLimitFields {
        let (window, now) = (self.window_seconds(), self.now);
        let mut fields = RateLimitFields::default();
        fields.add(self.policy.as_str(), self.limit.max, window, policy, now);
        for limit in self.caller_limits() {
            let name = self.name_of(&limit);
            fields.add(&name, limit.usage.max, window, &state(&limit.usage), now);
        }
        fields
    }

    /// Returns the name of a limit in the header fields and among violated policies.
    fn name_of(&self, limit: &CallerLimit) -> String {
        format!("{}{}", self.policy.as_str(), limit.suffix)
    }

    fn window_seconds(&self) -> u64 {
        self.window.div_ceil(1000)
    }
}
