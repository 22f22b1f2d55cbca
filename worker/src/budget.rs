//! Budgets: how many requests of a kind may go upstream in any stretch of time, and whose.
//!
//! A policy (`create-job`, `send-message`, `analytics`) allows `limit` reservations in any
//! `window`: a sliding log, not a counter that starts afresh, so nothing can burst at a
//! window's edge. The host keeps the log, one row a reservation with its instant `at`, and
//! gives its summary: [`Ask`]. A row counts while `at > now − window`; at `at + window` exactly
//! its slot is free again. The row of a request still under way lies in the future, at
//! `now + timeout`, and is moved to the present when the request has ended, so that no slot
//! frees before the upstream's own count can have let go of it.
//!
//! # Fair share
//!
//! Nobody is held back while nobody else waits: a sole caller may take the whole limit.
//!
//! * Who is refused leaves a **claim**, one for each refused request, open until a minute after
//!   the moment it was told to retry. A grant takes one of the caller's own claims away. Who is
//!   refused by its own token's quota leaves none: it waits for itself, not for others.
//! * A caller is **active** while it holds a reservation or an open claim, or asks.
//! * The **share** is the limit divided by the number of active callers, rounded down, and at
//!   least 1.
//! * What others are **owed** is, for each of them, as many slots as it has open claims, but no
//!   more than it lacks to its share.
//! * A caller that already holds its share may not take a slot that others are owed: it is
//!   refused when the slots taken and the slots owed together reach the limit. A caller below
//!   its share is never refused for another's sake.
//!
//! An example with a limit of 10. A deploy script takes all 10, one a minute from 12:00. At
//! 12:30 Alice asks, is refused, told to retry at 13:00, and leaves a claim. Two callers are active, so the
//! share is 5. At 13:00 the first slot frees. The script, which asks all the time, holds 9 and
//! is at its share; 9 taken and 1 owed make 10, so it is refused. Alice asks and is
//! granted; her claim is gone. At 13:01 the next slot frees; nobody waits, and the
//! script has it. Had Alice not come back, her claim would have ended at 13:01 and the slot
//! would have been the script's as well.
//!
//! So who is below its share and retries when told finds a slot that nobody at its share can have
//! taken. Callers below their share are equals: between them the first to ask is served. With
//! more active callers than slots the share is 1, and all who hold none are such equals.

use quillgate::Millis;
use serde_json::{Value, json};

use crate::json;
use crate::problem::Problem;

/// How long a claim stays open after the moment its caller was told to retry: 60 s.
pub const CLAIM_LIFE: Millis = Millis(60_000);
/// How long the upstream is left alone after a 429 that does not say how long: 60 s.
pub const USUAL_CLOSURE: Millis = Millis(60_000);
/// The longest that one 429 closes a policy, whatever it asks for: a day.
pub const LONGEST_CLOSURE: Millis = Millis(86_400_000);

/// A caller's wish for one slot, and the state of the policy's log. Instants are milliseconds
/// since the Unix epoch, lengths of time milliseconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ask<'a> {
    /// The policy's name, as in the header fields; ASCII without quotes and backslashes.
    pub policy: &'a str,
    /// How many reservations any window may hold, from 1.
    pub limit: u32,
    /// The window's length.
    pub window: u64,
    /// The present.
    pub now: u64,
    /// Who asks.
    pub caller: String,
    /// The most that the caller's token may hold of the window: its `quota` claim.
    pub share: Option<u32>,
    /// Until when the upstream itself refuses, by a 429 of its own: [`closed_until`].
    pub closed_until: Option<u64>,
    /// What the window holds, once for each caller that holds something.
    pub used: Vec<Used>,
    /// The open claims, once for each caller that has some.
    pub claims: Vec<Claims>,
}

impl<'a> Ask<'a> {
    /// Reads what the host asks; `used` and `claims` may be missing.
    #[must_use]
    pub fn read(ask: &'a Value) -> Self {
        let number = |name| json::number(ask, name).unwrap_or_default();
        let used = |used| Used {
            caller: json::owned(used, "caller"),
            count: json::count(used, "count").unwrap_or_default(),
            oldest: json::number(used, "oldest").unwrap_or_default(),
        };
        let claims = |claims| Claims {
            caller: json::owned(claims, "caller"),
            count: json::count(claims, "count").unwrap_or_default(),
        };
        Self {
            policy: json::text(ask, "policy").unwrap_or_default(),
            limit: json::count(ask, "limit").unwrap_or_default(),
            window: number("window"),
            now: number("now"),
            caller: json::owned(ask, "caller"),
            share: json::count(ask, "share"),
            closed_until: json::number(ask, "closedUntil"),
            used: json::items(ask, "used").map(used).collect(),
            claims: json::items(ask, "claims").map(claims).collect(),
        }
    }
}

/// What one caller holds of the window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Used {
    /// Whose.
    pub caller: String,
    /// How many reservations, from 1.
    pub count: u32,
    /// The earliest `at` of them.
    pub oldest: u64,
}

/// One caller's open claims.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claims {
    /// Whose.
    pub caller: String,
    /// How many, from 1.
    pub count: u32,
}

/// What is said about the budget, as the values of header fields
/// (draft-ietf-httpapi-ratelimit-headers).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fields {
    /// `RateLimit-Policy`: the limit, and the token's own quota when it has one.
    pub rate_limit_policy: String,
    /// `RateLimit`: how many slots are left, and in how many seconds the next one frees.
    pub rate_limit: String,
}

/// Whether the slot is given.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// It is: the host inserts a row, and deletes one of the caller's claims.
    Granted(Granted),
    /// It is not, and nothing may go upstream.
    Refused(Refused),
}

/// A slot that is given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Granted {
    /// What is said about the budget after this grant.
    pub fields: Fields,
    /// How many slots of the limit are left after this grant.
    pub left: u32,
}

/// A slot that is not given.
#[derive(Debug, Clone, PartialEq)]
pub struct Refused {
    /// 429 `quota-exceeded`, with `Retry-After` and the budget's header fields.
    pub problem: Problem,
    /// Until when the claim is open that the host records; none when the token's own quota
    /// refused.
    pub claim_until: Option<u64>,
}

/// Decides about one slot.
///
/// # Example
/// ```
/// use quillgate_worker::budget::{Ask, Used, Verdict, reserve};
///
/// let alice = Used { caller: "alice".to_owned(), count: 99, oldest: 1_000 };
/// let mut ask = Ask {
///     policy: "create-job",
///     limit: 100,
///     window: 3_600_000,
///     now: 61_000,
///     caller: "alice".to_owned(),
///     share: None,
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
pub fn reserve(ask: &Ask<'_>) -> Verdict {
    let reasons = ask.reasons();
    if let Some(last) = reasons.iter().max_by_key(|reason| reason.until) {
        return Verdict::Refused(ask.refused(&reasons, last));
    }
    let left = ask.left() - 1;
    let own = ask.quota().map(|quota| Level {
        left: quota - ask.held() - 1,
        until: Some(ask.own_frees()),
    });
    let all = Level {
        left,
        until: Some(ask.frees()),
    };
    Verdict::Granted(Granted {
        fields: ask.fields(&all, own.as_ref()),
        left,
    })
}

/// What is said about the budget when no slot is asked for.
#[must_use]
pub fn fields(ask: &Ask<'_>) -> Fields {
    let closed = ask.closed();
    let all = Level {
        left: if closed.is_some() { 0 } else { ask.left() },
        until: Some(ask.frees().max(closed.unwrap_or_default())),
    };
    let own = ask.quota().map(|quota| Level {
        left: quota.saturating_sub(ask.held()),
        until: Some(ask.own_frees()),
    });
    ask.fields(&all, own.as_ref())
}

/// Until when a policy is closed by a 429 of the upstream, `retry_after` being how long it asks
/// to wait.
#[must_use]
pub fn closed_until(retry_after: Option<Millis>, now: Millis) -> Millis {
    now.plus(retry_after.unwrap_or(USUAL_CLOSURE).min(LONGEST_CLOSURE))
}

/// Why a slot is not given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rule {
    Limit,
    Quota,
    FairShare,
    Upstream,
}

struct Reason {
    rule: Rule,
    /// The moment it ends.
    until: u64,
}

/// What is said of one policy.
struct Level {
    left: u32,
    /// When the next slot frees.
    until: Option<u64>,
}

impl Ask<'_> {
    fn total(&self) -> u32 {
        let add = |sum: u32, used: &Used| sum.saturating_add(used.count);
        self.used.iter().fold(0, add)
    }

    /// What `caller` holds.
    fn used_by(&self, caller: &str) -> Option<&Used> {
        self.used.iter().find(|used| used.caller == caller)
    }

    fn held(&self) -> u32 {
        self.used_by(&self.caller).map_or(0, |used| used.count)
    }

    fn left(&self) -> u32 {
        self.limit.saturating_sub(self.total())
    }

    /// A quota above the limit is no other than the limit.
    fn quota(&self) -> Option<u32> {
        self.share.map(|share| share.min(self.limit))
    }

    fn closed(&self) -> Option<u64> {
        self.closed_until.filter(|until| *until > self.now)
    }

    /// When the next slot frees; when none is taken, a window from now.
    fn frees(&self) -> u64 {
        let oldest = self.used.iter().map(|used| used.oldest).min();
        oldest.unwrap_or(self.now).saturating_add(self.window)
    }

    /// When the caller's own next slot frees; when it has none, a window from now.
    fn own_frees(&self) -> u64 {
        let oldest = self.used_by(&self.caller).map(|used| used.oldest);
        oldest.unwrap_or(self.now).saturating_add(self.window)
    }

    fn reasons(&self) -> Vec<Reason> {
        let mut reasons = Vec::new();
        let mut add = |rule, until| reasons.push(Reason { rule, until });
        if let Some(until) = self.closed() {
            add(Rule::Upstream, until);
        }
        if self.left() == 0 {
            add(Rule::Limit, self.frees());
        } else if self.held() >= self.fair_share() && self.owed() >= self.left() {
            add(Rule::FairShare, self.frees());
        }
        if self.quota().is_some_and(|quota| self.held() >= quota) {
            add(Rule::Quota, self.own_frees());
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

    fn refused(&self, reasons: &[Reason], last: &Reason) -> Refused {
        let quota = reasons.iter().find(|reason| reason.rule == Rule::Quota);
        let all = reasons.iter().filter(|reason| reason.rule != Rule::Quota);
        let all = all.map(|reason| reason.until).max();
        let mut violated = Vec::new();
        if all.is_some() {
            violated.push(self.policy.to_owned());
        }
        if quota.is_some() {
            violated.push(self.own_policy());
        }
        let own = self.quota().map(|most| {
            let left = most.saturating_sub(self.held());
            level(quota.map(|reason| reason.until), left)
        });
        let fields = self.fields(&level(all, self.left()), own.as_ref());
        let wait = self.seconds_until(last.until);
        let told = self.now.saturating_add(Millis::from_seconds(wait).0);
        let problem = Problem::new(
            429,
            "quota-exceeded",
            "Quota exceeded",
            self.detail(last.rule),
        )
        .with_header("retry-after", wait.to_string())
        .with_header("ratelimit-policy", fields.rate_limit_policy)
        .with_header("ratelimit", fields.rate_limit)
        .with_member("violated-policies", json!(violated));
        Refused {
            problem,
            claim_until: quota.is_none().then(|| told.saturating_add(CLAIM_LIFE.0)),
        }
    }

    fn detail(&self, rule: Rule) -> String {
        let (policy, window) = (self.policy, self.window_seconds());
        match rule {
            Rule::Limit => {
                let limit = self.limit;
                format!("{policy}: the limit of {limit} in any {window} seconds is used up")
            }
            Rule::Quota => {
                let quota = self.quota().unwrap_or_default();
                format!(
                    "{policy}: the access token's own quota of {quota} in any {window} seconds is used up"
                )
            }
            Rule::FairShare => format!(
                "{policy}: the slots that are left are kept for other callers, who wait and hold less than their fair share"
            ),
            Rule::Upstream => {
                format!("{policy}: the upstream itself answered that its limit is reached")
            }
        }
    }

    fn fields(&self, all: &Level, own: Option<&Level>) -> Fields {
        let mut fields = self.said_of(self.policy, self.limit, all);
        if let (Some(quota), Some(own)) = (self.quota(), own) {
            let own = self.said_of(&self.own_policy(), quota, own);
            fields.rate_limit_policy += ", ";
            fields.rate_limit_policy += &own.rate_limit_policy;
            fields.rate_limit += ", ";
            fields.rate_limit += &own.rate_limit;
        }
        fields
    }

    fn said_of(&self, name: &str, quota: u32, level: &Level) -> Fields {
        let (window, left) = (self.window_seconds(), level.left);
        let rate_limit = match level.until {
            Some(until) => format!("\"{name}\";r={left};t={}", self.seconds_until(until)),
            None => format!("\"{name}\";r={left}"),
        };
        Fields {
            rate_limit_policy: format!("\"{name}\";q={quota};w={window}"),
            rate_limit,
        }
    }

    /// The name under which the token's own quota is said.
    fn own_policy(&self) -> String {
        format!("{}-caller", self.policy)
    }

    fn window_seconds(&self) -> u64 {
        self.window.div_ceil(1000)
    }

    /// Whole seconds, never earlier than the moment itself.
    fn seconds_until(&self, moment: u64) -> u64 {
        moment.saturating_sub(self.now).div_ceil(1000).max(1)
    }
}

/// What a refusal says of a policy. One that is not violated goes without its time, which may
/// be later than `Retry-After` and must not be (draft-ietf-httpapi-ratelimit-headers).
fn level(violated_until: Option<u64>, left: u32) -> Level {
    Level {
        left: if violated_until.is_some() { 0 } else { left },
        until: violated_until,
    }
}
