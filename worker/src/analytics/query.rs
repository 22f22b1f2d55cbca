//! Which report a request asks for, and how long an answer stays fresh.

use quillgate::declaration::Pagination;
use quillgate::{Call, DateBound, Millis, Offset, Operation, ProjectId, Scope};
use serde::{Deserialize, Serialize};

use crate::analytics::page::{PAGE_ROWS, page_target};
use crate::analytics::settings::AnalyticsSettings;
use crate::http::problem::Problem;

/// How long an answer for a range that has ended stays fresh: a day.
const CLOSED: Millis = Millis(DAY);
const DAY: u64 = 86_400_000;

/// A request for a report of analytics.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
pub struct ReportQuery {
    /// The operation.
    pub operation: Operation,
    /// Path and query, each date in its one spelling: the same for every page of a list by offset,
    /// of which `limit` and `offset` are left out, and never for two projects or ranges, so that
    /// pages can be kept under it.
    pub list: String,
    /// The number of rows requested. What is not a list by offset is one page, asked for whole.
    pub limit: u64,
    /// The number of rows skipped.
    pub offset: u64,
    /// How long a page fetched now stays fresh, in milliseconds.
    pub fresh_for: u64,
}

impl ReportQuery {
    /// Reads a call.
    ///
    /// # Errors
    /// 400 past the last row that can be requested.
    pub fn new(
        operation: Operation,
        call: &Call,
        project: &ProjectId,
        settings: &AnalyticsSettings,
        now: Millis,
    ) -> Result<Self, Problem> {
        let declared = operation.declaration();
        let mut list = call.clone().normalize();
        let (mut limit, mut offset) = (PAGE_ROWS, 0);
        if let Pagination::Offset { .. } = declared.pagination {
            let requested = call.integer("limit").or_else(|| call.default_limit());
            limit = requested.unwrap_or(PAGE_ROWS);
            offset = call.integer("offset").unwrap_or(0);
            Offset::new(offset)?.after(limit)?;
            list = list.without_window();
        }
        let fresh_for = if has_ended(call.range()?.to(), now) {
            CLOSED
        } else {
            settings.fresh_for
        };
        Ok(Self {
            operation,
            list: list.request(project).target,
            limit,
            offset,
            fresh_for: fresh_for.0,
        })
    }

    /// The target of a page: that of the list, with `limit` and `offset` when it is one by offset.
    #[must_use]
    pub fn page_target(&self, number: u64) -> String {
        match self.operation.declaration().pagination {
            Pagination::Offset { .. } => page_target(&self.list, number),
            Pagination::Cursor { .. } | Pagination::Whole => self.list.clone(),
        }
    }

    /// Whether the answer may be kept on disk: personal data is kept in memory only.
    #[must_use]
    pub fn may_be_stored(&self) -> bool {
        self.operation.declaration().scope != Scope::ReadConversations
    }
}

/// Whether a range up to, but not including, `to` ended before yesterday (UTC). It has not when that
/// is unknown, as for a time without an offset. A day lies in between, since the upstream may count
/// late and in a time zone of its own.
fn has_ended(to: Option<&DateBound>, now: Millis) -> bool {
    let yesterday = Millis(now.0 / DAY * DAY).since(Millis(DAY));
    let midnight = DateBound::from_instant(yesterday);
    let day = DateBound::new("yesterday", &midnight.as_str()[..10]);
    let before = |bound: &DateBound| {
        to.and_then(|to| to.compare(bound))
            .is_some_and(std::cmp::Ordering::is_lt)
    };
    before(&midnight) || day.is_ok_and(|day| before(&day))
}
