//! Which page views a request asks for, and how long an answer stays fresh.

use quillgate::{DateBound, Endpoint, ListPageViews, Millis, PageSize, ProjectId};
use serde::Serialize;

use crate::config::Config;
use crate::problem::Problem;

/// How long an answer for a range that has ended stays fresh: a day.
const CLOSED: Millis = Millis(DAY);
const DAY: u64 = 86_400_000;

/// A request for page views.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ViewsQuery {
    /// Path and query without `limit` and `offset`, each date in its one spelling: the same for every
    /// page of a list and never for two projects or ranges, so that pages can be kept under it.
    pub list: String,
    /// The number of rows requested, 1 to 250.
    pub limit: u64,
    /// The number of rows skipped.
    pub offset: u64,
    /// How long a page fetched now stays fresh, in milliseconds.
    pub fresh_for: u64,
}

impl ViewsQuery {
    /// Reads a call.
    ///
    /// # Errors
    /// 400 past the last row that can be requested.
    pub fn new(
        call: &ListPageViews,
        project: &ProjectId,
        config: &Config,
        now: Millis,
    ) -> Result<Self, Problem> {
        let list = ListPageViews {
            range: call.range.normalize(),
            limit: None,
            offset: None,
        };
        let limit = call.limit.unwrap_or(PageSize::DEFAULT);
        let offset = call.offset.unwrap_or_default();
        offset.after(limit)?;
        let fresh_for = if has_ended(call.range.to(), now) {
            CLOSED
        } else {
            config.analytics_fresh
        };
        Ok(Self {
            list: list.request(project).target,
            limit: limit.get(),
            offset: offset.get(),
            fresh_for: fresh_for.0,
        })
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
