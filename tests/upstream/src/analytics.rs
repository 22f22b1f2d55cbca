//! Authorization, date ranges and the shared limit of all reports.

use std::sync::Arc;

use axum::extract::{FromRequestParts, Query};
use axum::http::request::Parts;
use quillgate::Operation;

use crate::api_error::ApiError;
use crate::auth::Authorized;
use crate::clock::Timestamp;
use crate::cursor::CursorPage;
use crate::data::Range;
use crate::date::Day;
use crate::limits::ORGANISATION;
use crate::parameters::Arguments;
use crate::platform::Platform;

const DEFAULT_RANGE_DAYS: i64 = 90;

/// An authorized request for a report.
pub(crate) struct ReportRequest {
    pub(crate) platform: Arc<Platform>,
    pub(crate) project: String,
    path: String,
    pairs: Vec<(String, String)>,
    now: Timestamp,
}

impl FromRequestParts<Arc<Platform>> for ReportRequest {
    type Rejection = ApiError;

    async fn from_request_parts(
        parts: &mut Parts,
        platform: &Arc<Platform>,
    ) -> Result<Self, ApiError> {
        let Authorized { project } = Authorized::from_request_parts(parts, platform).await?;
        let Query(mut pairs) = Query::<Vec<(String, String)>>::try_from_uri(&parts.uri)
            .map_err(|_| ApiError::InvalidQuery(vec!["the query cannot be read".to_owned()]))?;
        platform.continue_list(&parts.uri.to_string(), &mut pairs)?;
        Ok(Self {
            platform: Arc::clone(platform),
            project,
            path: parts.uri.path().to_owned(),
            pairs,
            now: platform.clock.now(),
        })
    }
}

impl ReportRequest {
    /// Parses the query. The error lists every invalid parameter.
    pub(crate) fn query(&self, operation: Operation) -> Result<ReportQuery, ApiError> {
        ReportQuery::read(operation, &self.pairs, self.now.day())
    }

    /// The `nextCursor` of a page.
    pub(crate) fn next_cursor(&self, query: &ReportQuery, page: &CursorPage) -> Option<String> {
        self.platform.next_cursor(&self.path, query, page)
    }

    /// Uses up one of the organisation's requests per hour.
    pub(crate) fn take_limit(&self) -> Result<(), ApiError> {
        let mut limits = self.platform.limits.lock();
        limits.analytics.take(ORGANISATION, self.now)
    }
}

/// The parsed query of a report.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ReportQuery {
    pub(crate) range: Range,
    arguments: Arguments,
}

impl ReportQuery {
    /// Parses a query. The error lists every invalid parameter.
    pub(crate) fn read(
        operation: Operation,
        pairs: &[(String, String)],
        today: Day,
    ) -> Result<Self, ApiError> {
        let (arguments, mut problems) = Arguments::read(operation.declaration().parameters, pairs);
        let (from, to) = (arguments.date("dateFrom"), arguments.date("dateTo"));
        if let (Some(from), Some(to)) = (from, to)
            && from > to
        {
            problems.push("dateFrom must not be after dateTo".to_owned());
        }
        if !problems.is_empty() {
            return Err(ApiError::InvalidQuery(problems));
        }

        let to = to.unwrap_or(today.plus(1));
        let from = from.unwrap_or(to.plus(-DEFAULT_RANGE_DAYS));
        Ok(Self {
            range: Range { from, to },
            arguments,
        })
    }

    /// The maximum number of rows per page, unlimited for an operation without pages.
    pub(crate) fn limit(&self) -> usize {
        self.arguments.integer("limit").unwrap_or(usize::MAX)
    }

    /// The number of rows to skip.
    pub(crate) fn offset(&self) -> usize {
        self.arguments.integer("offset").unwrap_or(0)
    }

    pub(crate) fn cursor(&self) -> Option<&str> {
        self.arguments.text("cursor")
    }

    pub(crate) fn source(&self) -> Option<&str> {
        self.arguments.text("source")
    }

    /// The statuses, separated by commas.
    pub(crate) fn statuses(&self) -> Option<&str> {
        self.arguments.text("status")
    }

    /// The range and the filters as parameters.
    pub(crate) fn pairs(&self) -> Vec<(String, String)> {
        let Range { from, to } = self.range;
        let dates = [("dateFrom", from.to_string()), ("dateTo", to.to_string())];
        let filters = [("source", self.source()), ("status", self.statuses())];
        let filters = filters
            .into_iter()
            .filter_map(|(name, value)| Some((name, value?.to_owned())));
        let all = dates.into_iter().chain(filters);
        all.map(|(name, value)| (name.to_owned(), value)).collect()
    }

    /// A name for the requested list. It depends on project, range and filters, not on the page.
    pub(crate) fn list(&self, operation: Operation, project: &str) -> String {
        let Range { from, to } = self.range;
        let (source, statuses) = (self.source(), self.statuses());
        format!("{operation:?} {project} {from} {to} {source:?} {statuses:?}")
    }
}
