//! The query for a report.

use quillgate::declaration::Pagination;
use quillgate::parameters::ParameterGroup as _;
use quillgate::{Call, Millis, Offset, Operation, PageSize, ProjectId, Scope};
use serde::{Deserialize, Serialize};

use crate::analytics::analytics_settings::AnalyticsSettings;
use crate::analytics::page::PAGE_ROWS;
use crate::http::problem::Problem;

/// A request for an analytics report.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
pub struct ReportQuery {
    /// The operation that declares the report.
    pub operation: Operation,
    /// The path and query with normalized dates, used as a cache key. With offset pagination, all
    /// pages of a list share the key, which omits `limit` and `offset`.
    pub list: String,
    /// The number of requested rows. [`PAGE_ROWS`] without offset pagination.
    pub limit: u64,
    /// The number of rows to skip.
    pub offset: u64,
    /// The freshness lifetime of a fetched page.
    pub fresh_for: Millis,
}

impl ReportQuery {
    /// Reads a call of a report.
    ///
    /// # Errors
    /// Returns a 400 problem for the first parameter that breaks a rule.
    pub fn read(
        operation: Operation,
        call: Call,
        project: &ProjectId,
        settings: &AnalyticsSettings,
        now: Millis,
    ) -> Result<Self, Problem> {
        call.check_cursor()?;
        let (call, range) = call.normalize()?;
        Self::new(operation, &call, project, settings.freshness(&range, now))
    }

    /// Reads a call with [normalized](Call::normalize) dates.
    ///
    /// # Errors
    /// Returns a 400 problem if `offset` or `limit` is invalid, or if their sum exceeds 2^53 − 1.
    pub fn new(
        operation: Operation,
        call: &Call,
        project: &ProjectId,
        fresh_for: Millis,
    ) -> Result<Self, Problem> {
        let mut query = Self {
            operation,
            list: call.request(project).target,
            limit: PAGE_ROWS,
            offset: 0,
            fresh_for,
        };
        if let Pagination::Offset { .. } = call.declaration().pagination {
            let limit = Option::<PageSize>::read(call)?.unwrap_or(PageSize::DEFAULT);
            let offset = Option::<Offset>::read(call)?.unwrap_or_default();
            offset.after(limit.get())?;
            query.list = call.clone().without_window().request(project).target;
            (query.limit, query.offset) = (limit.get(), offset.get());
        }
        Ok(query)
    }

    /// Moves to the page that `call` requests.
    pub fn follow(&mut self, call: &Call, project: &ProjectId) {
        match call.declaration().pagination {
            Pagination::Offset { .. } => {
                self.offset = call.integer("offset").unwrap_or(self.offset);
            }
            Pagination::Cursor { .. } | Pagination::None => {
                self.list = call.request(project).target;
            }
        }
    }

    /// Returns the request target of a page.
    pub fn page_target(&self, number: u64) -> String {
        match self.operation.declaration().pagination {
            Pagination::Offset { .. } => {
                let join = if self.list.contains('?') { '&' } else { '?' };
                let offset = number.saturating_mul(PAGE_ROWS);
                format!("{}{join}limit={PAGE_ROWS}&offset={offset}", self.list)
            }
            Pagination::Cursor { .. } | Pagination::None => self.list.clone(),
        }
    }

    /// Whether pages may be stored on disk. Conversations contain personal data.
    pub fn may_be_stored(&self) -> bool {
        self.operation.declaration().scope != Scope::ReadConversations
    }
}
