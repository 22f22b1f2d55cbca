//! The list of archived page views: its requests and the bodies of its responses.

use quillgate::parameters::ParameterGroup as _;
use quillgate::{ArchivedPageSize, Call, Cursor, Day, DayGroup};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::analytics::archive::stored_path::store_path;
use crate::analytics::archive::{
    Counts, MAX_ROWS_READ, SeriesQuery, StoredDay, Subject, missing_days, read_range,
};
use crate::http::problem::Problem;
use crate::json;

/// A request for a page of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ViewsQuery {
    /// The first day of the range, in UTC.
    pub from: Day,
    /// The day after the last day of the range.
    pub to: Day,
    /// The stored path after which this page starts. `None` for the first page.
    pub after: Option<String>,
    /// The maximum number of rows, lower for long ranges because of [`MAX_ROWS_READ`].
    pub limit: u64,
}

impl ViewsQuery {
    /// Reads a call of [`quillgate::ListArchivedViews`].
    ///
    /// # Errors
    /// Returns a 400 problem for the first parameter that breaks a rule.
    pub fn read(call: &Call) -> Result<Self, Problem> {
        let (from, to) = read_range(call)?;
        let cursor = Option::<Cursor>::read(call)?;
        let limit = Option::<ArchivedPageSize>::read(call)?.unwrap_or(ArchivedPageSize::DEFAULT);
        // On each day, the query finds the rows and one more, reads them and groups them.
        let max = MAX_ROWS_READ / 3 / u64::from(to.since(from)).max(1) - 1;
        Ok(Self {
            from,
            to,
            after: cursor.map(|cursor| store_path(cursor.as_str())),
            limit: limit.get().min(max),
        })
    }

    /// Returns the query for the site's counts on each of the days.
    pub fn site(&self) -> SeriesQuery {
        SeriesQuery {
            subject: Subject::Site,
            group: DayGroup::Day,
            from: self.from,
            to: self.to,
            has_more: false,
        }
    }
}

/// The views of one page, summed over the archived days. A sum is `None` if it is unknown on any
/// day.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
pub struct ViewsRow {
    /// The page's path, as the archive stores it.
    pub path: String,
    /// Views by people.
    pub human: Option<u64>,
    /// Views by AI.
    pub ai: Option<u64>,
    /// Mintlify's total of people and AI.
    pub total: Option<u64>,
}

/// Writes the body of a page of the list. `site` is in ascending order. `pages` has one row more
/// than the limit if another page follows.
pub fn write_views(query: &ViewsQuery, site: &[StoredDay], mut pages: Vec<ViewsRow>) -> String {
    let limit = usize::try_from(query.limit).unwrap_or(usize::MAX);
    let has_more = pages.len() > limit;
    pages.truncate(limit);
    json::to_text(&json!({
        "totals": Counts::sum(site),
        "views": pages,
        "missing": missing_days(query.from, query.to, site),
        "nextCursor": pages.last().filter(|_| has_more).map(|page| &page.path),
    }))
}
