//! The plans of operators' requests. Operators read the health report, and unblock policies that
//! Mintlify has blocked.

use quillgate::{ProjectId, RateLimitPolicy, Rule, ValidationError};

use super::Planner;
use crate::app::action::Action;
use crate::auth::caller::OPERATE;
use crate::http::problem::Problem;
use crate::http::url::{decode_query, find_parameter};

/// Returns whether a request to `/healthz` is for the health report, which only operators may read.
pub(super) fn is_deep(query: Option<&str>) -> bool {
    ["deep", "project"]
        .iter()
        .any(|name| find_parameter(query, name).is_some())
}

impl Planner<'_> {
    pub(super) fn plan_health(&mut self) -> Result<Action, Problem> {
        self.caller.require_operator()?;
        self.facts.project = self.read_operated_project()?;
        Ok(Action::AnswerHealth)
    }

    pub(super) fn plan_reopening(&mut self, policy: RateLimitPolicy) -> Result<Action, Problem> {
        self.caller.require_operator()?;
        if policy != RateLimitPolicy::Analytics {
            let project = self.read_operated_project()?;
            let missing = || ValidationError::new("project", Rule::NotEmpty, "empty text");
            self.facts.project = Some(project.ok_or_else(missing)?);
        }
        Ok(Action::Reopen(policy))
    }

    /// Reads the parameter `project`. Returns `None` if the parameter is absent. The caller must be
    /// an operator of that project, because reading the health of a project creates a Durable
    /// Object if the project has none. Otherwise, returns a 403 problem.
    fn read_operated_project(&self) -> Result<Option<ProjectId>, Problem> {
        let Some(encoded) = find_parameter(self.head.query.as_deref(), "project") else {
            return Ok(None);
        };
        let project = decode_query(encoded).unwrap_or_default();
        let project = ProjectId::new(project)
            .map_err(|error| ValidationError::new("project", error.rule, error.found.clone()))?;
        self.caller.authorize(project.as_str(), OPERATE)?;
        Ok(Some(project))
    }
}
