//! A caller who has been identified, and what they may do.

use quillgate::{Millis, Scope};
use serde_json::Value;

use crate::budget::Ceiling;
use crate::http::problem::Problem;
use crate::http::problem_kind::ProblemKind;
use quillgate::Policy;

/// The issuer of the gateway's own tokens; no trusted issuer may have this name.
pub const ISSUER: &str = "quillgate";

/// The scope for operating the gateway. Only requests that name a project need a grant for it.
pub const OPERATE: &str = Scope::Operate.as_str();

/// Projects, and what may be done in each of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    /// The exact ids of the projects; there are no patterns.
    pub projects: Vec<String>,
    /// The scopes, as [`Scope::as_str`] names them.
    pub scopes: Vec<String>,
}

impl Grant {
    /// The grant of these projects with the scopes that a text lists, separated by
    /// spaces (RFC 6749, section 3.3).
    #[must_use]
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

/// Ceilings on a caller's own reservations in a budget's window, below the budget itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Quota {
    create_job: Option<u32>,
    send_message: Option<u32>,
    analytics: Option<u32>,
    read_jobs: Option<u32>,
}

impl Quota {
    /// Reads an object that maps names of policies to integers of at least 0, or one such integer
    /// for all of them. One above `u32::MAX` counts as `u32::MAX`.
    ///
    /// `None` for anything else, and for a name that is not a policy's: a misspelt ceiling must
    /// not be ignored.
    #[must_use]
    pub fn read(value: &Value) -> Option<Self> {
        let ceiling = |value: &Value| Some(u32::try_from(value.as_u64()?).unwrap_or(u32::MAX));
        let mut quota = Self::default();
        let Value::Object(members) = value else {
            let every = Some(ceiling(value)?);
            for policy in Policy::ALL {
                *quota.ceiling_mut(policy) = every;
            }
            return Some(quota);
        };
        for (name, value) in members {
            *quota.ceiling_mut(Policy::from_name(name)?) = Some(ceiling(value)?);
        }
        Some(quota)
    }

    /// Whether it has a ceiling in any budget.
    #[must_use]
    pub fn is_limited(&self) -> bool {
        *self != Self::default()
    }

    /// The ceiling in the budget of this policy; `None` when only the budget itself applies.
    #[must_use]
    pub const fn ceiling(&self, policy: Policy) -> Option<u32> {
        match policy {
            Policy::CreateJob => self.create_job,
            Policy::SendMessage => self.send_message,
            Policy::Analytics => self.analytics,
            Policy::ReadJobs => self.read_jobs,
        }
    }

    /// Keeps the policies for which `other` has no ceiling.
    #[must_use]
    pub fn without(mut self, other: Self) -> Self {
        for policy in Policy::ALL {
            if other.ceiling(policy).is_some() {
                *self.ceiling_mut(policy) = None;
            }
        }
        self
    }

    const fn ceiling_mut(&mut self, policy: Policy) -> &mut Option<u32> {
        match policy {
            Policy::CreateJob => &mut self.create_job,
            Policy::SendMessage => &mut self.send_message,
            Policy::Analytics => &mut self.analytics,
            Policy::ReadJobs => &mut self.read_jobs,
        }
    }

    /// Combines two quotas into the lower ceiling for each policy.
    #[must_use]
    pub fn lower(mut self, other: Self) -> Self {
        for policy in Policy::ALL {
            let own = self.ceiling_mut(policy);
            *own = match (*own, other.ceiling(policy)) {
                (Some(own), Some(other)) => Some(own.min(other)),
                (own, other) => own.or(other),
            };
        }
        self
    }
}

/// A quota that a caller shares with others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedQuota {
    /// The key under which the budget counts them.
    pub name: String,
    /// Their ceilings.
    pub quota: Quota,
}

/// A caller whose token is valid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// The token's `iss`: [`super::access_token::ISSUER`] for one of the gateway's own tokens.
    pub issuer: String,
    /// The token's `sub`.
    pub subject: String,
    /// The projects and scopes of the caller.
    pub grants: Vec<Grant>,
    /// The caller's own ceilings.
    pub quota: Quota,
    /// The claims that tell the caller from others, as JSON, where a rule names them; otherwise
    /// the subject does.
    pub claims: Option<String>,
    /// The ceilings that the caller shares with others.
    pub shared: Vec<SharedQuota>,
    /// From when on the token is not accepted any more.
    pub expires: Millis,
}

impl Caller {
    /// Checks that the caller may do what needs `scope` in `project`: one grant has to contain
    /// both.
    ///
    /// # Errors
    /// 403 when no grant has the project; 403 with a challenge that names the scope when some
    /// have the project, but none of them the scope (RFC 6750, section 3.1).
    pub fn authorize(&self, project: &str, scope: &str) -> Result<(), Problem> {
        let mut grants = self
            .grants
            .iter()
            .filter(|grant| grant.has_project(project));
        let Some(first) = grants.next() else {
            let detail = "the access token is not for this project";
            return Err(Problem::new(ProblemKind::ProjectNotAllowed, detail));
        };
        if first.has_scope(scope) || grants.any(|grant| grant.has_scope(scope)) {
            return Ok(());
        }
        Err(insufficient_scope_problem(scope))
    }

    /// Checks that the caller operates the gateway: some grant has the scope [`OPERATE`].
    ///
    /// # Errors
    /// 403 with a challenge that names the scope.
    pub fn require_operator(&self) -> Result<(), Problem> {
        if self.grants.iter().any(|grant| grant.has_scope(OPERATE)) {
            return Ok(());
        }
        Err(insufficient_scope_problem(OPERATE))
    }

    /// The name under which this caller's budgets and idempotency keys are kept.
    #[must_use]
    pub fn key(&self) -> String {
        caller_key(&self.issuer, &self.subject, self.claims.as_deref())
    }

    /// The ceilings in the budget of this policy that the caller shares with others.
    #[must_use]
    pub fn ceilings(&self, policy: Policy) -> Vec<Ceiling> {
        let shared = self.shared.iter();
        let ceiling = |shared: &SharedQuota| {
            Some(Ceiling {
                most: shared.quota.ceiling(policy)?,
                name: shared.name.clone(),
            })
        };
        shared.filter_map(ceiling).collect()
    }
}

/// The name under which a caller is counted: issuer and subject, separated by a space, which no
/// issuer contains; or a space, the issuer and the claims, which no subject can imitate.
#[must_use]
pub fn caller_key(issuer: &str, subject: &str, claims: Option<&str>) -> String {
    match claims {
        None => [issuer, subject].join(" "),
        Some(claims) => ["", issuer, claims].join(" "),
    }
}

fn insufficient_scope_problem(scope: &str) -> Problem {
    let challenge =
        format!("Bearer realm=\"quillgate\", error=\"insufficient_scope\", scope=\"{scope}\"");
    let detail = format!("this needs an access token with the scope {scope}");
    Problem::new(ProblemKind::InsufficientScope, detail).with_header("www-authenticate", challenge)
}
