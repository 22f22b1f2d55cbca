//! The D1 database of the daily archive. The database stores the progress of each day, the fetched
//! pages of incomplete days, and the counts that series and the list of pages return.
//!
//! A page is staged when it arrives. When the last page of a day arrives, one batch replaces the
//! stored day with the staged pages. D1 runs a batch as a transaction, so readers never see a
//! partially replaced day.

use js_sys::{Array, JsString, Object, Reflect};
use quillgate::{Day, Millis};
use serde::Deserialize;
use wasm_bindgen::{JsCast, JsValue};
use worker::Env;

use crate::analytics::archive::schedule::{DayRecord, Part, ProjectRecord};
use crate::analytics::archive::stored_path::StoredPath;
use crate::analytics::archive::views::{StoredPage, ViewsQuery};
use crate::analytics::archive::{Counts, SeriesQuery, StoredDay, Subject, first_retained};
use crate::analytics::settings::ArchiveSettings;
use crate::hash::fingerprint;
use crate::runtime::{D1, HostError, HostResult, Statement, number, stringify_json};
use crate::upstream::client::PageReply;

/// The name of the D1 binding in the wrangler configuration.
const BINDING: &str = "ARCHIVE";
/// The maximum number of expired days to delete per project and run.
const MAX_EXPIRED: u32 = 10;
/// The maximum number of unused nodes to delete per project and run. A node is a page or a prefix,
/// and is unused if it has no stored views.
const MAX_UNUSED: u32 = 1000;

const SITE: &str = include_str!("sql/site.sql");
const NODE: &str = include_str!("sql/node.sql");
const PAGES: &str = include_str!("sql/pages.sql");
const INTERN: &str = include_str!("sql/intern.sql");
const LINK: &str = include_str!("sql/link.sql");
const DROP: &str = concat!(include_str!("sql/fresh.sql"), include_str!("sql/drop.sql"));
const KEEP: &str = concat!(
    "INSERT INTO views (node, day, human, ai, total) ",
    include_str!("sql/fresh.sql"),
    include_str!("sql/keep.sql")
);
const LEDGER: &str = include_str!("sql/ledger.sql");

#[derive(Deserialize)]
struct ProjectRow {
    id: u32,
    first_day: u32,
}

#[derive(Deserialize)]
struct LedgerRow {
    day: u32,
    fetched: Option<Millis>,
    pages: u64,
    has_visitors: u32,
    staged_totals: Option<String>,
    staged_pages: u64,
    attempts: u32,
    retry_at: Millis,
    problem: Option<String>,
}

#[derive(Deserialize)]
struct SeriesRow {
    day: u32,
    fetched: Millis,
    human: Option<u64>,
    ai: Option<u64>,
    total: Option<u64>,
    visitors_human: Option<u64>,
    visitors_ai: Option<u64>,
    visitors_total: Option<u64>,
    known: u32,
}

#[derive(Deserialize)]
struct DayRow {
    day: u32,
}

/// The record of a project, loaded from the database or new.
pub struct StoredProject {
    /// The project's id in the database. `None` before the first run or backfill.
    pub id: Option<u32>,
    /// The days to archive and their records.
    pub record: ProjectRecord,
    /// The size of the database in bytes. `None` if the project is not stored yet, or if D1 does
    /// not report the size.
    pub bytes: Option<u64>,
}

#[derive(Debug, Clone, Copy)]
pub struct DayKey {
    /// The project's id in the database.
    pub project: u32,
    /// The day, in UTC.
    pub day: Day,
}

/// The archive's D1 database.
#[derive(Clone)]
pub struct ArchiveStore(D1);

impl ArchiveStore {
    /// Opens the archive. Returns `None` if no database is bound.
    pub fn open(env: &Env) -> HostResult<Option<Self>> {
        Ok(D1::open(env, BINDING)?.map(Self))
    }

    /// Loads the record of a project, without the days that the archive no longer retains. Returns
    /// a new record if the project is not stored yet.
    pub async fn load(
        &self,
        project: &str,
        settings: &ArchiveSettings,
        now: Millis,
    ) -> HostResult<StoredProject> {
        let query = "SELECT id, first_day FROM project WHERE name = ?1";
        let rows = self.0.prepare(query, &[project.into()])?;
        let rows: Vec<ProjectRow> = self.0.rows(&rows).await?;
        let mut record = ProjectRecord::new(now);
        let Some(row) = rows.first() else {
            return Ok(StoredProject {
                id: None,
                record,
                bytes: None,
            });
        };
        record.first = day(row.first_day).max(first_retained(settings, now));
        let query = "SELECT day, fetched, pages, staged_visitors IS NOT NULL AS has_visitors,
            staged_totals, staged_pages, attempts, retry_at, problem
            FROM day WHERE project = ?1 AND day >= ?2 ORDER BY day";
        let values = [row.id.into(), record.first.number().into()];
        let ledger = self.0.prepare(query, &values)?;
        let (ledger, bytes) = self.0.rows_and_size::<LedgerRow>(&ledger).await?;
        let days = ledger.into_iter().map(|row| DayRecord {
            day: day(row.day),
            fetched: row.fetched,
            pages: row.pages,
            next: match row.has_visitors {
                0 => Part::Visitors,
                _ => Part::Views(row.staged_pages),
            },
            empty_pages: 0,
            attempts: row.attempts,
            retry_at: row.retry_at,
            problem: row.problem,
            totals: row.staged_totals,
        });
        record.days = days.collect();
        Ok(StoredProject {
            id: Some(row.id),
            record,
            bytes,
        })
    }

    /// Returns the stored days of a page of a series, with one query.
    pub async fn series(&self, project: &str, query: &SeriesQuery) -> HostResult<Vec<StoredDay>> {
        let mut values = vec![
            project.into(),
            query.from.number().into(),
            query.to.number().into(),
        ];
        let text = match &query.subject {
            Subject::Site => SITE,
            Subject::Page(path) | Subject::Prefix(path) => {
                let is_prefix = matches!(query.subject, Subject::Prefix(_));
                values.extend([path.as_str().into(), u32::from(is_prefix).into()]);
                NODE
            }
        };
        let rows = self.0.prepare(text, &values)?;
        let rows: Vec<SeriesRow> = self.0.rows(&rows).await?;
        let is_site = query.subject == Subject::Site;
        let held = |row: SeriesRow| StoredDay {
            day: day(row.day),
            fetched: row.fetched,
            views: if row.known == 0 {
                query.subject.counts_without_row()
            } else {
                Counts {
                    human: row.human,
                    ai: row.ai,
                    total: row.total,
                }
            },
            visitors: is_site.then_some(Counts {
                human: row.visitors_human,
                ai: row.visitors_ai,
                total: row.visitors_total,
            }),
        };
        Ok(rows.into_iter().map(held).collect())
    }

    /// Returns the rows of one page of the list of views, and the first row of the next page, if
    /// any.
    pub async fn pages(&self, project: &str, query: &ViewsQuery) -> HostResult<Vec<StoredPage>> {
        let values = [
            project.into(),
            query.from.number().into(),
            query.to.number().into(),
            query.after.as_deref().unwrap_or("").into(),
            number(query.limit + 1),
        ];
        let rows = self.0.prepare(PAGES, &values)?;
        self.0.rows(&rows).await
    }

    /// Sets the first day of a project, unless the stored first day is earlier. Stores the project
    /// if necessary. Returns the project's id.
    pub async fn set_first_day(&self, project: &str, first: Day) -> HostResult<u32> {
        let query = "INSERT INTO project (name, first_day) VALUES (?1, ?2)
            ON CONFLICT (name) DO UPDATE SET first_day = min(first_day, excluded.first_day)
            RETURNING id, first_day";
        let values = [project.into(), first.number().into()];
        let statement = self.0.prepare(query, &values)?;
        let rows: Vec<ProjectRow> = self.0.rows(&statement).await?;
        let row = rows.first();
        row.map(|row| row.id)
            .ok_or_else(|| HostError::new("a project without an id"))
    }

    /// Stages a day's visitor totals, as JSON.
    pub async fn stage_visitors(&self, key: DayKey, totals: &JsString) -> HostResult<()> {
        let query = "INSERT INTO day (project, day, staged_visitors) VALUES (?1, ?2, ?3)
            ON CONFLICT (project, day) DO UPDATE SET
            staged_visitors = excluded.staged_visitors, attempts = 0, retry_at = 0, problem = NULL";
        let statement = self.0.prepare(query, &key.with(&[totals.into()]))?;
        self.0.batch(&[statement]).await
    }

    /// Stages a page of a day's views. After the last page, replaces the stored day with the staged
    /// pages. `parsed` is the parsed text of `reply`. This function replaces the paths in `parsed`
    /// with their stored forms.
    pub async fn store_views(
        &self,
        key: DayKey,
        page: u64,
        reply: &PageReply,
        parsed: &JsValue,
        totals: &JsString,
        now: Millis,
    ) -> HostResult<()> {
        let insert = "INSERT OR REPLACE INTO staging (project, day, page, text)
            VALUES (?1, ?2, ?3, ?4)";
        let update = "UPDATE day SET staged_pages = ?3, staged_totals = ?4,
            attempts = 0, retry_at = 0, problem = NULL WHERE project = ?1 AND day = ?2";
        let text = if replace_paths(parsed)? {
            stringify_json(parsed)?
        } else {
            reply.text.clone()
        };
        let text = key.with(&[number(page), text.into()]);
        let totals = key.with(&[number(page + 1), totals.into()]);
        let mut statements = vec![
            self.0.prepare(insert, &text)?,
            self.0.prepare(update, &totals)?,
        ];
        if !reply.has_more {
            let both = key.with(&[]);
            let times = key.with(&[number(now.0), number(page + 1)]);
            statements.extend([
                self.0.prepare(INTERN, &both)?,
                self.0.prepare(LINK, &both[..1])?,
                self.0.prepare(DROP, &both)?,
                self.0.prepare(KEEP, &both)?,
                self.0.prepare(LEDGER, &times)?,
                self.clear(key)?,
            ]);
        }
        self.0.batch(&statements).await
    }

    fn clear(&self, key: DayKey) -> HostResult<Statement> {
        let delete = "DELETE FROM staging WHERE project = ?1 AND day = ?2";
        self.0.prepare(delete, &key.with(&[]))
    }

    /// Records a failed request for a day. If the day's first part is next, also deletes the day's
    /// staged parts, because the fetch may have restarted.
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
        let values = [
            record.attempts.into(),
            number(record.retry_at.0),
            problem.into(),
        ];
        let mut statements = vec![self.0.prepare(query, &key.with(&values))?];
        if record.next == Part::Visitors {
            let restart = "UPDATE day
                SET staged_visitors = NULL, staged_totals = NULL, staged_pages = 0
                WHERE project = ?1 AND day = ?2 AND staged_visitors IS NOT NULL";
            let restart = self.0.prepare(restart, &key.with(&[]))?;
            statements.extend([restart, self.clear(key)?]);
        }
        self.0.batch(&statements).await
    }

    /// Deletes at most [`MAX_EXPIRED`] days before `first`, oldest first. If any day is deleted,
    /// also deletes at most [`MAX_UNUSED`] pages and prefixes that have no views.
    pub async fn prune(&self, project: u32, first: Day) -> HostResult<()> {
        let query = "SELECT day FROM (
            SELECT day FROM day WHERE project = ?1 AND day < ?2 ORDER BY day LIMIT ?3
            ) ORDER BY day DESC LIMIT 1";
        let values = [project.into(), first.number().into(), MAX_EXPIRED.into()];
        let last = self.0.prepare(query, &values)?;
        let last: Vec<DayRow> = self.0.rows(&last).await?;
        let Some(DayRow { day: last }) = last.first() else {
            return Ok(());
        };
        let views = "DELETE FROM views
            WHERE day <= ?2 AND node IN (SELECT id FROM node WHERE project = ?1)";
        let staging = "DELETE FROM staging WHERE project = ?1 AND day <= ?2";
        let ledger = "DELETE FROM day WHERE project = ?1 AND day <= ?2";
        let unused = "DELETE FROM node WHERE id IN (
            SELECT id FROM node WHERE project = ?1
            AND NOT EXISTS (SELECT 1 FROM views WHERE node = node.id) LIMIT ?2)";
        // A prefix can be deleted before the pages below it. When a later day inserts the prefix
        // again, `link.sql` links these pages to the new row.
        let unlink = "UPDATE node SET parent = NULL WHERE project = ?1 AND parent IS NOT NULL
            AND NOT EXISTS (SELECT 1 FROM node AS above WHERE above.id = node.parent)";
        let expired = [project.into(), (*last).into()];
        self.0
            .batch(&[
                self.0.prepare(views, &expired)?,
                self.0.prepare(staging, &expired)?,
                self.0.prepare(ledger, &expired)?,
                self.0
                    .prepare(unused, &[project.into(), MAX_UNUSED.into()])?,
                self.0.prepare(unlink, &[project.into()])?,
            ])
            .await
    }
}

impl DayKey {
    /// Returns the values to bind to a statement: the project, the day, and then `values`.
    fn with(self, values: &[JsValue]) -> Vec<JsValue> {
        let mut all = vec![self.project.into(), self.day.number().into()];
        all.extend_from_slice(values);
        all
    }
}

fn day(number: u32) -> Day {
    Day::from_number(number.into())
}

/// Replaces each path in a parsed page with its stored form. Returns whether any path changed.
///
/// Adds two properties to each changed row, for the SQL statements. `quillgate.isPrefix` is 1 for a
/// [`StoredPath::Prefix`]. `quillgate.original` is a hash of the original path, which distinguishes
/// pages with the same stored path.
fn replace_paths(page: &JsValue) -> HostResult<bool> {
    let rows: Array = Reflect::get(page, &"views".into())?.unchecked_into();
    let mut has_changed = false;
    for row in rows.iter() {
        let Some(path) = Reflect::get(&row, &"path".into())?.as_string() else {
            continue;
        };
        let stored = StoredPath::of(&path);
        if stored == StoredPath::Page(path.clone()) {
            continue;
        }
        has_changed = true;
        let marks = Object::new();
        let is_prefix = u32::from(matches!(stored, StoredPath::Prefix(_)));
        Reflect::set(&marks, &"isPrefix".into(), &is_prefix.into())?;
        let original = JsValue::from(fingerprint(&[&path]));
        Reflect::set(&marks, &"original".into(), &original)?;
        Reflect::set(&row, &"quillgate".into(), &marks)?;
        Reflect::set(&row, &"path".into(), &stored.as_str().into())?;
    }
    Ok(has_changed)
}
