//! The actions that a plan can choose for a request.

use quillgate::{Day, JobId, RateLimitPolicy};

use crate::analytics::archive::SeriesQuery;
use crate::analytics::archive::views::ViewsQuery;
use crate::analytics::export::Export;
use crate::analytics::query::ReportQuery;
use crate::auth::session::cookie::SessionId;
use crate::http::content::RequestValues;
use crate::jobs::records::JobQuery;

/// The action that answers a request.
#[derive(Debug)]
pub enum Action {
    /// Report the health of the organization's object and, if the plan has a project, of that
    /// project's object.
    AnswerHealth,
    /// Unblock a policy that the upstream has blocked.
    Reopen(RateLimitPolicy),
    /// Return the `OpenAPI` 3.1 description of the gateway.
    Describe,
    /// Describe the caller's session.
    ReadSession,
    /// Open a session, and end the browser's earlier session, if any.
    OpenSession(Option<SessionId>),
    /// End the browser's session, if any.
    EndSession(Option<SessionId>),
    /// Redirect the browser to an issuer's sign-in page. The sign-in ends the browser's earlier
    /// session, if any.
    BeginSignIn(Option<SessionId>),
    /// Open a session after a sign-in at an issuer.
    ConcludeSignIn,
    /// Read the body, then call [`plan_write`](crate::app::write_plan::plan_write) with these
    /// values and send the write.
    Write(RequestValues),
    /// Read a job from the upstream and forward the response.
    ReadJob(JobId),
    /// Return a report, from the cache if possible.
    ReadReport(ReportQuery),
    /// Stream a whole report, page by page.
    ExportReport(Box<Export>),
    /// List the recorded jobs.
    ListJobs(JobQuery),
    /// Stream the changes of one job, or of all jobs in the project.
    StreamEvents(Option<JobId>),
    /// Return the record of a job.
    ReadRecord(JobId),
    /// Return the state of a job's pull request.
    ReadPullRequest(JobId),
    /// Delete the record of a job.
    DeleteRecord(JobId),
    /// Return a series from the archive.
    ReadSeries(SeriesQuery),
    /// List the views of each page from the archive.
    ListArchivedViews(ViewsQuery),
    /// Return the status of the archive.
    ReadArchiveStatus,
    /// Estimate a backfill that starts on this day.
    EstimateBackfill(Day),
    /// Read the body and begin the backfill that the body and these values request.
    BeginBackfill(RequestValues),
}
