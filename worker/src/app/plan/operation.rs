//! The plans of declared operations, and of reads of a job's pull request. The planner authorizes
//! the caller, validates the values and chooses the action.

use quillgate::parameters::ParameterGroup;
use quillgate::{Call, Cursor, JobId, JobPageSize, Operation};

use super::Planner;
use crate::analytics::archive::views::ViewsQuery;
use crate::analytics::archive::{SeriesQuery, read_day};
use crate::analytics::export::Export;
use crate::analytics::query::ReportQuery;
use crate::app::action::Action;
use crate::app::write_plan::check_announced_body;
use crate::http::content::RequestValues;
use crate::http::problem::Problem;
use crate::jobs::records::{JobFilter, JobQuery, Position, decode_cursor};

impl Planner<'_> {
    pub(super) fn plan_pull_request(&mut self, values: RequestValues) -> Result<Action, Problem> {
        let call = self.authorize(values)?.parse()?;
        Ok(Action::ReadPullRequest(JobId::read(&call)?))
    }

    pub(super) fn plan_operation(&mut self, values: RequestValues) -> Result<Action, Problem> {
        let values = self.authorize(values)?;
        Ok(match values.operation {
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
                Action::ReadSeries(SeriesQuery::read(&self.require_archive(values)?.parse()?)?)
            }
            Operation::ListArchivedViews => Action::ListArchivedViews(ViewsQuery::read(
                &self.require_archive(values)?.parse()?,
            )?),
            Operation::GetArchiveStatus => {
                self.require_archive(values)?.parse()?;
                Action::ReadArchiveStatus
            }
            Operation::EstimateBackfill => Action::EstimateBackfill(read_day(
                &self.require_archive(values)?.parse()?,
                "dateFrom",
            )?),
            Operation::BeginBackfill => {
                let values = self.require_archive(values)?;
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
            | Operation::ExportConversations => self.plan_report(values)?,
        })
    }

    /// Authorizes the caller, then adds the values of the query. Returns a 403 problem if the
    /// caller is not authorized.
    fn authorize(&mut self, values: RequestValues) -> Result<RequestValues, Problem> {
        let (declared, project) = (values.operation.declaration(), &values.project);
        self.caller
            .authorize(project.as_str(), declared.scope.as_str())?;
        self.facts.project = Some(project.clone());
        self.facts.policy = declared.policy;
        Ok(values.with_query(self.head.query.as_deref())?)
    }

    fn plan_report(&self, values: RequestValues) -> Result<Action, Problem> {
        let (operation, project) = (values.operation, &values.project.clone());
        let call = values.parse()?;
        let (settings, now) = (&self.config.analytics, self.now);
        if let Some(report) = operation.exported() {
            let export = Export::new(report, call, project, settings, now)?;
            return Ok(Action::ExportReport(Box::new(export)));
        }
        call.check_cursor()?;
        let (call, range) = call.normalize()?;
        let query = ReportQuery::new(operation, &call, project, settings.freshness(&range, now))?;
        Ok(Action::ReadReport(query))
    }

    /// Returns the values if the gateway archives their project, otherwise a 501 problem.
    fn require_archive(&self, values: RequestValues) -> Result<RequestValues, Problem> {
        let archive = &self.config.analytics.archive;
        if archive.includes(values.project.as_str()) {
            return Ok(values);
        }
        let detail = "the gateway does not archive this project; its operator must add it to ARCHIVE_PROJECTS";
        Err(Problem::archive_not_configured(detail))
    }
}

fn plan_list(call: &Call) -> Result<Action, Problem> {
    let limit = Option::<JobPageSize>::read(call)?;
    let cursor = Option::<Cursor>::read(call)?;
    let before = cursor.map(|cursor| decode_cursor(cursor.as_str()));
    Ok(Action::ListJobs(JobQuery {
        filter: JobFilter::read(call)?,
        limit: limit.unwrap_or(JobPageSize::DEFAULT).get(),
        before: before.transpose()?.map(Position::limit),
    }))
}
