//! Budgets: the maximum number of upstream requests of each kind in any window, and its fair
//! distribution.
//!
//! A policy (`create-job`, `send-message`, `analytics`, `read-jobs`) allows `limit` reservations in
//! any `window`. A sliding log counts them, so there are no bursts at the edges of a window.
//!
//! The host stores the log, one row per reservation with its instant `at`, and passes a summary:
//! [`Ask`]. A row counts while `at > now − window`; its slot becomes free exactly at `at + window`.
//! The row of a request in flight has the future instant `now + timeout`. When the request ends,
//! the row moves to the present. No slot therefore becomes free before the upstream stops counting
//! the request.
//!
//! # Fair share
//!
//! A sole caller can use the whole limit. Callers are held back only while others wait.
//!
//! * Each refused request records a **claim**. It stays open until one minute after the retry time
//!   in the response. A grant removes one of the caller's claims. A refusal by the token's own
//!   quota records no claim, because the caller waits only for itself.
//! * A caller is **active** while it holds a reservation or an open claim, or requests a slot.
//! * The **share** is the limit divided by the number of active callers, rounded down, and at
//!   least 1.
//! * Each other caller is **owed** one slot per open claim, but at most the number that it needs to
//!   reach its share.
//! * A caller that holds its share cannot take a slot owed to others. It is refused when the slots
//!   taken and the slots owed add up to the limit. This rule never refuses a caller below its
//!   share.
//!
//! An example with a limit of 10:
//!
//! 1. A deploy script takes all 10 slots, one a minute from 12:00.
//! 2. At 12:30 Alice's request is refused with a retry time of 13:00, and records a claim. Two
//!    callers are active, so the share is 5.
//! 3. At 13:00 the first slot becomes free. The script tries again. It holds 9 slots, more than its
//!    share; 9 taken and 1 owed make 10, so it is refused.
//! 4. Alice retries and gets the slot, which removes her claim.
//! 5. At 13:01 the next slot becomes free. No caller is waiting, so the script gets it.
//!
//! If Alice had not retried, her claim would have ended at 13:01. The script would then have got
//! her slot as well.
//!
//! A caller below its share that retries on time therefore finds a slot that callers with a full
//! share cannot take. Callers below their share are served in order of arrival. With more active
//! callers than slots, the share is 1, and callers without a slot are equals.
//!
//! # Ceilings
//!
//! A request can also be limited by its caller's own quota and by [`Ceiling`]s shared with other
//! callers, such as all callers that a rule of an issuer admits. They are as exact as the limit. A
//! refusal by a quota or a ceiling records no claim.

pub mod health;
pub mod limits;
pub mod outcome;
pub mod read_budget;
#[cfg(all(target_arch = "wasm32", feature = "runtime"))]
pub(crate) mod store;
pub mod upstream_block;
pub mod usage;

use std::cmp::Reverse;

use quillgate::{Millis, Policy};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::http::problem::Problem;
use crate::http::problem_kind::ProblemKind;
use crate::http::response::HeaderFields;

/// The time for which a claim stays open after its caller's retry time: 60 s.
pub const CLAIM_LIFE: Millis = Millis(60_000);

/// A request for a slot, with a summary of the policy's log.
///
/// Instants are in milliseconds since the Unix epoch, durations in milliseconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ask {
    /// The policy.
    pub policy: Policy,
    /// The maximum number of reservations in any window, at least 1.
    pub limit: u32,
    /// The window's length.
    pub window: u64,
    /// The current time.
    pub now: u64,
    /// The requesting caller.
    pub caller: String,
    /// The token's `quota` claim: the maximum number of the caller's own reservations in the
    /// window.
    pub quota: Option<u32>,
    /// The ceilings shared with other callers, and their use.
    pub shared: Vec<SharedUse>,
    /// The end of the upstream's block, unless this request is a probe: [`upstream_block`].
    pub closed_until: Option<u64>,
    /// The reservations in the window, one entry per caller.
    pub used: Vec<Used>,
    /// The open claims, one entry per caller.
    pub claims: Vec<Claims>,
}

/// A ceiling on the reservations that several callers hold together in a budget's window.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
pub struct Ceiling {
    /// The key under which these callers are counted.
    pub name: String,
    /// The maximum number of their reservations.
    pub most: u32,
}

/// The use of a [`Ceiling`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SharedUse {
    /// The maximum number of reservations.
    pub most: u32,
    /// The number of reservations.
    pub count: u32,
    /// Their earliest `at`.
    pub oldest: Option<u64>,
}

/// The reservations of one caller in the window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Used {
    /// The caller.
    pub caller: String,
    /// Their number, at least 1.
    pub count: u32,
    /// Their earliest `at`.
    pub oldest: u64,
}

/// The open claims of one caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claims {
    /// The caller.
    pub caller: String,
    /// Their number, at least 1.
    pub count: u32,
}

/// The header fields that describe the budget (draft-ietf-httpapi-ratelimit-headers).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RateLimitFields {
    /// `RateLimit-Policy`: the limit, the token's own quota if any, and the shared ceiling with the
    /// fewest slots left.
    pub rate_limit_policy: String,
    /// `RateLimit`: the slots left, and the seconds until the next one becomes free.
    pub rate_limit: String,
}

impl RateLimitFields {
    /// Converts them to header fields.
    #[must_use]
    pub fn into_headers(self) -> HeaderFields {
        HeaderFields::default()
            .with("ratelimit-policy", self.rate_limit_policy)
            .with("ratelimit", self.rate_limit)
    }
}

/// The decision about a slot.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// Granted: the host inserts a row and deletes one of the caller's claims.
    Granted(Granted),
    /// Refused: the host must not send the request upstream.
    Refused(Refused),
}

/// A granted slot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Granted {
    /// The header fields after this grant.
    pub fields: RateLimitFields,
    /// The number of slots of the limit left after this grant.
    pub left: u32,
}

/// A refused slot.
#[derive(Debug, Clone, PartialEq)]
pub struct Refused {
    /// 429 `quota-exceeded`, with `Retry-After` and the budget's header fields.
    pub problem: Problem,
    /// The budget's header fields alone, for a response that succeeds without a slot.
    pub fields: RateLimitFields,
    /// The end of the claim that the host records; `None` if the token's own quota or a shared
    /// ceiling refused the slot.
    pub claim_until: Option<u64>,
}

/// Decides whether to grant a slot.
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

/// The reason for a refusal.
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
    /// When the reason ceases to apply.
    until: u64,
}

/// A part of the limit that the caller can use, alone or with others.
struct Share {
    rule: Rule,
    /// The suffix of its name.
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

    /// Returns the reservations of `caller`.
    fn used_by(&self, caller: &str) -> Option<&Used> {
        self.used.iter().find(|used| used.caller == caller)
    }

    fn held(&self) -> u32 {
        self.used_by(&self.caller).map_or(0, |used| used.count)
    }

    fn left(&self) -> u32 {
        self.limit.saturating_sub(self.total())
    }

    /// Returns the caller's own quota and the tightest shared ceiling.
    ///
    /// Neither exceeds the limit, except a ceiling on reads. The limit on reads applies per caller,
    /// and a ceiling counts several callers.
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

    /// Returns when the next slot becomes free; one window from now if all are free.
    fn next_free(&self) -> u64 {
        let oldest = self.used.iter().map(|used| used.oldest).min();
        oldest.unwrap_or(self.now).saturating_add(self.window)
    }

    /// Returns when the next slot of a share becomes free; one window from now if all are free.
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

    /// Returns the number of slots owed to other callers.
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

    /// Returns the name of a share in the header fields and among violated policies.
    fn name_of(&self, share: &Share) -> String {
        format!("{}{}", self.policy.as_str(), share.suffix)
    }

    fn window_seconds(&self) -> u64 {
        self.window.div_ceil(1000)
    }

    /// Returns the whole seconds until a moment, rounded up, at least 1.
    fn seconds_until(&self, moment: u64) -> u64 {
        moment.saturating_sub(self.now).div_ceil(1000).max(1)
    }
}

/// Returns the state of a policy in a refusal. A policy that is not violated has no time: it could
/// be later than `Retry-After`, which the draft forbids (draft-ietf-httpapi-ratelimit-headers).
fn level(violated_until: Option<u64>, left: u32) -> Level {
    Level {
        left: if violated_until.is_some() { 0 } else { left },
        until: violated_until,
    }
}
