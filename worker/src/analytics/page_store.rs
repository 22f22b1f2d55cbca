//! The pages of analytics that were fetched: in `SQLite`, and the latest in memory.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use js_sys::JsString;
use quillgate::Millis;
use serde::Deserialize;
use wasm_bindgen::JsValue;

use crate::analytics::page::{STALE_FOR, page_name};
use crate::analytics::pages::{Page, PageRow};
use crate::bounded_cache::BoundedCache;
use crate::runtime::{Database, HostResult, now, number, text};

/// The table, the second step of the organisation's object.
pub const PAGE_TABLES: &str = "
  CREATE TABLE page (
    list TEXT NOT NULL,
    number INTEGER NOT NULL,
    text TEXT NOT NULL,
    tag TEXT NOT NULL,
    rows INTEGER NOT NULL,
    has_more INTEGER NOT NULL,
    fetched INTEGER NOT NULL,
    fresh_until INTEGER NOT NULL,
    PRIMARY KEY (list, number)
  );
  CREATE INDEX page_fresh_until ON page (fresh_until);
";

/// The rest of pages whose text is longer than [`LONGEST_PART`], the third step: by the hash of the
/// whole text, so that parts of different texts never meet.
pub const PAGE_PART_TABLES: &str = "
  CREATE TABLE page_part (
    tag TEXT NOT NULL,
    part INTEGER NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (tag, part)
  );
";

/// How often pages that are not even served stale any more are dropped.
const SWEEP_PERIOD: Millis = Millis::from_seconds(60);
/// The most pages that are stored: the usual budget of 20 hours. Each has at most 4 MiB, and an
/// object may store 10 GB.
const MOST_STORED: u64 = 2_000;
/// How many of them stay when there are more, so that room is not made for each.
const STORED_AFTERWARDS: u64 = 1_750;
/// The most characters of a text in one row: a row may have 2 MB, and a character three bytes.
const LONGEST_PART: u32 = 500_000;
/// The most pages in memory.
const MOST_PAGES: usize = 64;
/// The most bytes of them.
const MOST_BYTES: usize = 16 * 1024 * 1024;

#[derive(Deserialize)]
struct CountRow {
    count: u64,
}

#[derive(Deserialize)]
struct PartRow {
    #[serde(with = "serde_wasm_bindgen::preserve")]
    text: JsString,
}

/// The pages of the organisation.
pub struct PageStore {
    database: Rc<Database>,
    memory: RefCell<BoundedCache<Page>>,
    next_sweep: Cell<Millis>,
    /// How many pages are stored at most: one that was stored again counts twice.
    stored: Cell<u64>,
}

impl PageStore {
    /// The pages as they are stored.
    pub fn open(database: Rc<Database>) -> HostResult<Self> {
        let store = Self {
            database,
            memory: RefCell::new(BoundedCache::new(MOST_PAGES, MOST_BYTES)),
            next_sweep: Cell::new(Millis(0)),
            stored: Cell::new(0),
        };
        store.stored.set(store.count()?);
        Ok(store)
    }

    /// A page, fresh or not.
    pub fn find(&self, list: &str, number_in_list: u64) -> HostResult<Option<Page>> {
        let name = page_name(list, number_in_list);
        if let Some(page) = self.memory.borrow().get(&name, now()) {
            return Ok(Some(page.clone()));
        }
        let query = "SELECT text, tag, rows, has_more, fetched, fresh_until FROM page
            WHERE list = ? AND number = ?";
        let row: Option<PageRow> = self
            .database
            .first(query, [text(list), number(number_in_list)])?;
        let Some(row) = row else {
            return Ok(None);
        };
        let mut page = Page::from(row);
        // A cut between the halves of a character comes one earlier.
        if page.text.length() >= LONGEST_PART - 1 {
            let query = "SELECT text FROM page_part WHERE tag = ? ORDER BY part";
            let parts: Vec<PartRow> = self.database.rows(query, [text(&page.head.tag)])?;
            for part in parts {
                page.text = page.text.concat(&part.text);
            }
        }
        self.remember(list, number_in_list, &page);
        Ok(Some(page))
    }

    /// Keeps a page.
    pub fn keep(&self, list: &str, number_in_list: u64, page: &Page) -> HostResult<()> {
        self.database
            .transaction(|| self.store(list, number_in_list, page))?;
        self.remember(list, number_in_list, page);
        Ok(())
    }

    /// Stores a page, in the caller's transaction.
    pub fn store(&self, list: &str, number_in_list: u64, page: &Page) -> HostResult<()> {
        let mut parts = split_text(&page.text, LONGEST_PART).into_iter();
        let head = &page.head;
        let insert = "INSERT OR REPLACE INTO page
            (list, number, text, tag, rows, has_more, fetched, fresh_until)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)";
        let row = [
            text(list),
            number(number_in_list),
            parts.next().map_or(JsValue::NULL, JsValue::from),
            text(&head.tag),
            number(head.rows),
            number(head.has_more.into()),
            number(head.fetched.0),
            number(head.fresh_until.0),
        ];
        self.database.execute(insert, row)?;
        let insert = "INSERT OR REPLACE INTO page_part (tag, part, text) VALUES (?, ?, ?)";
        for (part, at) in parts.zip(1..) {
            let row = [text(&head.tag), number(at), part.into()];
            self.database.execute(insert, row)?;
        }
        self.sweep(head.fetched)
    }

    /// Stores the tag of a page that was kept without one.
    pub fn keep_tag(&self, list: &str, number_in_list: u64, page: &Page) -> HostResult<()> {
        let update = "UPDATE page SET tag = ? WHERE list = ? AND number = ? AND fetched = ?";
        let head = &page.head;
        let row = [
            text(&head.tag),
            text(list),
            number(number_in_list),
            number(head.fetched.0),
        ];
        self.database.execute(update, row)?;
        self.remember(list, number_in_list, page);
        Ok(())
    }

    /// Keeps a page in memory only.
    pub fn remember(&self, list: &str, number_in_list: u64, page: &Page) {
        let name = page_name(list, number_in_list);
        let until = page.head.fresh_until.plus(STALE_FOR);
        let mut memory = self.memory.borrow_mut();
        memory.insert(&name, page.clone(), page.bytes(), until);
    }

    /// Drops what is too old, and the pages that were kept first when there are too many.
    fn sweep(&self, now: Millis) -> HostResult<()> {
        let stored = self.stored.get() + 1;
        self.stored.set(stored);
        if stored > MOST_STORED {
            // Each page that is kept gets the highest row id.
            let delete = "DELETE FROM page WHERE rowid <=
                (SELECT rowid FROM page ORDER BY rowid DESC LIMIT 1 OFFSET ?)";
            self.database.execute(delete, [number(STORED_AFTERWARDS)])?;
            self.stored.set(self.count()?);
        } else if now < self.next_sweep.get() {
            return Ok(());
        }
        self.next_sweep.set(now.plus(SWEEP_PERIOD));
        let delete = "DELETE FROM page WHERE fresh_until <= ?";
        self.database
            .execute(delete, [number(now.since(STALE_FOR).0)])?;
        let delete = "DELETE FROM page_part WHERE tag NOT IN (SELECT tag FROM page)";
        self.database.execute(delete, [])
    }

    /// How many pages are kept.
    pub fn count(&self) -> HostResult<u64> {
        let query = "SELECT count(*) AS count FROM page";
        let row: Option<CountRow> = self.database.first(query, [])?;
        Ok(row.map_or(0, |row| row.count))
    }
}

/// Whether a page is stored in parts, by its tag.
pub fn is_long(page: &Page) -> bool {
    page.text.length() > LONGEST_PART
}

/// Splits a text into parts of at most so many characters, at least one, and none within a
/// character of two halves.
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
