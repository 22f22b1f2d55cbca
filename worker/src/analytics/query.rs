use quillgate::declaration::Pagination;
use quillgate::parameters::ParameterGroup as _;
use quillgate::{Call, Millis, Offset, Operation, PageSize, ProjectId};
use serde::{Deserialize, Serialize};

use crate::analytics::analytics_settings::AnalyticsSettings;
use crate::analytics::page::PAGE_ROWS;
use crate::http::problem::Problem;

#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
pub struct ReportQuery {
    pub operation: Operation,
    /// With normalized dates, as a cache key. With offset pagination, all pages of a list share the
    /// key, which omits `limit` and `offset`.
    pub list: String,
    /// [`PAGE_ROWS`] without offset pagination.
    pub limit: u64,
    pub offset: u64,
    pub fresh_for: Millis,
}

impl ReportQuery {
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

    /// Expects [normalized](Call::normalize) dates. `offset + limit` must not exceed 2^53 − 1.
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
}
