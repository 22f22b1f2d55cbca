//! The D1 database of the daily archive. The last page of a day comes in a batch that replaces the
//! stored day with the staged pages. A batch is a transaction, so readers never see part of a day.

use js_sys::{Array, JsString, Number, Object, Reflect};
use quillgate::{Day, Millis};
use serde::Deserialize;
use serde_json::{Value, json};
use wasm_bindgen::{JsCast, JsValue};
use worker::Env;

use crate::analytics::analytics_settings::ArchiveSettings;
use crate::analytics::archive::schedule::{DayRecord, Part, ProjectRecord, read_day};
use crate::analytics::archive::views::{ViewsQuery, ViewsRow};
use crate::analytics::archive::{
    Counts, MAX_COUNTS, SeriesQuery, StoredDay, Subject, first_retained, read_count, store_path,
};
use crate::hash::fingerprint;
use crate::runtime::{D1, HostError, HostResult, stringify_json};
use crate::upstream::client::FetchedPage;

const BINDING: &str = "ARCHIVE";
/// Per run.
const MAX_EXPIRED: u32 = 10;
/// Per run. D1 allows 1,000 queries per invocation.
pub const MAX_CONVERTED: usize = 200;

const SITE: &str = include_str!("sql/site.sql");
const PAGE: &str = concat!(include_str!("sql/stored.sql"), include_str!("sql/page.sql"));
const PREFIX: &str = concat!(
    include_str!("sql/stored.sql"),
    include_str!("sql/page.sql"),
    include_str!("sql/below.sql")
);
const PAGES: &str = concat!(
    include_str!("sql/stored.sql"),
    include_str!("sql/pages.sql")
);
const DROP: &str = concat!(include_str!("sql/fresh.sql"), include_str!("sql/drop.sql"));
const KEEP: &str = concat!(
    "INSERT INTO page_views (project, day, path, human, ai, total) ",
    include_str!("sql/fresh.sql"),
    include_str!("sql/keep.sql")
);
const CLEAR: &str = "DELETE FROM staging WHERE project = ?1 AND day = ?2";
const EXPIRE: [&str; 3] = [
    "DELETE FROM page_views WHERE project = ?1 AND day = ?2",
    CLEAR,
    "DELETE FROM day WHERE project = ?1 AND day = ?2",
];
const LEDGER: &str = include_str!("sql/ledger.sql");
const CONVERT: &str = include_str!("sql/convert.sql");

#[derive(Deserialize)]
struct ProjectRow {
    id: u32,
    #[serde(deserialize_with = "read_day")]
    first_day: Day,
}

#[derive(Deserialize)]
struct SeriesRow {
    #[serde(deserialize_with = "read_day")]
    day: Day,
    fetched: Millis,
    #[serde(deserialize_with = "read_count")]
    human: Option<u64>,
    #[serde(deserialize_with = "read_count")]
    ai: Option<u64>,
    #[serde(deserialize_with = "read_count")]
    total: Option<u64>,
    #[serde(deserialize_with = "read_count")]
    visitors_human: Option<u64>,
    #[serde(deserialize_with = "read_count")]
    visitors_ai: Option<u64>,
    #[serde(deserialize_with = "read_count")]
    visitors_total: Option<u64>,
    pages: u64,
}

pub struct StoredProject {
    /// `None` before the first run or backfill.
    pub id: Option<u32>,
    pub record: ProjectRecord,
    pub bytes: Option<u64>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
pub struct DayKey {
    pub project: u32,
    #[serde(deserialize_with = "read_day")]
    pub day: Day,
}

#[derive(Clone)]
pub struct ArchiveStore(D1);

impl ArchiveStore {
    pub fn open(env: &Env) -> HostResult<Option<Self>> {
        Ok(D1::open(env, BINDING)?.map(Self))
    }

    pub async fn load(
        &self,
        project: &str,
        settings: &ArchiveSettings,
        now: Millis,
    ) -> HostResult<StoredProject> {
        let query = "SELECT id, first_day FROM project WHERE name = ?1";
        let rows: Vec<ProjectRow> = self.0.rows(query, &json!([project])).await?;
        let mut stored = StoredProject {
            id: None,
            record: ProjectRecord::new(now),
            bytes: None,
        };
        if let Some(row) = rows.first() {
            stored.id = Some(row.id);
            let first = row.first_day.max(first_retained(settings, now));
            let query = "SELECT day, fetched, pages,
                iif(staged_visitors IS NULL, NULL, staged_pages) AS next, staged_totals AS totals,
                attempts, retry_at, problem
                FROM day WHERE project = ?1 AND day >= ?2 ORDER BY day";
            let values = json!([row.id, first.number()]);
            let (days, bytes) = self.0.rows_and_size(query, &values).await?;
            stored.record = ProjectRecord { first, days };
            stored.bytes = bytes;
        }
        Ok(stored)
    }

    /// If a prefix has more than [`MAX_COUNTS`] rows, also returns the first day that was not read
    /// completely.
    pub async fn series(
        &self,
        project: &str,
        query: &SeriesQuery,
    ) -> HostResult<(Vec<StoredDay>, Option<Day>)> {
        let (from, to) = (query.from.number(), query.to.number());
        let (text, values) = match &query.subject {
            Subject::Site => (SITE, json!([project, from, to, 0])),
            Subject::AllPages => (SITE, json!([project, from, to, 1])),
            Subject::Page(path) => (PAGE, json!([project, from, to, path])),
            Subject::Prefix(path) => {
                let (path, first, end) = split_prefix(path);
                let values = json!([project, from, to, path, first, end, MAX_COUNTS + 1]);
                (PREFIX, values)
            }
        };
        let rows: Vec<SeriesRow> = self.0.rows(text, &values).await?;
        let read: u64 = rows.iter().map(|row| row.pages).sum();
        let last = rows.iter().rfind(|row| row.pages > 0);
        let unread = last.filter(|_| read > MAX_COUNTS).map(|row| row.day);
        let is_site = matches!(query.subject, Subject::Site | Subject::AllPages);
        let to_stored = |row: SeriesRow| StoredDay {
            day: row.day,
            fetched: row.fetched,
            views: Counts {
                human: row.human,
                ai: row.ai,
                total: row.total,
            },
            visitors: is_site.then_some(Counts {
                human: row.visitors_human,
                ai: row.visitors_ai,
                total: row.visitors_total,
            }),
        };
        Ok((rows.into_iter().map(to_stored).collect(), unread))
    }

    /// Returns one row more than the limit if another page follows.
    pub async fn pages(&self, project: &str, query: &ViewsQuery) -> HostResult<Vec<ViewsRow>> {
        // No stored path has control characters, so none lies between a path and this one.
        let first = query.after.as_ref().map(|after| format!("{after}\u{1}"));
        let values = json!([
            project,
            query.from.number(),
            query.to.number(),
            first.unwrap_or_default(),
            query.limit + 1
        ]);
        self.0.rows(PAGES, &values).await
    }

    /// Unless the stored one is earlier. Returns the project's id.
    pub async fn set_first_day(&self, project: &str, first: Day) -> HostResult<u32> {
        let query = "INSERT INTO project (name, first_day) VALUES (?1, ?2)
            ON CONFLICT (name) DO UPDATE SET first_day = min(first_day, excluded.first_day)
            RETURNING id, first_day";
        let values = json!([project, first.number()]);
        let rows: Vec<ProjectRow> = self.0.rows(query, &values).await?;
        let no_id = || HostError::new("a project without an id");
        rows.first().map(|row| row.id).ok_or_else(no_id)
    }

    pub async fn stage_visitors(&self, key: DayKey, totals: &JsString) -> HostResult<()> {
        let query = "INSERT INTO day (project, day, staged_visitors) VALUES (?1, ?2, ?3)
            ON CONFLICT (project, day) DO UPDATE SET
            staged_visitors = excluded.staged_visitors, retry_at = 0";
        let values = json!([key.project, key.day.number(), String::from(totals)]);
        self.0.batch(&[(query, values)]).await
    }

    /// Stages a page. The last page replaces the stored day. `parsed` is the parsed `reply`; its
    /// paths become their stored forms.
    pub async fn store_views(
        &self,
        key: DayKey,
        page: u64,
        reply: &FetchedPage,
        parsed: &JsValue,
        totals: &JsString,
        now: Millis,
    ) -> HostResult<()> {
        let insert = "INSERT OR REPLACE INTO staging (project, day, page, text)
            VALUES (?1, ?2, ?3, ?4)";
        let update = "UPDATE day SET staged_pages = ?3, staged_totals = ?4, retry_at = 0,
            attempts = iif(retry_at = 0, attempts, 0), problem = iif(retry_at = 0, problem, NULL)
            WHERE project = ?1 AND day = ?2";
        let text = if normalize_rows(parsed)? {
            stringify_json(parsed)?
        } else {
            reply.text.clone()
        };
        let (project, day) = (key.project, key.day.number());
        let staged = json!([project, day, page, String::from(text)]);
        let totals = json!([project, day, page + 1, String::from(totals)]);
        let mut statements = vec![(insert, staged), (update, totals)];
        if !reply.has_more {
            let times = json!([project, day, now, page + 1]);
            statements.extend([
                (DROP, key.values()),
                (KEEP, key.values()),
                (LEDGER, times),
                (CLEAR, key.values()),
            ]);
        }
        self.0.batch(&statements).await
    }

    /// If the fetch restarts, also deletes the day's staged parts.
    pub async fn record_failure(
        &self,
        key: DayKey,
        record: &DayRecord,
        problem: &str,
    ) -> HostResult<()> {
        let query = "INSERT INTO day (project, day, attempts, retry_at, problem)
            VALUES (?1, ?2, ?3, ?4, ?5)
            ON CONFLICT (project, day) DO UPDATE SET attempts = excluded.attempts,
            retry_at = excluded.retry_at, problem = excluded.problem";
        let (project, day) = (key.project, key.day.number());
        let values = json!([project, day, record.attempts, record.retry_at, problem]);
        let mut statements = vec![(query, values)];
        if record.next == Part::Visitors {
            let restart = "UPDATE day
                SET staged_visitors = NULL, staged_totals = NULL, staged_pages = 0
                WHERE project = ?1 AND day = ?2 AND staged_visitors IS NOT NULL";
            statements.extend([(restart, key.values()), (CLEAR, key.values())]);
        }
        self.0.batch(&statements).await
    }

    pub async fn days_to_convert(&self) -> HostResult<Vec<DayKey>> {
        let query = "SELECT project, day FROM day
            WHERE fetched IS NOT NULL AND NOT has_page_views ORDER BY day DESC LIMIT ?1";
        self.0.rows(query, &json!([MAX_CONVERTED])).await
    }

    pub async fn convert(&self, key: DayKey) -> HostResult<()> {
        let mark = "UPDATE day SET has_page_views = 1 WHERE project = ?1 AND day = ?2";
        let statements = [(CONVERT, key.values()), (mark, key.values())];
        self.0.batch(&statements).await
    }

    pub async fn drop_converted(&self) -> HostResult<()> {
        let tables = ["DROP TABLE IF EXISTS views", "DROP TABLE IF EXISTS node"];
        self.0.batch(&tables.map(|drop| (drop, json!([])))).await
    }

    /// Also deletes days of projects that are no longer archived.
    pub async fn prune(&self, first: Day) -> HostResult<()> {
        let query = "SELECT day.project, day.day FROM project
            CROSS JOIN day ON day.project = project.id AND day.day < ?1
            ORDER BY project.id, day.day LIMIT ?2";
        let values = json!([first.number(), MAX_EXPIRED]);
        let expired: Vec<DayKey> = self.0.rows(query, &values).await?;
        if expired.is_empty() {
            return Ok(());
        }
        let delete = |key: DayKey| EXPIRE.map(|delete| (delete, key.values()));
        let statements: Vec<_> = expired.into_iter().flat_map(delete).collect();
        self.0.batch(&statements).await
    }
}

/// `0` is the character after `/`. Every page is below `/`.
fn split_prefix(path: &str) -> (Option<&str>, String, Option<String>) {
    if path == "/" {
        return (None, String::new(), None);
    }
    (Some(path), format!("{path}/"), Some(format!("{path}0")))
}

impl DayKey {
    fn values(self) -> Value {
        json!([self.project, self.day.number()])
    }
}

/// Replaces each count that [`read_count`] would ignore by `null`, because a sum with it would be
/// wrong. Returns whether any count changed.
pub fn remove_odd_counts(counts: &JsValue) -> HostResult<bool> {
    if !counts.is_object() {
        return Ok(false);
    }
    let mut has_changed = false;
    for name in ["human", "ai", "total"].map(JsValue::from) {
        let count = Reflect::get(counts, &name)?;
        let is_integer = Number::is_safe_integer(&count) && count.as_f64() >= Some(0.0);
        if !is_integer && !count.is_null() && !count.is_undefined() {
            has_changed |= Reflect::set(counts, &name, &JsValue::NULL)?;
        }
    }
    Ok(has_changed)
}

/// Returns whether any row changed. A row with a changed path gets `quillgate.original`, a hash of
/// its path, which distinguishes pages with the same stored path.
fn normalize_rows(page: &JsValue) -> HostResult<bool> {
    let rows: Array = Reflect::get(page, &"views".into())?.unchecked_into();
    let mut has_changed = false;
    for row in rows.iter() {
        has_changed |= remove_odd_counts(&row)?;
        let Some(path) = Reflect::get(&row, &"path".into())?.as_string() else {
            continue;
        };
        let stored = store_path(&path);
        if stored == path {
            continue;
        }
        has_changed = true;
        let marks = Object::new();
        let original = JsValue::from(fingerprint(&[&path]));
        Reflect::set(&marks, &"original".into(), &original)?;
        Reflect::set(&row, &"quillgate".into(), &marks)?;
        Reflect::set(&row, &"path".into(), &stored.into())?;
    }
    Ok(has_changed)
}
