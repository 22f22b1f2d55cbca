//! Page views from the cache: which upstream pages an answer is cut from, and how long
//! they stay fresh.
//!
//! Upstream is asked in whole pages of 250 rows, since the hour's budget counts requests
//! and not rows: ten pages of 25 are cut from one of them.

use quillgate::{DateBound, Endpoint, ListPageViews, Millis, PageSize, ProjectId};
use serde::Serialize;

use crate::config::Config;
use crate::problem::Problem;

/// How long an answer about a range that has ended stays fresh: a day.
const CLOSED: Millis = Millis(DAY);
const DAY: u64 = 86_400_000;

/// A question for page views.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Views {
    /// Path and query without `limit` and `offset`: the same for every page of a list, and
    /// never for two projects or ranges, so that pages are kept under it.
    pub list: String,
    /// The rows asked for, 1 to 250.
    pub limit: u64,
    /// The rows skipped.
    pub offset: u64,
    /// How long a page fetched now stays fresh, in milliseconds.
    pub fresh_for: u64,
}

impl Views {
    /// The question that a call is.
    ///
    /// # Errors
    /// 400 past the last row that can be asked for.
    pub fn new(
        call: &ListPageViews,
        project: &ProjectId,
        config: &Config,
        now: Millis,
    ) -> Result<Self, Problem> {
        let list = ListPageViews {
            range: call.range.clone(),
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

/// Whether a range up to `to`, which does not count itself, ended before today (UTC). What
/// cannot be told, such as a time without an offset, has not.
fn has_ended(to: Option<&DateBound>, now: Millis) -> bool {
    let midnight = DateBound::from_instant(Millis(now.0 / DAY * DAY));
    let today = DateBound::new("today", &midnight.as_str()[..10]);
    let before = |bound: &DateBound| {
        to.and_then(|to| to.compare(bound))
            .is_some_and(std::cmp::Ordering::is_le)
    };
    before(&midnight) || today.is_ok_and(|today| before(&today))
}
