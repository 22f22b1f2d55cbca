//! Budgets: how many requests of a kind may go upstream in any period of time, and from whom.
//!
//! A policy (`create-job`, `send-message`, `analytics`, `read-jobs`) allows `limit` reservations in any
//! `window`. It is a sliding log, not a counter that is reset, so there are no bursts at the edges
//! of a window. The host keeps the log, one row per reservation with its instant `at`, and passes
//! a summary of it: [`Ask`]. A row counts while `at > now − window`; its slot is free again exactly
//! at `at + window`. The row of a request in progress lies in the future, at `now + timeout`, and
//! is moved to the present when the request has ended, so that no slot is freed before the
//! upstream's own count can have dropped the request.
//!
//! # Fair share
//!
//! No caller is held back while nobody else waits: a sole caller may use the whole limit.
//!
//! * Each refused request leaves a **claim**, which stays open until a minute after the time at
//!   which the caller was told to retry. A grant removes one of the caller's own claims. A request
//!   that is refused by the quota of its own token leaves none: its caller waits for itself, not
//!   for others.
//! * A caller is **active** while it holds a reservation or an open claim, or asks for a slot.
//! * The **share** is the limit divided by the number of active callers, rounded down, and at
//!   least 1.
//! * Each of the other callers is **owed** as many slots as it has open claims, but no more than it
//!   needs to reach its share.
//! * A caller that already holds its share may not take a slot that others are owed: it is refused
//!   when the slots taken and the slots owed add up to the limit. A caller below its share is never
//!   refused for the sake of others.
//!
//! An example with a limit of 10: a deploy script takes all 10 slots, one a minute from 12:00. At
//! 12:30 Alice asks, is refused, is told to retry at 13:00, and leaves a claim. Two callers are
//! active, so the share is 5. At 13:00 the first slot becomes free. The script, which keeps asking,
//! holds 9 and has its share; 9 taken and 1 owed make 10, so it is refused. Alice asks and gets the
//! slot, which removes her claim. At 13:01 the next slot becomes free; nobody waits, so the script
//! gets it. If Alice had not come back, her claim would have ended at 13:01 and the script would
//! have had her slot as well.
//!
//! So a caller that is below its share and retries when it is told to finds a slot that no caller
//! with its full share can have taken. Callers below their share are equals: the first to ask is
//! served. With more active callers than slots the share is 1, and all callers that hold none are
//! equals.
//!
//! # Ceilings
//!
//! Beside the limit a request can be under its caller's own quota, and under [`Ceiling`]s that it
//! shares with others: with every caller that a rule of an issuer admits, for example. Each is as
//! exact as the limit. Like a quota, a ceiling that refuses a request leaves no claim.

pub mod health;
pub mod limits;
pub mod outcome;
pub mod read_budget;
#[cfg(all(target_arch = "wasm32", feature = "runtime"))]
pub(crate) mod store;
pub mod usage;

use std::cmp::Reverse;

use quillgate::Millis;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::http::problem::Problem;
use crate::http::problem_kind::ProblemKind;
use crate::http::response::HeaderFields;
use quillgate::Policy;

/// How long a claim stays open after the moment its caller was told to retry: 60 s.
pub const CLAIM_LIFE: Millis = Millis(60_000);
/// How long the upstream is left alone after a 429 that does not say how long: 60 s.
pub const USUAL_CLOSURE: Millis = Millis(60_000);
/// How often a policy that is closed is probed: every 5 minutes for a window of an hour.
const PROBES_PER_WINDOW: u64 = 12;

/// A caller's request for one slot, and a summary of the policy's log. Instants are in milliseconds
/// since the Unix epoch, durations in milliseconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ask {
    /// The policy.
    pub policy: Policy,
    /// How many reservations any window may hold, from 1.
    pub limit: u32,
    /// The window's length.
    pub window: u64,
    /// The present.
    pub now: u64,
    /// The caller that asks.
    pub caller: String,
    /// The most that the caller's token may hold of the window: its `quota` claim.
    pub quota: Option<u32>,
    /// The ceilings that the caller shares with others.
    pub shared: Vec<SharedUse>,
    /// Until when the upstream itself refuses, by a 429 of its own: [`plan_closure`].
    pub closed_until: Option<u64>,
    /// The reservations in the window, one entry for each caller that has some.
    pub used: Vec<Used>,
    /// The open claims, one entry for each caller that has some.
    pub claims: Vec<Claims>,
}

/// A ceiling on the reservations in a budget's window that several callers hold together.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
pub struct Ceiling {
    /// What they are counted under.
    pub name: String,
    /// The most that they may hold.
    pub most: u32,
}

/// How far a [`Ceiling`] is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SharedUse {
    /// The most that the callers may hold.
    pub most: u32,
    /// How many reservations they hold.
    pub count: u32,
    /// The earliest `at` of them.
    pub oldest: Option<u64>,
}

/// The reservations of one caller in the window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Used {
    /// The caller.
    pub caller: String,
    /// How many there are, from 1.
    pub count: u32,
    /// The earliest `at` of them.
    pub oldest: u64,
}

/// One caller's open claims.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claims {
    /// The caller.
    pub caller: String,
    /// How many there are, from 1.
    pub count: u32,
}

/// The header fields that describe the budget (draft-ietf-httpapi-ratelimit-headers).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RateLimitFields {
    /// `RateLimit-Policy`: the limit, the token's own quota when it has one, and of the ceilings
    /// that it shares the one with the least left.
    pub rate_limit_policy: String,
    /// `RateLimit`: how many slots are left, and in how many seconds the next one becomes free.
    pub rate_limit: String,
}

impl RateLimitFields {
    /// As header fields.
    #[must_use]
    pub fn into_headers(self) -> HeaderFields {
        HeaderFields::default()
            .with("ratelimit-policy", self.rate_limit_policy)
            .with("ratelimit", self.rate_limit)
    }
}

/// Whether the slot is granted.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// It is: the host inserts a row, and deletes one of the caller's claims.
    Granted(Granted),
    /// It is not, and nothing may go upstream.
    Refused(Refused),
}

/// A slot that is granted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Granted {
    /// The header fields after this grant.
    pub fields: RateLimitFields,
    /// How many slots of the limit are left after this grant.
    pub left: u32,
}

/// A slot that is not granted.
#[derive(Debug, Clone, PartialEq)]
pub struct Refused {
    /// 429 `quota-exceeded`, with `Retry-After` and the budget's header fields.
    pub problem: Problem,
    /// The budget's header fields alone, for a request that is answered all the same.
    pub fields: RateLimitFields,
    /// Until when the claim that the host records stays open; `None` when the token's own quota
    /// or a shared ceiling refused the slot, which leaves no claim.
    pub claim_until: Option<u64>,
}

/// Decides whether a slot is granted.
///
/// # Example
/// ```
/// use quillgate_worker::budget::{Ask, Used, Verdict, reserve};
/// use quillgate::Policy;
///
/// let alice = Used { caller: "alice".to_owned(), count: 99, oldest: 1_000 };
/// let mut ask = Ask {
///     policy: Policy::CreateJob,
///     limit: 100,
///     window: 3_600_000,
///     now: 61_000,
///     caller: "alice".to_owned(),
///     quota: None,
///     shared: Vec::new(),
///     closed_until: None,
///     used: vec![alice],
///     claims: Vec::new(),
/// };
/// let Verdict::Granted(granted) = reserve(&ask) else { panic!() };
/// assert_eq!(granted.fields.rate_limit, "\"create-job\";r=0;t=3540");
///
/// ask.used[0].count = 100;
/// let Verdict::Refused(refused) = reserve(&ask) else { panic!() };
/// assert!(refused.problem.headers.contains(&("retry-after", "3540".to_owned())));
/// ```
#[must_use]
pub fn reserve(ask: &Ask) -> Verdict {
    let reasons = ask.reasons();
    if let Some(last) = reasons.iter().max_by_key(|reason| reason.until) {
        return Verdict::Refused(ask.refuse(&reasons, last));
    }
    let left = ask.left() - 1;
    let all = Level {
        left,
        until: Some(ask.next_free()),
    };
    let level = |share: &Share| Level {
        left: share.left().saturating_sub(1),
        until: Some(ask.next_free_of(share)),
    };
    Verdict::Granted(Granted {
        fields: ask.fields(&all, &level),
        left,
    })
}

/// Decides how long a 429 of the upstream closes a policy; `retry_after` is how long it asks to
/// wait. After a whole window nothing of what it counts can be left.
#[must_use]
pub fn plan_closure(retry_after: Option<Millis>, window: Millis) -> Millis {
    retry_after.unwrap_or(USUAL_CLOSURE).min(window)
}

/// What is known of a policy that the upstream has closed by a 429. Now and then one request is let
/// through as a probe; when it succeeds, the policy is open again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Closure {
    /// When it ends.
    pub until: Millis,
    /// When the next request is let through as a probe.
    pub probe_at: Millis,
    /// The reservation of the probe that was let through last.
    pub probe: Option<u64>,
}

impl Closure {
    /// A closure that ends then.
    #[must_use]
    pub fn new(until: Millis, window: Millis, now: Millis) -> Self {
        Self {
            until,
            probe_at: next_probe(window, now),
            probe: None,
        }
    }

    /// The same after this reservation was let through as a probe.
    #[must_use]
    pub fn with_probe(self, reservation: u64, window: Millis, now: Millis) -> Self {
        Self {
            probe: Some(reservation),
            ..Self::new(self.until, window, now)
        }
    }

    /// Extends it, after another 429.
    #[must_use]
    pub fn extend(earlier: Option<Self>, time: Millis, window: Millis, now: Millis) -> Self {
        let until = now.plus(time);
        let until = earlier.map_or(until, |earlier| earlier.until.max(until));
        Self::new(until, window, now)
    }

    /// Until when a request is refused; `None` when it may go through, be it as a probe.
    #[must_use]
    pub fn refuses_until(&self, now: Millis) -> Option<Millis> {
        (now < self.until && now < self.probe_at).then_some(self.until)
    }
}

fn next_probe(window: Millis, now: Millis) -> Millis {
    now.plus(Millis((window.0 / PROBES_PER_WINDOW).max(1)))
}

/// Why a slot is not granted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rule {
    Limit,
    /// The quota of the caller's own token.
    Quota(u32),
    /// A ceiling that the caller shares with others.
    Ceiling(u32),
    FairShare,
    Upstream,
}

struct Reason {
    rule: Rule,
    /// When it ends.
    until: u64,
}

/// What the caller may use of the limit, alone or with others.
struct Share {
    rule: Rule,
    /// What its name ends with.
    suffix: &'static str,
    state: SharedUse,
}

impl Share {
    fn left(&self) -> u32 {
        self.state.most.saturating_sub(self.state.count)
    }
}

/// The state of one policy.
struct Level {
    left: u32,
    /// When the next slot becomes free.
    until: Option<u64>,
}

impl Ask {
    fn total(&self) -> u32 {
        let add = |sum: u32, used: &Used| sum.saturating_add(used.count);
        self.used.iter().fold(0, add)
    }

    /// The reservations of `caller`.
    fn used_by(&self, caller: &str) -> Option<&Used> {
        self.used.iter().find(|used| used.caller == caller)
    }

    fn held(&self) -> u32 {
        self.used_by(&self.caller).map_or(0, |used| used.count)
    }

    fn left(&self) -> u32 {
        self.limit.saturating_sub(self.total())
    }

    /// The caller's own quota, and the tightest of the ceilings that it shares. Neither exceeds the
    /// limit, except a ceiling on reads: their limit is per caller, and a ceiling counts several.
    fn shares(&self) -> impl Iterator<Item = Share> {
        let own = self.quota.map(|most| {
            let most = most.min(self.limit);
            Share {
                rule: Rule::Quota(most),
                suffix: "-caller",
                state: SharedUse {
                    most,
                    count: self.held(),
                    oldest: self.used_by(&self.caller).map(|used| used.oldest),
                },
            }
        });
        let shared = self.shared.iter().map(|state| {
            let most = match self.policy {
                Policy::ReadJobs => state.most,
                Policy::CreateJob | Policy::SendMessage | Policy::Analytics => {
                    state.most.min(self.limit)
                }
            };
            Share {
                rule: Rule::Ceiling(most),
                suffix: "-rule",
                state: SharedUse { most, ..*state },
            }
        });
        let tightest = shared.min_by_key(|share| (share.left(), Reverse(self.next_free_of(share))));
        own.into_iter().chain(tightest)
    }

    fn closed(&self) -> Option<u64> {
        self.closed_until.filter(|until| *until > self.now)
    }

    /// When the next slot becomes free; when none is taken, a window from now.
    fn next_free(&self) -> u64 {
        let oldest = self.used.iter().map(|used| used.oldest).min();
        oldest.unwrap_or(self.now).saturating_add(self.window)
    }

    /// When the next slot of a share becomes free; when none of it is taken, a window from now.
    fn next_free_of(&self, share: &Share) -> u64 {
        let oldest = share.state.oldest.unwrap_or(self.now);
        oldest.saturating_add(self.window)
    }

    fn reasons(&self) -> Vec<Reason> {
        let mut reasons = Vec::new();
        let mut add = |rule, until| reasons.push(Reason { rule, until });
        if let Some(until) = self.closed() {
            add(Rule::Upstream, until);
        }
        if self.left() == 0 {
            add(Rule::Limit, self.next_free());
        } else if self.held() >= self.fair_share() && self.owed() >= self.left() {
            add(Rule::FairShare, self.next_free());
        }
        for share in self.shares().filter(|share| share.left() == 0) {
            add(share.rule, self.next_free_of(&share));
        }
        reasons
    }

    fn fair_share(&self) -> u32 {
        let claiming = self.claims.iter().map(|claims| claims.caller.as_str());
        let waiting = claiming
            .filter(|caller| *caller != self.caller && self.used_by(caller).is_none())
            .count();
        let asking = usize::from(self.used_by(&self.caller).is_none());
        let active = u32::try_from(self.used.len() + waiting + asking).unwrap_or(u32::MAX);
        (self.limit / active).max(1)
    }

    /// How many slots the other callers are owed.
    fn owed(&self) -> u32 {
        let share = self.fair_share();
        let others = self
            .claims
            .iter()
            .filter(|other| other.caller != self.caller);
        let owed = others.map(|other| {
            let used = self.used_by(&other.caller).map_or(0, |used| used.count);
            other.count.min(share.saturating_sub(used))
        });
        owed.fold(0, u32::saturating_add)
    }

    fn refuse(&self, reasons: &[Reason], last: &Reason) -> Refused {
        let is_share = |reason: &&Reason| matches!(reason.rule, Rule::Quota(_) | Rule::Ceiling(_));
        let all = reasons.iter().filter(|reason| !is_share(reason));
        let all = all.map(|reason| reason.until).max();
        let mut violated = Vec::new();
        if all.is_some() {
            violated.push(self.policy.as_str().to_owned());
        }
        let spent = self.shares().filter(|share| share.left() == 0);
        violated.extend(spent.map(|share| self.name_of(&share)));
        let fields = self.fields(&level(all, self.left()), &|share| {
            let left = share.left();
            level((left == 0).then(|| self.next_free_of(share)), left)
        });
        let wait = self.seconds_until(last.until);
        let retry_at = self.now.saturating_add(Millis::from_seconds(wait).0);
        let problem = Problem::new(ProblemKind::QuotaExceeded, self.detail(last.rule))
            .with_header("retry-after", wait.to_string())
            .with_header("ratelimit-policy", fields.rate_limit_policy.clone())
            .with_header("ratelimit", fields.rate_limit.clone())
            .with_member("violated-policies", json!(violated));
        Refused {
            problem,
            fields,
            claim_until: (!reasons.iter().any(|reason| is_share(&reason)))
                .then(|| retry_at.saturating_add(CLAIM_LIFE.0)),
        }
    }

    fn detail(&self, rule: Rule) -> String {
        let (policy, window) = (self.policy.as_str(), self.window_seconds());
        match rule {
            Rule::Limit => {
                let limit = self.limit;
                format!("{policy}: the limit of {limit} in any {window} seconds is used up")
            }
            Rule::Quota(most) => format!(
                "{policy}: the access token's own quota of {most} in any {window} seconds is used up"
            ),
            Rule::Ceiling(most) => format!(
                "{policy}: the ceiling of {most} in any {window} seconds for all callers of the access token's rule is used up"
            ),
            Rule::FairShare => format!(
                "{policy}: the slots that are left are kept for other callers, who wait and hold less than their fair share"
            ),
            Rule::Upstream => {
                format!("{policy}: the upstream itself answered that its limit is reached")
            }
        }
    }

    fn fields(&self, all: &Level, level: &dyn Fn(&Share) -> Level) -> RateLimitFields {
        let mut fields = self.describe(self.policy.as_str(), self.limit, all);
        for share in self.shares() {
            let own = self.describe(&self.name_of(&share), share.state.most, &level(&share));
            fields.rate_limit_policy += ", ";
            fields.rate_limit_policy += &own.rate_limit_policy;
            fields.rate_limit += ", ";
            fields.rate_limit += &own.rate_limit;
        }
        fields
    }

    fn describe(&self, name: &str, quota: u32, level: &Level) -> RateLimitFields {
        let (window, left) = (self.window_seconds(), level.left);
        let rate_limit = match level.until {
            Some(until) => format!("\"{name}\";r={left};t={}", self.seconds_until(until)),
            None => format!("\"{name}\";r={left}"),
        };
        RateLimitFields {
            rate_limit_policy: format!("\"{name}\";q={quota};w={window}"),
            rate_limit,
        }
    }

    /// The name of a share in the header fields and among violated policies.
    fn name_of(&self, share: &Share) -> String {
        [self.policy.as_str(), share.suffix].concat()
    }

    fn window_seconds(&self) -> u64 {
        self.window.div_ceil(1000)
    }

    /// Whole seconds until a moment, rounded up, at least 1.
    fn seconds_until(&self, moment: u64) -> u64 {
        moment.saturating_sub(self.now).div_ceil(1000).max(1)
    }
}

/// The state of a policy in a refusal. A policy that is not violated has no time: it could be later
/// than `Retry-After`, which is not allowed (draft-ietf-httpapi-ratelimit-headers).
fn level(violated_until: Option<u64>, left: u32) -> Level {
    Level {
        left: if violated_until.is_some() { 0 } else { left },
        until: violated_until,
    }
}
