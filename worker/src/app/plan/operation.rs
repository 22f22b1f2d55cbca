//! Plans calls to declared operations, and reads of the state of a job's pull request.

use quillgate::parameters::ParameterGroup;
use quillgate::{Call, Cursor, JobId, JobPageSize, Operation, ProjectId};

use super::Planner;
use crate::analytics::archive::views::ViewsQuery;
use crate::analytics::archive::{SeriesQuery, read_day};
use crate::analytics::export::Export;
use crate::analytics::query::ReportQuery;
use crate::app::action::Action;
use crate::app::write_plan::check_announced_body;
use crate::http::content::RequestValues;
use crate::http::problem::Problem;
use crate::http::route::{PathSegments, decode_segment};
use crate::jobs::records::{JobFilter, JobQuery};

/// The decoded path parameters.
#[derive(Debug)]
pub struct PathValues {
    project: ProjectId,
    /// The other parameters, by name.
    others: Vec<(String, String)>,
}

impl PathValues {
    pub(super) fn decode(segments: PathSegments<'_>) -> Result<Self, Problem> {
        let (mut project, mut others) = (None, Vec::new());
        for (name, segment) in segments {
            let value = decode_segment(name, segment)?;
            if name == "projectId" {
                project = Some(value);
            } else {
                others.push((name.to_owned(), value));
            }
        }
        let project = project.ok_or_else(Problem::not_found)?;
        Ok(Self {
            project: ProjectId::new(project)?,
            others,
        })
    }
}

impl Planner<'_> {
    pub(super) fn plan_pull_request(&mut self, path: PathValues) -> Result<Action, Problem> {
        let values = self.read_values(Operation::GetAgentJobRecord, path)?;
        Ok(Action::ReadPullRequest(JobId::read(&values.parse()?)?))
    }

    pub(super) fn plan_operation(
        &mut self,
        operation: Operation,
        path: PathValues,
    ) -> Result<Action, Problem> {
        let project = path.project.clone();
        let values = self.read_values(operation, path)?;
        let archived = |values: RequestValues| {
            self.check_archive(&project)?;
            Ok::<_, Problem>(values)
        };
        Ok(match operation {
            Operation::CreateAgentJob | Operation::SendMessage => {
                check_announced_body(self.head)?;
                Action::Write(values)
            }
            Operation::GetAgentJob => Action::ReadJob(JobId::read(&values.parse()?)?),
            Operation::StreamAgentJobEvents => {
                Action::StreamEvents(Some(JobId::read(&values.parse()?)?))
            }
            Operation::StreamProjectJobEvents => {
                values.parse()?;
                Action::StreamEvents(None)
            }
            Operation::GetAgentJobRecord => Action::ReadRecord(JobId::read(&values.parse()?)?),
            Operation::DeleteAgentJobRecord => Action::DeleteRecord(JobId::read(&values.parse()?)?),
            Operation::ListAgentJobs => plan_list(&values.parse()?)?,
            Operation::ListDailyViews => {
                Action::ReadSeries(SeriesQuery::read(&archived(values)?.parse()?)?)
            }
            Operation::ListArchivedViews => {
                Action::ListArchivedViews(ViewsQuery::read(&archived(values)?.parse()?)?)
            }
            Operation::GetArchiveStatus => {
                archived(values)?.parse()?;
                Action::ReadArchiveStatus
            }
            Operation::EstimateBackfill => {
                Action::EstimateBackfill(read_day(&archived(values)?.parse()?, "dateFrom")?)
            }
            Operation::BeginBackfill => {
                let values = archived(values)?;
                check_announced_body(self.head)?;
                Action::BeginBackfill(values)
            }
            Operation::ListPageViews
            | Operation::ListVisitors
            | Operation::GetCallerStats
            | Operation::GetConversation
            | Operation::ListConversations
            | Operation::ListSearches
            | Operation::GetFeedbackByPage
            | Operation::ListFeedback
            | Operation::ExportPageViews
            | Operation::ExportVisitors
            | Operation::ExportFeedback
            | Operation::ExportSearches
            | Operation::ExportConversations => {
                self.plan_report(operation, values.parse()?, &project)?
            }
        })
    }

    /// Authorizes the caller, then reads the values of the path and the query.
    fn read_values(
        &mut self,
        operation: Operation,
        path: PathValues,
    ) -> Result<RequestValues, Problem> {
        let declared = operation.declaration();
        let PathValues { project, others } = path;
        self.caller
            .authorize(project.as_str(), declared.scope.as_str())?;
        self.facts.project = Some(project);
        self.facts.policy = declared.policy;
        let query = self.head.query.as_deref();
        Ok(RequestValues::read(declared, others, query)?)
    }

    fn plan_report(
        &self,
        operation: Operation,
        call: Call,
        project: &ProjectId,
    ) -> Result<Action, Problem> {
        let (settings, now) = (&self.config.analytics, self.now);
        if let Some(report) = operation.exported() {
            let (query, export) = Export::new(report, call, project, settings, now)?;
            return Ok(Action::ExportReport(query, Box::new(export)));
        }
        let query = ReportQuery::new(operation, call.normalize(), project, settings, now)?;
        Ok(Action::ReadReport(query))
    }

    fn check_archive(&self, project: &ProjectId) -> Result<(), Problem> {
        if self.config.analytics.archive.includes(project.as_str()) {
            return Ok(());
        }
        let detail = "the gateway does not archive this project; its operator must add it to ARCHIVE_PROJECTS";
        Err(Problem::archive_not_configured(detail))
    }
}

fn plan_list(call: &Call) -> Result<Action, Problem> {
    let limit = Option::<JobPageSize>::read(call)?;
    let cursor = Option::<Cursor>::read(call)?;
    let query = JobQuery {
        filter: JobFilter::read(call)?,
        limit: limit.unwrap_or(JobPageSize::DEFAULT).get(),
        cursor: cursor.map(|cursor| cursor.as_str().to_owned()),
    };
    query.before()?;
    Ok(Action::ListJobs(query))
}
