//! The state of an isolate that outlives a request: configuration, verified tokens, cached pages and
//! recent reads. Its size is bounded, and no borrow spans an await.

use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

use js_sys::JsString;
use quillgate::Millis;
use wasm_bindgen::prelude::wasm_bindgen;
use worker::{AnalyticsEngineDataset, Env};

use crate::analytics::page::{Piece, page_name, split_into_pieces};
use crate::analytics::pages::{Page, ReportAnswer};
use crate::analytics::query::ReportQuery;
use crate::app::config::Config;
use crate::auth::VerifiedTokens;
use crate::bounded_cache::BoundedCache;
use crate::budget::read_budget::ReadBudget;
use crate::runtime::{Entry, HostError, HostResult, set_entry, variable};
use crate::variable::VariableError;

/// The maximum number and size of cached pages. With the reports, they use an eighth of an isolate's memory.
const MAX_PAGES: usize = 1_000;
const MAX_PAGE_BYTES: usize = 12 * 1024 * 1024;
/// The maximum number and size of cached reports. They are cached in addition to their pages.
const MAX_REPORTS: usize = 64;
const MAX_REPORT_BYTES: usize = 4 * 1024 * 1024;
/// The maximum number and size of the names of reports that were requested once.
const MAX_NAMES: usize = 256;
const MAX_NAME_BYTES: usize = 256 * 1024;

struct Isolate {
    config: Option<Result<Rc<Config>, VariableError>>,
    verified: VerifiedTokens,
    /// Fresh pages, by list and number.
    pages: BoundedCache<Page>,
    /// Reports cut from the pages, so that popular ones are cut only once.
    answers: BoundedCache<ReportAnswer>,
    /// The names of reports that were cut once. A report is cached at its second request, because V8
    /// collects short-lived cache entries late.
    cut_once: BoundedCache<()>,
    reads: ReadBudget,
    /// The `OpenAPI` description, written at build time. The entry passes it in, to keep it out of the wasm.
    description: Option<JsString>,
    /// The dataset for data points, looked up once. The inner value is `None` if no dataset is bound.
    dataset: OnceCell<Option<AnalyticsEngineDataset>>,
}

thread_local! {
    static ISOLATE: RefCell<Isolate> = RefCell::new(Isolate {
        config: None,
        verified: VerifiedTokens::default(),
        pages: BoundedCache::new(MAX_PAGES, MAX_PAGE_BYTES),
        answers: BoundedCache::new(MAX_REPORTS, MAX_REPORT_BYTES),
        cut_once: BoundedCache::new(MAX_NAMES, MAX_NAME_BYTES),
        reads: ReadBudget::default(),
        description: None,
        dataset: OnceCell::new(),
    });
}

/// Returns the configuration. It is read from the variables once.
///
/// # Errors
/// Names the missing or malformed variable.
pub fn load_config(env: &Env) -> Result<Rc<Config>, VariableError> {
    ISOLATE.with_borrow_mut(|isolate| {
        let read = || Config::read(|name| variable(env, name)).map(Rc::new);
        isolate.config.get_or_insert_with(read).clone()
    })
}

/// Returns the configuration where it was already validated.
pub fn config(env: &Env) -> HostResult<Rc<Config>> {
    load_config(env).map_err(|error| HostError::new(error.to_string()))
}

/// Runs a closure with the verified tokens.
pub fn with_verified<T>(run: impl FnOnce(&mut VerifiedTokens) -> T) -> T {
    ISOLATE.with_borrow_mut(|isolate| run(&mut isolate.verified))
}

/// Returns the report for a query if it is cached, or if its pages are cached and fresh.
pub fn find_report(query: &ReportQuery, now: Millis) -> Option<ReportAnswer> {
    ISOLATE.with_borrow_mut(|isolate| {
        let name = answer_name(query);
        if let Some(answer) = isolate.answers.get(&name, now) {
            return Some(answer.clone());
        }
        let pages = isolate.find_pages(query, now)?;
        // A page that cannot be cut counts as a cache miss.
        let answer = ReportAnswer::cut(query.operation, &pages).ok()?;
        if isolate.cut_once.get(&name, now).is_some() {
            isolate.cache_answer(&name, &answer);
        } else {
            let until = answer.head.fresh_until;
            isolate.cut_once.insert(&name, (), 0, until);
        }
        Some(answer)
    })
}

/// Caches a fresh report and its pages.
pub fn cache_report(
    query: &ReportQuery,
    pages: &[(Page, Piece)],
    answer: &ReportAnswer,
    now: Millis,
) {
    ISOLATE.with_borrow_mut(|isolate| {
        let mut is_latest = true;
        for (page, piece) in pages {
            is_latest &= isolate.cache_page(&page_name(&query.list, piece.number), page, now);
        }
        if is_latest {
            isolate.cache_answer(&answer_name(query), answer);
        }
    });
}

/// Returns the cache key of a report.
fn answer_name(query: &ReportQuery) -> String {
    format!("{} {} {}", query.limit, query.offset, query.list)
}

impl Isolate {
    fn find_pages(&self, query: &ReportQuery, now: Millis) -> Option<Vec<(Page, Piece)>> {
        let mut pages = Vec::new();
        for piece in split_into_pieces(query.offset, query.limit) {
            let page = self.pages.get(&page_name(&query.list, piece.number), now)?;
            pages.push((page.clone(), piece));
            if !page.head.has_more {
                break;
            }
        }
        Some(pages)
    }

    /// Caches a page while it is fresh. Returns whether it is the newest version in the cache.
    fn cache_page(&mut self, name: &str, page: &Page, now: Millis) -> bool {
        let until = page.head.fresh_until;
        if let Some(kept) = self.pages.get(name, now) {
            if kept.head.fetched >= page.head.fetched {
                return kept.head.tag == page.head.tag;
            }
            // Reports cut from the previous version must not mix with new ones.
            self.answers.clear();
        }
        if page.head.is_fresh(now) {
            self.pages.insert(name, page.clone(), page.bytes(), until);
        }
        true
    }

    fn cache_answer(&mut self, name: &str, answer: &ReportAnswer) {
        let until = answer.head.fresh_until;
        self.answers
            .insert(name, answer.clone(), answer.bytes(), until);
    }
}

/// Runs a closure with the budget of recent reads.
pub fn with_reads<T>(run: impl FnOnce(&mut ReadBudget) -> T) -> T {
    ISOLATE.with_borrow_mut(|isolate| run(&mut isolate.reads))
}

/// Stores the `OpenAPI` description and the functions of the entry.
#[wasm_bindgen]
pub fn attach(description: JsString, entry: Entry) {
    set_entry(entry);
    ISOLATE.with_borrow_mut(|isolate| isolate.description = Some(description));
}

/// Returns the `OpenAPI` description as JSON.
pub fn description() -> Option<JsString> {
    ISOLATE.with_borrow(|isolate| isolate.description.clone())
}

/// Runs a closure with the dataset for data points, if one is bound.
pub fn with_dataset(env: &Env, run: impl FnOnce(&AnalyticsEngineDataset)) {
    ISOLATE.with_borrow(|isolate| {
        let find = || env.analytics_engine("ANALYTICS").ok();
        if let Some(dataset) = isolate.dataset.get_or_init(find) {
            run(dataset);
        }
    });
}
