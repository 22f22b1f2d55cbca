//! The request for a report. Its date range decides how long the pages stay fresh.

use quillgate::declaration::Pagination;
use quillgate::{Call, DateBound, Millis, Offset, Operation, ProjectId, Scope};
use serde::{Deserialize, Serialize};

use crate::analytics::page::PAGE_ROWS;
use crate::analytics::settings::AnalyticsSettings;
use crate::http::problem::Problem;

/// How long a page stays fresh if its date range ended before yesterday (UTC): a day.
const CLOSED: Millis = Millis(DAY);
const DAY: u64 = 86_400_000;

/// A request for an analytics report.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
pub struct ReportQuery {
    /// The operation that declares the report.
    pub operation: Operation,
    /// The path and query with normalized dates, used as a cache key. With offset pagination it
    /// omits `limit` and `offset`, so that all pages of a list share it. With cursor pagination,
    /// each page has its own.
    pub list: String,
    /// The number of requested rows. Without offset pagination, it is always
    /// [`PAGE_ROWS`](crate::analytics::page::PAGE_ROWS).
    pub limit: u64,
    /// The number of skipped rows.
    pub offset: u64,
    /// How long a fetched page stays fresh, in milliseconds.
    pub fresh_for: u64,
}

impl ReportQuery {
    /// Reads a call with [normalized](Call::normalize) dates.
    ///
    /// # Errors
    /// 400 if the sum of `offset` and `limit` exceeds 2^53 − 1.
    pub fn new(
        operation: Operation,
        mut call: Call,
        project: &ProjectId,
        settings: &AnalyticsSettings,
        now: Millis,
    ) -> Result<Self, Problem> {
        let (mut limit, mut offset) = (PAGE_ROWS, 0);
        if let Pagination::Offset { .. } = call.declaration().pagination {
            let requested = call.integer("limit").or_else(|| call.default_limit());
            limit = requested.unwrap_or(PAGE_ROWS);
            offset = call.integer("offset").unwrap_or(0);
            Offset::new(offset)?.after(limit)?;
            call = call.without_window();
        }
        let is_closed = call.text("dateTo").is_some_and(|to| has_ended(to, now));
        Ok(Self {
            operation,
            list: call.request(project).target,
            limit,
            offset,
            fresh_for: if is_closed {
                CLOSED
            } else {
                settings.fresh_for
            }
            .0,
        })
    }

    /// Moves to the page of `call`, a call of the same list with normalized dates.
    pub fn move_to(&mut self, call: &Call, project: &ProjectId) {
        match self.operation.declaration().pagination {
            Pagination::Offset { .. } => self.offset = call.integer("offset").unwrap_or(0),
            Pagination::Cursor { .. } | Pagination::None => {
                self.list = call.request(project).target;
            }
        }
    }

    /// Returns the request target of a page. With offset pagination, it adds `limit` and `offset`.
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

    /// Whether pages may be stored on disk. Conversations contain personal data, so they stay in
    /// memory.
    pub fn may_be_stored(&self) -> bool {
        self.operation.declaration().scope != Scope::ReadConversations
    }
}

/// Whether a range ended before yesterday, in UTC. `to` is the normalized, exclusive end of the
/// range. Returns `false` for a time without a UTC offset, because its instant is unknown. Also
/// returns `false` if the range ended yesterday, because the upstream may use another time zone or
/// count some views late.
fn has_ended(to: &str, now: Millis) -> bool {
    let yesterday = Millis(now.0 / DAY * DAY).since(Millis(DAY));
    let midnight = DateBound::from_instant(yesterday);
    // Normalized bounds of the same length have the same format and sort by time.
    let is_after = |bound: &str| to.len() == bound.len() && to < bound;
    is_after(midnight.as_str()) || is_after(&midnight.as_str()[..10])
}
