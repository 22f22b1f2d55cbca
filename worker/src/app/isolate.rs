//! State that an isolate retains between requests. No borrow of it is held across an `await`.

use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

use js_sys::{Function, JsString};
use quillgate::Millis;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;
use web_sys::AbortSignal;
use worker::{AnalyticsEngineDataset, Env};

use crate::analytics::page::{PageSlice, is_outdated, page_key, slice_pages};
use crate::analytics::pages::{Page, Report};
use crate::analytics::query::ReportQuery;
use crate::app::config::Config;
use crate::auth::VerifiedTokens;
use crate::bounded_cache::BoundedCache;
use crate::budget::read_budget::ReadBudget;
use crate::runtime::{HostError, HostResult, log_for_operator, variable};
use crate::variable::VariableError;

/// The maximum number and total size in bytes of cached pages. With the reports, they use at most
/// an eighth of an isolate's 128 MB.
const MAX_PAGES: usize = 1_000;
const MAX_PAGE_BYTES: usize = 12 * 1024 * 1024;
/// A report is cached in addition to its pages.
const MAX_REPORTS: usize = 64;
const MAX_REPORT_BYTES: usize = 4 * 1024 * 1024;

struct Isolate {
    config: Option<Result<Rc<Config>, VariableError>>,
    verified: VerifiedTokens,
    /// By list and number.
    pages: BoundedCache<Page>,
    reports: BoundedCache<Report>,
    reads: ReadBudget,
    /// The JavaScript entry passes the `OpenAPI` description to [`attach`], so that the wasm module
    /// does not contain it.
    description: Option<JsString>,
    /// `openStream` of the JavaScript entry.
    open_stream: Option<Function>,
    /// The inner value is `None` if no dataset is bound.
    dataset: OnceCell<Option<AnalyticsEngineDataset>>,
}

thread_local! {
    static ISOLATE: RefCell<Isolate> = RefCell::new(Isolate {
        config: None,
        verified: VerifiedTokens::default(),
        pages: BoundedCache::new(MAX_PAGES, MAX_PAGE_BYTES),
        reports: BoundedCache::new(MAX_REPORTS, MAX_REPORT_BYTES),
        reads: ReadBudget::default(),
        description: None,
        open_stream: None,
        dataset: OnceCell::new(),
    });
}

/// Reads the variables once per isolate, and logs revocations that have no effect.
pub fn load_config(env: &Env) -> Result<Rc<Config>, VariableError> {
    ISOLATE.with_borrow_mut(|isolate| {
        let read = || {
            let config = Config::read(|name| variable(env, name))?;
            let unknown = config.auth.unknown_issuers().join(", ");
            if !unknown.is_empty() {
                log_for_operator(&format!(
                    "REVOKED_TOKENS has issuers that TRUSTED_ISSUERS does not list: {unknown}"
                ));
            }
            Ok(Rc::new(config))
        };
        isolate.config.get_or_insert_with(read).clone()
    })
}

pub fn with_admission<T>(run: impl FnOnce((&mut VerifiedTokens, &mut ReadBudget)) -> T) -> T {
    ISOLATE.with_borrow_mut(|isolate| run((&mut isolate.verified, &mut isolate.reads)))
}

/// Returns `None` if neither the report nor all of its pages are cached and fresh.
pub fn find_report(query: &ReportQuery, now: Millis) -> Option<Report> {
    ISOLATE.with_borrow_mut(|isolate| {
        let key = report_key(query);
        if let Some(report) = isolate.reports.get(&key, now) {
            return Some(report.clone());
        }
        let pages = isolate.find_pages(query, now)?;
        // An error while the report is assembled counts as a cache miss.
        let report = Report::cut(query.operation, &pages).ok()?;
        // The organization's object fetches mixed pages again.
        if report.head.is_mixed {
            return None;
        }
        isolate.cache_report(&key, &report);
        Some(report)
    })
}

/// Caches no report that is mixed, or contains an older version of a page than the cache.
pub fn cache_report(
    query: &ReportQuery,
    pages: &[(Page, PageSlice)],
    report: &Report,
    now: Millis,
) {
    ISOLATE.with_borrow_mut(|isolate| {
        let mut is_latest = true;
        for (page, slice) in pages {
            is_latest &= isolate.cache_page(&query.list, slice.number, page, now);
        }
        if is_latest && !report.head.is_mixed {
            isolate.cache_report(&report_key(query), report);
        }
    });
}

fn report_key(query: &ReportQuery) -> String {
    format!("{} {} {}", query.limit, query.offset, query.list)
}

impl Isolate {
    fn find_pages(&self, query: &ReportQuery, now: Millis) -> Option<Vec<(Page, PageSlice)>> {
        let mut pages = Vec::new();
        for slice in slice_pages(query.offset, query.limit) {
            let page = self.pages.get(&page_key(&query.list, slice.number), now)?;
            pages.push((page.clone(), slice));
            if !page.head.has_more {
                break;
            }
        }
        Some(pages)
    }

    /// Removes pages that this page shows to be outdated. Returns `false` if the cache already has
    /// a different version of the page that is at least as new.
    fn cache_page(&mut self, list: &str, number: u64, page: &Page, now: Millis) -> bool {
        let name = &page_key(list, number);
        let until = page.head.freshness.until;
        if let Some(kept) = self.pages.get(name, now) {
            if kept.head.freshness.fetched >= page.head.freshness.fetched {
                return kept.head.tag == page.head.tag;
            }
            // Cached reports may contain rows of the previous version.
            self.reports.clear();
        }
        let is_kept = |key: &str, cached: &Page| !is_outdated(key, &cached.head, list, &page.head);
        if self.pages.retain(is_kept) {
            self.reports.clear();
        }
        if page.head.freshness.is_fresh(now) {
            self.pages.insert(name, page.clone(), page.bytes(), until);
        }
        true
    }

    fn cache_report(&mut self, name: &str, report: &Report) {
        let until = report.head.freshness.until;
        self.reports
            .insert(name, report.clone(), report.bytes(), until);
    }
}

#[wasm_bindgen]
pub fn attach(description: JsString, open_stream: Function) {
    ISOLATE.with_borrow_mut(|isolate| {
        isolate.description = Some(description);
        isolate.open_stream = Some(open_stream);
    });
}

/// `None` before [`attach`].
pub fn description() -> Option<JsString> {
    ISOLATE.with_borrow(|isolate| isolate.description.clone())
}

/// Opens a `ReadableStream` that also ends if the module traps. `source.next` returns a promise of an
/// array: empty at the end, else the next chunk and, optionally, the ending. If the next call fails,
/// the stream ends with that ending. `source.cancel` is called when the client disconnects.
pub fn open_stream(source: impl Into<JsValue>, signal: &AbortSignal) -> HostResult<JsValue> {
    let open = ISOLATE.with_borrow(|isolate| isolate.open_stream.clone());
    let open = open.ok_or_else(|| HostError::new("the entry is not attached"))?;
    Ok(open.call2(&JsValue::UNDEFINED, &source.into(), signal)?)
}

pub fn with_dataset(env: &Env, run: impl FnOnce(&AnalyticsEngineDataset)) {
    ISOLATE.with_borrow(|isolate| {
        let find = || env.analytics_engine("ANALYTICS").ok();
        if let Some(dataset) = isolate.dataset.get_or_init(find) {
            run(dataset);
        }
    });
}
