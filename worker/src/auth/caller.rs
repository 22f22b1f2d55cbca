use std::collections::BTreeSet;

use quillgate::{Millis, RateLimitPolicy, Scope};
use serde_json::Value;

use crate::auth::challenge;
use crate::budget::Ceiling;
use crate::budget::reservation::BudgetRequest;
use crate::http::problem::Problem;
use crate::http::problem_kind::ProblemKind;

/// No trusted issuer can have this name.
pub const ISSUER: &str = "quillgate";

pub const OPERATE: &str = Scope::Operate.as_str();

const MAX_NAMED_PROJECTS: usize = 5;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    /// Compared exactly: never patterns.
    pub projects: Vec<String>,
    /// As named by [`Scope::as_str`].
    pub scopes: Vec<String>,
}

impl Grant {
    /// `scope` is a space-separated list (RFC 6749, section 3.3).
    pub fn new(projects: Vec<String>, scope: &str) -> Self {
        let words = scope.split(' ').filter(|word| !word.is_empty());
        Self {
            projects,
            scopes: words.map(str::to_owned).collect(),
        }
    }
}

/// For each policy, the maximum number of reservations in any window.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Quota([Option<u32>; RateLimitPolicy::ALL.len()]);

impl Quota {
    /// Reads an object of non-negative integers by policy, or one integer for all policies. An
    /// unknown policy is an error: a misspelt ceiling must not be ignored.
    pub fn read(value: &Value) -> Option<Self> {
        let ceiling = |value: &Value| Some(u32::try_from(value.as_u64()?).unwrap_or(u32::MAX));
        let Value::Object(members) = value else {
            return Some(Self([Some(ceiling(value)?); RateLimitPolicy::ALL.len()]));
        };
        let mut quota = Self::default();
        for (name, value) in members {
            quota.0[RateLimitPolicy::from_name(name)? as usize] = Some(ceiling(value)?);
        }
        Some(quota)
    }

    pub fn is_limited(&self) -> bool {
        *self != Self::default()
    }

    pub const fn ceiling(&self, policy: RateLimitPolicy) -> Option<u32> {
        self.0[policy as usize]
    }

    pub(super) fn without(mut self, other: Self) -> Self {
        for (own, other) in self.0.iter_mut().zip(other.0) {
            *own = own.filter(|_| other.is_none());
        }
        self
    }

    pub fn lower(mut self, other: Self) -> Self {
        for (own, other) in self.0.iter_mut().zip(other.0) {
            *own = (*own).into_iter().chain(other).min();
        }
        self
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedQuota {
    pub name: String,
    pub quota: Quota,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// [`ISSUER`] for the gateway's own tokens.
    pub issuer: String,
    pub subject: String,
    pub grants: Vec<Grant>,
    pub quota: Quota,
    /// Identify the caller instead of the subject. As JSON.
    pub claims: Option<String>,
    pub shared: Vec<SharedQuota>,
    /// When the gateway stops accepting the token, or when the session ends if that is earlier.
    pub expires: Millis,
}

impl Caller {
    /// A single grant must contain both the project and the scope. The 403 has the caller's own
    /// projects, which `GET /session` returns, too, or the scope in the challenge (RFC 6750,
    /// section 3.1).
    pub fn authorize(&self, project: &str, scope: &str) -> Result<(), Problem> {
        let in_project = |grant: &&Grant| grant.projects.iter().any(|own| own == project);
        let mut grants = self.grants.iter().filter(in_project).peekable();
        if grants.peek().is_none() {
            let detail = format!("the access token is {}", self.describe_projects());
            return Err(Problem::new(ProblemKind::ProjectNotAllowed, detail));
        }
        require_scope(grants, scope)
    }

    fn describe_projects(&self) -> String {
        let projects = self.grants.iter().flat_map(|grant| &grant.projects);
        let ids: BTreeSet<&str> = projects.map(String::as_str).collect();
        let named: Vec<&str> = ids.iter().copied().take(MAX_NAMED_PROJECTS).collect();
        match (named.join(", "), ids.len() - named.len()) {
            (named, _) if named.is_empty() => "for no project".to_owned(),
            (named, 0) => format!("not for this project, only for {named}"),
            (named, others) => format!("not for this project, only for {named} and {others} more"),
        }
    }

    pub fn require_anywhere(&self, scope: &str) -> Result<(), Problem> {
        require_scope(self.grants.iter(), scope)
    }

    /// Of the caller's budgets and idempotency keys.
    pub fn key(&self) -> String {
        caller_key(&self.issuer, &self.subject, self.claims.as_deref())
    }

    pub fn budget_request(&self, policy: RateLimitPolicy) -> BudgetRequest {
        let ceiling = |shared: &SharedQuota| {
            Some(Ceiling {
                max: shared.quota.ceiling(policy)?,
                name: shared.name.clone(),
            })
        };
        BudgetRequest {
            policy,
            caller: self.key(),
            quota: self.quota.ceiling(policy),
            ceilings: self.shared.iter().filter_map(ceiling).collect(),
        }
    }
}

/// An issuer contains no spaces, so a key with claims never equals a key with a subject.
pub(super) fn caller_key(issuer: &str, subject: &str, claims: Option<&str>) -> String {
    match claims {
        None => format!("{issuer} {subject}"),
        Some(claims) => format!(" {issuer} {claims}"),
    }
}

fn require_scope<'a>(
    mut grants: impl Iterator<Item = &'a Grant>,
    scope: &str,
) -> Result<(), Problem> {
    if grants.any(|grant| grant.scopes.iter().any(|own| own == scope)) {
        return Ok(());
    }
    let parameters = format!(", error=\"insufficient_scope\", scope=\"{scope}\"");
    let detail = format!("this requires an access token with the scope {scope}");
    let kind = ProblemKind::InsufficientScope;
    Err(challenge(kind, detail, &parameters))
}
