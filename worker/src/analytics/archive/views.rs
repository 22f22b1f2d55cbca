use quillgate::encode::percent_encode;
use quillgate::parameters::ParameterGroup as _;
use quillgate::{ArchivedPageSize, Call, Cursor, Day, DayGroup};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::analytics::archive::{
    Counts, MAX_ROWS_READ, SeriesQuery, StoredDay, Subject, missing_days, read_count, read_range,
    refuse_cursor, store_path,
};
use crate::http::problem::Problem;
use crate::http::url::decode_percent;
use crate::json;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ViewsQuery {
    pub from: Day,
    /// Exclusive.
    pub to: Day,
    /// This page starts after this stored path.
    pub after: Option<String>,
    /// Lower for long ranges because of `MAX_ROWS_READ`.
    pub limit: u64,
}

impl ViewsQuery {
    pub fn read(call: &Call) -> Result<Self, Problem> {
        let (from, to) = read_range(call)?;
        let cursor = Option::<Cursor>::read(call)?;
        let limit = Option::<ArchivedPageSize>::read(call)?.unwrap_or(ArchivedPageSize::DEFAULT);
        // On each day, the query finds the rows and one more, reads them and groups them.
        let max = MAX_ROWS_READ / 3 / u64::from(to.since(from)).max(1) - 1;
        Ok(Self {
            from,
            to,
            after: cursor
                .map(|cursor| read_cursor(cursor.as_str()))
                .transpose()?,
            limit: limit.get().min(max),
        })
    }

    pub fn site(&self) -> SeriesQuery {
        SeriesQuery {
            subject: Subject::AllPages,
            group: DayGroup::Day,
            from: self.from,
            to: self.to,
            has_more: false,
        }
    }
}

/// The stored path, encoded so that no client takes a part of it for a cursor. The tilde makes it
/// different from any path, and never empty.
fn write_cursor(path: &str) -> String {
    format!("~{}", percent_encode(path))
}

fn read_cursor(cursor: &str) -> Result<String, Problem> {
    let path = cursor.strip_prefix('~').and_then(decode_percent);
    path.map(|path| store_path(&path)).ok_or_else(refuse_cursor)
}

/// Summed over the archived days. A sum is `None` if it is unknown on any day.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
pub struct ViewsRow {
    pub path: String,
    #[serde(deserialize_with = "read_count")]
    pub human: Option<u64>,
    #[serde(deserialize_with = "read_count")]
    pub ai: Option<u64>,
    #[serde(deserialize_with = "read_count")]
    pub total: Option<u64>,
}

/// `site` is in ascending order. `pages` has one row more than the limit if another page follows.
pub fn write_views(query: &ViewsQuery, site: &[StoredDay], mut pages: Vec<ViewsRow>) -> String {
    let limit = usize::try_from(query.limit).unwrap_or(usize::MAX);
    let has_more = pages.len() > limit;
    pages.truncate(limit);
    json::to_text(&json!({
        "totals": Counts::sum(site),
        "views": pages,
        "missing": missing_days(query.from, query.to, site),
        "nextCursor": pages.last().filter(|_| has_more).map(|page| write_cursor(&page.path)),
    }))
}
