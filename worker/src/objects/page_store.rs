//! The pages of analytics that were fetched: in `SQLite`, and the latest in memory.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use js_sys::JsString;
use quillgate::Millis;

use crate::bounded_cache::BoundedCache;
use crate::platform::{Database, HostResult, now, number, row, text};
use crate::views::page::{PageHead, STALE_FOR};

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

/// How often pages that are not even served stale any more are dropped.
const SWEEP_PERIOD: Millis = Millis::from_seconds(60);
/// The most pages in memory.
const MOST_PAGES: usize = 64;
/// The most bytes of them.
const MOST_BYTES: usize = 16 * 1024 * 1024;

row! {
    struct PageRow {
        text: JsString,
        tag: String,
        rows: u64,
        has_more: u64,
        fetched: u64,
        fresh_until: u64,
    }
}

row! {
    struct CountRow {
        count: u64,
    }
}

/// A page of analytics.
#[derive(Debug, Clone)]
pub struct Page {
    /// What is known of it.
    pub head: PageHead,
    /// Its very text, as the upstream gave it.
    pub text: JsString,
}

/// The pages of the organisation.
pub struct PageStore {
    database: Rc<Database>,
    memory: RefCell<BoundedCache<Page>>,
    next_sweep: Cell<Millis>,
}

impl PageStore {
    /// The pages as they are stored.
    pub fn open(database: Rc<Database>) -> Self {
        Self {
            database,
            memory: RefCell::new(BoundedCache::new(MOST_PAGES, MOST_BYTES)),
            next_sweep: Cell::new(Millis(0)),
        }
    }

    /// A page, fresh or not.
    pub fn find(&self, list: &str, number_in_list: u64) -> HostResult<Option<Page>> {
        let name = name(list, number_in_list);
        if let Some(page) = self.memory.borrow().get(&name, now()) {
            return Ok(Some(page.clone()));
        }
        let query = "SELECT text, tag, rows, has_more, fetched, fresh_until FROM page
            WHERE list = ? AND number = ?";
        let row: Option<PageRow> = self
            .database
            .first(query, &[text(list), number(number_in_list)])?;
        let page = row.map(|row| Page {
            text: row.text,
            head: PageHead {
                tag: row.tag,
                rows: row.rows,
                has_more: row.has_more != 0,
                fetched: Millis(row.fetched),
                fresh_until: Millis(row.fresh_until),
            },
        });
        if let Some(page) = &page {
            self.remember(&name, page);
        }
        Ok(page)
    }

    /// Keeps a page.
    pub fn keep(&self, list: &str, number_in_list: u64, page: &Page) -> HostResult<()> {
        self.sweep(page.head.fetched)?;
        let head = &page.head;
        let insert = "INSERT OR REPLACE INTO page
            (list, number, text, tag, rows, has_more, fetched, fresh_until)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)";
        let row = vec![
            text(list).into(),
            number(number_in_list).into(),
            page.text.clone().into(),
            text(&head.tag).into(),
            number(head.rows).into(),
            number(head.has_more.into()).into(),
            number(head.fetched.0).into(),
            number(head.fresh_until.0).into(),
        ];
        self.database.execute_raw(insert, row)?;
        self.remember(&name(list, number_in_list), page);
        Ok(())
    }

    fn remember(&self, name: &str, page: &Page) {
        // A character of a JavaScript string has two bytes at most.
        let bytes = page.text.length() as usize * 2;
        let until = page.head.fresh_until.plus(STALE_FOR);
        let mut memory = self.memory.borrow_mut();
        memory.insert(name, page.clone(), bytes, until);
    }

    fn sweep(&self, now: Millis) -> HostResult<()> {
        if now < self.next_sweep.get() {
            return Ok(());
        }
        self.next_sweep.set(now.plus(SWEEP_PERIOD));
        let delete = "DELETE FROM page WHERE fresh_until <= ?";
        self.database
            .execute(delete, &[number(now.since(STALE_FOR).0)])
    }

    /// How many pages are kept.
    pub fn count(&self) -> HostResult<u64> {
        let query = "SELECT count(*) AS count FROM page";
        let row: Option<CountRow> = self.database.first(query, &[])?;
        Ok(row.map_or(0, |row| row.count))
    }
}

fn name(list: &str, number: u64) -> String {
    format!("{number} {list}")
}
