//! Authenticated callers. A [`Caller`] has grants, which name projects and scopes, and quotas.

use std::collections::BTreeSet;

use quillgate::{Millis, RateLimitPolicy, Scope};
use serde_json::Value;

use crate::budget::Ceiling;
use crate::budget::reservation::BudgetRequest;
use crate::http::problem::Problem;
use crate::http::problem_kind::ProblemKind;

/// The issuer of the gateway's own tokens. No trusted issuer can have this name.
pub const ISSUER: &str = "quillgate";

/// The scope for operating the gateway. A request without a project needs this scope in at least
/// one grant: [`Caller::require_operator`].
pub const OPERATE: &str = Scope::Operate.as_str();

/// The maximum number of projects that a problem names.
const MAX_NAMED_PROJECTS: usize = 5;

/// Projects and the scopes that apply to each of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    /// The ids of the projects. An id is compared exactly and is never a pattern.
    pub projects: Vec<String>,
    /// The scopes, as named by [`Scope::as_str`].
    pub scopes: Vec<String>,
}

impl Grant {
    /// Creates a grant for these projects with a space-separated list of scopes (RFC 6749,
    /// section 3.3).
    pub fn new(projects: Vec<String>, scope: &str) -> Self {
        let words = scope.split(' ').filter(|word| !word.is_empty());
        Self {
            projects,
            scopes: words.map(str::to_owned).collect(),
        }
    }

    fn has_project(&self, project: &str) -> bool {
        self.projects.iter().any(|own| own == project)
    }

    fn has_scope(&self, scope: &str) -> bool {
        self.scopes.iter().any(|own| own == scope)
    }
}

/// A ceiling for each policy: the maximum number of reservations in any window of the policy's
/// budget. `None` means no ceiling.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Quota([Option<u32>; RateLimitPolicy::ALL.len()]);

impl Quota {
    /// Reads an object that maps policy names to non-negative integers, or one integer for all
    /// policies. Values above `u32::MAX` count as `u32::MAX`.
    ///
    /// Returns `None` for anything else. Unknown policy names are rejected, so that a misspelt
    /// ceiling is not ignored.
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

    /// Whether the quota limits any policy.
    pub fn is_limited(&self) -> bool {
        *self != Self::default()
    }

    /// Returns the ceiling for this policy. Returns `None` if this quota does not limit the policy.
    pub const fn ceiling(&self, policy: RateLimitPolicy) -> Option<u32> {
        self.0[policy as usize]
    }

    /// Returns the ceilings for policies that `other` does not limit.
    pub fn without(mut self, other: Self) -> Self {
        for (own, other) in self.0.iter_mut().zip(other.0) {
            *own = own.filter(|_| other.is_none());
        }
        self
    }

    /// Combines two quotas into the lower ceiling for each policy.
    pub fn lower(mut self, other: Self) -> Self {
        for (own, other) in self.0.iter_mut().zip(other.0) {
            *own = (*own).into_iter().chain(other).min();
        }
        self
    }
}

/// A quota shared by several callers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedQuota {
    /// The key under which the budget counts these callers.
    pub name: String,
    /// The ceilings that these callers share.
    pub quota: Quota,
}

/// An authenticated caller, its permissions and its quotas.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// The token's `iss`: [`ISSUER`] for the gateway's own tokens.
    pub issuer: String,
    /// The token's `sub`, which identifies the caller within its issuer.
    pub subject: String,
    /// The projects and scopes of the caller.
    pub grants: Vec<Grant>,
    /// The ceilings that apply to this caller alone.
    pub quota: Quota,
    /// The claims that identify the caller, as JSON. `None` if no rule names such claims: the
    /// subject then identifies the caller.
    pub claims: Option<String>,
    /// The quotas that this caller shares with others.
    pub shared: Vec<SharedQuota>,
    /// When the gateway stops accepting the token, or when the session ends if that is earlier.
    pub expires: Millis,
}

impl Caller {
    /// Checks that a single grant contains both the project and the scope.
    ///
    /// # Errors
    /// - 403 `project-not-allowed` if no grant has the project. The problem names the caller's own
    ///   projects, which `GET /session` returns, too.
    /// - 403 `insufficient-scope` if every grant for the project lacks the scope. The challenge
    ///   names the scope (RFC 6750, section 3.1).
    pub fn authorize(&self, project: &str, scope: &str) -> Result<(), Problem> {
        let mut grants = self
            .grants
            .iter()
            .filter(|grant| grant.has_project(project));
        let Some(first) = grants.next() else {
            let detail = format!("the access token is {}", self.describe_projects());
            return Err(Problem::new(ProblemKind::ProjectNotAllowed, detail));
        };
        if first.has_scope(scope) || grants.any(|grant| grant.has_scope(scope)) {
            return Ok(());
        }
        Err(insufficient_scope_problem(scope))
    }

    /// Returns the projects of all grants as a phrase, at most [`MAX_NAMED_PROJECTS`] by name.
    fn describe_projects(&self) -> String {
        let ids = self.grants.iter().flat_map(|grant| &grant.projects);
        let ids: BTreeSet<&str> = ids.map(String::as_str).collect();
        let named: Vec<&str> = ids.iter().copied().take(MAX_NAMED_PROJECTS).collect();
        match (named.join(", "), ids.len() - named.len()) {
            (named, _) if named.is_empty() => "for no project".to_owned(),
            (named, 0) => format!("not for this project, only for {named}"),
            (named, others) => format!("not for this project, only for {named} and {others} more"),
        }
    }

    /// Checks that some grant has the scope [`OPERATE`].
    ///
    /// # Errors
    /// Returns a 403 problem if no grant has the scope. The challenge names the scope.
    pub fn require_operator(&self) -> Result<(), Problem> {
        if self.grants.iter().any(|grant| grant.has_scope(OPERATE)) {
            return Ok(());
        }
        Err(insufficient_scope_problem(OPERATE))
    }

    /// Returns the key under which budgets and idempotency keys are stored for this caller.
    pub fn key(&self) -> String {
        caller_key(&self.issuer, &self.subject, self.claims.as_deref())
    }

    /// Returns a request for a reservation in the budget of this policy.
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

/// Returns a unique key for a caller.
///
/// The key is the issuer and the subject, separated by a space. If `claims` is present, the key is
/// a space, the issuer, another space and the claims. An issuer contains no spaces, so a key with
/// claims never equals a key with a subject.
pub fn caller_key(issuer: &str, subject: &str, claims: Option<&str>) -> String {
    match claims {
        None => format!("{issuer} {subject}"),
        Some(claims) => format!(" {issuer} {claims}"),
    }
}

fn insufficient_scope_problem(scope: &str) -> Problem {
    let challenge =
        format!("Bearer realm=\"quillgate\", error=\"insufficient_scope\", scope=\"{scope}\"");
    let detail = format!("this requires an access token with the scope {scope}");
    Problem::new(ProblemKind::InsufficientScope, detail).with_header("www-authenticate", challenge)
}
