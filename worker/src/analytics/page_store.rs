use std::cell::{Cell, RefCell};
use std::rc::Rc;

use js_sys::JsString;
use quillgate::Millis;
use serde::Deserialize;

use crate::analytics::page::{PageHead, STALE_FOR, is_outdated, page_key};
use crate::analytics::pages::Page;
use crate::bounded_cache::BoundedCache;
use crate::runtime::{Database, HostResult, now};

/// Deletions read the whole table of parts.
const SWEEP_PERIOD: Millis = Millis::from_seconds(60);
/// With the default budget, fetching as many pages takes 20 hours. At 4 MiB per page, they fit into
/// the 10 GB of an object.
const MAX_STORED: u64 = 2_000;
/// So low that most new pages cause no deletion.
const STORED_AFTERWARDS: u64 = 1_750;
/// UTF-16 code units of a page in one row. Each takes at most 3 bytes in UTF-8, so a row stays
/// below the limit of 2 MB.
const MAX_PART_LENGTH: u32 = 500_000;
const MAX_PAGES: usize = 64;
const MAX_BYTES: usize = 16 * 1024 * 1024;

#[derive(Deserialize)]
struct PartRow {
    #[serde(with = "serde_wasm_bindgen::preserve")]
    text: JsString,
}

#[derive(Deserialize)]
struct NumberRow {
    number: u64,
    has_more: u64,
}

pub struct PageStore {
    database: Rc<Database>,
    memory: RefCell<BoundedCache<Page>>,
    next_sweep: Cell<Millis>,
    /// An upper bound: a page that replaces a stored page also counts until the next count.
    stored: Cell<u64>,
}

impl PageStore {
    pub fn open(database: Rc<Database>) -> HostResult<Self> {
        let store = Self {
            database,
            memory: RefCell::new(BoundedCache::new(MAX_PAGES, MAX_BYTES)),
            next_sweep: Cell::new(Millis(0)),
            stored: Cell::new(0),
        };
        store.stored.set(store.count()?);
        Ok(store)
    }

    pub fn find(&self, list: &str, number_in_list: u64) -> HostResult<Option<Page>> {
        let name = page_key(list, number_in_list);
        if let Some(page) = self.memory.borrow().get(&name, now()) {
            return Ok(Some(page.clone()));
        }
        let query = "SELECT text, tag, rows, has_more, totals, fetched, fresh_until FROM page
            WHERE list = ? AND number = ?";
        let Some(mut page) = self
            .database
            .first::<Page>(query, &[&list, &number_in_list])?
        else {
            return Ok(None);
        };
        // The first part can be one code unit below the maximum: see `split_text`.
        if page.text.length() >= MAX_PART_LENGTH - 1 {
            let query = "SELECT text FROM page_part WHERE tag = ? ORDER BY part";
            let parts: Vec<PartRow> = self.database.rows(query, &[&page.head.tag])?;
            for part in parts {
                page.text = page.text.concat(&part.text);
            }
        }
        self.cache(list, number_in_list, &page);
        Ok(Some(page))
    }

    /// Pages of the list with other totals become stale, so all fresh pages of a list come from one
    /// state of the list.
    pub fn insert(&self, list: &str, number_in_list: u64, page: &Page) -> HostResult<()> {
        let head = &page.head;
        let is_kept = |key: &str, cached: &Page| !is_outdated(key, &cached.head, list, head);
        self.memory.borrow_mut().retain(is_kept);
        let insert = "INSERT OR REPLACE INTO page
            (list, number, tag, rows, has_more, totals, fetched, fresh_until, text)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)";
        let insert_part = "INSERT OR REPLACE INTO page_part (tag, part, text) VALUES (?, ?, ?)";
        self.database.transaction(|| {
            let mut parts = split_text(&page.text, MAX_PART_LENGTH).into_iter();
            let first = parts.next().unwrap_or_default();
            self.database.execute_with_text(
                insert,
                &[
                    &list,
                    &number_in_list,
                    &head.tag,
                    &head.rows,
                    &u64::from(head.has_more),
                    &totals_text(head),
                    &head.freshness.fetched,
                    &head.freshness.until,
                ],
                &first,
            )?;
            self.expire_outdated(list, head)?;
            for (part, at) in parts.zip(1..) {
                self.database
                    .execute_with_text(insert_part, &[&head.tag, &at], &part)?;
            }
            self.sweep(head.freshness.fetched)
        })
    }

    fn expire_outdated(&self, list: &str, latest: &PageHead) -> HostResult<()> {
        if latest.totals.is_none() {
            return Ok(());
        }
        // Searches the index three times. `IS NOT` would read every page of the list.
        let query = "UPDATE page SET fresh_until = ?1 WHERE fresh_until > ?1 AND (
            (list = ?2 AND totals IS NULL) OR (list = ?2 AND totals < ?3)
            OR (list = ?2 AND totals > ?3))";
        self.database.execute(
            query,
            &[&latest.freshness.fetched, &list, &totals_text(latest)],
        )
    }

    /// The first page from `first` on that is not stored and fresh.
    pub fn first_missing(&self, list: &str, first: u64) -> HostResult<Option<u64>> {
        let query = "SELECT number, has_more FROM page
            WHERE list = ? AND number >= ? AND fresh_until > ? ORDER BY number";
        let mut missing = first;
        for page in self
            .database
            .rows::<NumberRow>(query, &[&list, &first, &now()])?
        {
            if page.number != missing {
                break;
            }
            if page.has_more == 0 {
                return Ok(None);
            }
            missing += 1;
        }
        Ok(Some(missing))
    }

    /// In memory, until the end of the maximum staleness.
    pub fn cache(&self, list: &str, number_in_list: u64, page: &Page) {
        let name = page_key(list, number_in_list);
        let until = page.head.freshness.usable_until();
        let mut memory = self.memory.borrow_mut();
        memory.insert(&name, page.clone(), page.bytes(), until);
    }

    /// Counts a page that was just stored. Deletes the oldest pages above [`MAX_STORED`], and then
    /// or after [`SWEEP_PERIOD`] also expired pages.
    fn sweep(&self, now: Millis) -> HostResult<()> {
        let stored = self.stored.get() + 1;
        self.stored.set(stored);
        if stored > MAX_STORED {
            // The pages stored first have the lowest row ids.
            let delete = "DELETE FROM page WHERE rowid <=
                (SELECT rowid FROM page ORDER BY rowid DESC LIMIT 1 OFFSET ?)";
            self.database.execute(delete, &[&STORED_AFTERWARDS])?;
            self.stored.set(self.count()?);
        } else if now < self.next_sweep.get() {
            return Ok(());
        }
        self.next_sweep.set(now.plus(SWEEP_PERIOD));
        let delete = "DELETE FROM page WHERE fresh_until <= ?";
        self.database.execute(delete, &[&now.since(STALE_FOR)])?;
        let delete = "DELETE FROM page_part WHERE tag NOT IN (SELECT tag FROM page)";
        self.database.execute(delete, &[])
    }

    pub fn count(&self) -> HostResult<u64> {
        let count = self.database.value("SELECT count(*) FROM page", &[])?;
        Ok(count.unwrap_or(0))
    }
}

fn totals_text(head: &PageHead) -> Option<String> {
    head.totals.map(|totals| totals.number().to_string())
}

/// Never splits a surrogate pair.
pub(crate) fn split_text(text: &JsString, longest: u32) -> Vec<JsString> {
    let mut parts = Vec::new();
    let mut from = 0;
    while text.length() - from > longest {
        let end = from + longest;
        let is_half = (55_296.0..56_320.0).contains(&text.char_code_at(end - 1));
        let to = if is_half { end - 1 } else { end };
        parts.push(text.substring(from, to));
        from = to;
    }
    parts.push(text.substring(from, text.length()));
    parts
}
