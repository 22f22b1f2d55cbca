//! The resources that a project's objects follow. A project has one object for its agent jobs and
//! one for its deployments. Both run the same code, in which `job` means either.

use quillgate::{
    DeploymentStatus, Endpoint as _, GetAgentJob, GetDeployment, JobId, JobStatus, Operation,
    ProjectId, StatusId, ValidationError,
};
use serde::{Deserialize, Serialize};

use crate::http::problem::Problem;
use crate::jobs::webhook::JobEnd;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Resource {
    #[default]
    Job,
    Deployment,
}

impl Resource {
    pub const fn of(operation: Operation) -> Self {
        match operation {
            Operation::CreateDeployment
            | Operation::GetDeployment
            | Operation::ListDeployments
            | Operation::DeleteDeploymentRecord
            | Operation::StreamDeploymentEvents
            | Operation::StreamProjectDeploymentEvents
            | Operation::CreatePreview
            | Operation::RunAutomation => Self::Deployment,
            _ => Self::Job,
        }
    }

    /// The name in the database, in events and in messages.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Job => "job",
            Self::Deployment => "deployment",
        }
    }

    /// The name of the project's object. Project ids contain no line feed.
    pub fn object_name(self, project: &str) -> String {
        match self {
            Self::Job => project.to_owned(),
            Self::Deployment => format!("deployments\n{project}"),
        }
    }

    /// The operation that reads a job, and the path of its request.
    pub fn read_request(
        self,
        project: &ProjectId,
        id: &str,
    ) -> Result<(Operation, String), ValidationError> {
        Ok(match self {
            Self::Job => {
                let read = GetAgentJob::new(JobId::new(id)?);
                (Operation::GetAgentJob, read.request(project).target)
            }
            Self::Deployment => {
                let read = GetDeployment::new(StatusId::new(id)?);
                (Operation::GetDeployment, read.request(project).target)
            }
        })
    }

    /// The 404 for a job without a record.
    pub fn not_recorded(self) -> Problem {
        match self {
            Self::Job => Problem::job_not_recorded(),
            Self::Deployment => Problem::deployment_not_found(),
        }
    }

    /// How a job with this status has ended.
    pub fn find_end(self, status: Option<&str>) -> Option<JobEnd> {
        let status = status?.to_owned();
        match self {
            Self::Job => match JobStatus::from(status) {
                JobStatus::Completed => Some(JobEnd::Completed),
                JobStatus::Failed => Some(JobEnd::Failed),
                JobStatus::Archived => Some(JobEnd::Archived),
                _ => None,
            },
            Self::Deployment => match DeploymentStatus::from(status) {
                DeploymentStatus::Success => Some(JobEnd::Success),
                DeploymentStatus::Failure => Some(JobEnd::Failure),
                _ => None,
            },
        }
    }
}
