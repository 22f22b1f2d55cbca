//! Plans reads of the state of a job's pull request. Mintlify has no such operation.

use quillgate::parameters::ParameterGroup;
use quillgate::{Call, JobId, Operation};

use super::Planner;
use super::operation::PathValues;
use crate::app::action::Action;
use crate::auth::caller::Caller;
use crate::http::problem::Problem;

pub(super) const PULL_REQUEST: &str = "/v2/agent/{projectId}/job/{id}/pull-request";
/// The operation whose scope and parameters this route shares. Pull requests come from GitHub, so
/// the route is not an operation itself.
const RECORD: Operation = Operation::GetAgentJobRecord;

impl Planner<'_> {
    pub(super) fn plan_pull_request(
        &mut self,
        path: PathValues,
        caller: &Caller,
    ) -> Result<Action, Problem> {
        let pairs = self.read_pairs(RECORD, path, caller)?;
        let call = Call::parse(RECORD.declaration(), &pairs)?;
        Ok(Action::ReadPullRequest(JobId::read(&call)?))
    }
}
