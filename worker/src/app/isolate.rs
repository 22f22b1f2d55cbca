//! What an isolate keeps between requests: the configuration, the tokens that were verified, hot
//! pages, key sets, the breakers and what was read lately. All of it has a bound, and none is borrowed across an await.

use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

use js_sys::{Function, JsString};
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
use crate::runtime::{HostError, HostResult, set_guard, variable};
use crate::variable::VariableError;

/// The most pages that are kept, and the most bytes of them: an isolate may use eight times as many.
const MOST_PAGES: usize = 1_000;
const MOST_PAGE_BYTES: usize = 12 * 1024 * 1024;
/// The most answers that are kept beside the pages that they are cut from, and the most bytes.
const MOST_ANSWERS: usize = 64;
const MOST_ANSWER_BYTES: usize = 4 * 1024 * 1024;
/// The most names of answers that are remembered as asked for once, and the most bytes.
const MOST_NAMES: usize = 256;
const MOST_NAME_BYTES: usize = 256 * 1024;

struct Isolate {
    config: Option<Result<Rc<Config>, VariableError>>,
    verified: VerifiedTokens,
    /// Fresh pages, by list and number.
    pages: BoundedCache<Page>,
    /// Answers that were cut from these, so that a hot one is not cut each time.
    answers: BoundedCache<ReportAnswer>,
    /// The names of answers that were cut once. Only one that is asked for again is kept: what is kept
    /// for a while and then dropped is garbage that V8 collects late.
    cut_once: BoundedCache<()>,
    reads: ReadBudget,
    /// The gateway's description, written at build time; handed over by the entry, so that it is
    /// not in the wasm.
    description: Option<JsString>,
    /// Where data points go, once it is known whether there is such a dataset.
    dataset: OnceCell<Option<AnalyticsEngineDataset>>,
}

thread_local! {
    static ISOLATE: RefCell<Isolate> = RefCell::new(Isolate {
        config: None,
        verified: VerifiedTokens::default(),
        pages: BoundedCache::new(MOST_PAGES, MOST_PAGE_BYTES),
        answers: BoundedCache::new(MOST_ANSWERS, MOST_ANSWER_BYTES),
        cut_once: BoundedCache::new(MOST_NAMES, MOST_NAME_BYTES),
        reads: ReadBudget::default(),
        description: None,
        dataset: OnceCell::new(),
    });
}

/// The configuration, which is read from the variables once.
///
/// # Errors
/// The variable that is missing or malformed.
pub fn load_config(env: &Env) -> Result<Rc<Config>, VariableError> {
    ISOLATE.with_borrow_mut(|isolate| {
        let read = || Config::read(|name| variable(env, name)).map(Rc::new);
        isolate.config.get_or_insert_with(read).clone()
    })
}

/// The configuration, where a request only gets to with a good one.
pub fn config(env: &Env) -> HostResult<Rc<Config>> {
    load_config(env).map_err(|error| HostError::new(error.to_string()))
}

/// Runs something with the tokens that were verified.
pub fn with_verified<T>(run: impl FnOnce(&mut VerifiedTokens) -> T) -> T {
    ISOLATE.with_borrow_mut(|isolate| run(&mut isolate.verified))
}

/// The answer to this query, if its pages are kept and fresh.
pub fn find_report(query: &ReportQuery, now: Millis) -> Option<ReportAnswer> {
    ISOLATE.with_borrow_mut(|isolate| {
        let name = answer_name(query);
        if let Some(answer) = isolate.answers.get(&name, now) {
            return Some(answer.clone());
        }
        let pages = isolate.find_pages(query, now)?;
        // Text that cannot be cut is not answered with: the object is asked again.
        let answer = ReportAnswer::cut(query.operation, &pages).ok()?;
        if isolate.cut_once.get(&name, now).is_some() {
            isolate.keep_answer(&name, &answer);
        } else {
            let until = answer.head.fresh_until;
            isolate.cut_once.insert(&name, (), 0, until);
        }
        Some(answer)
    })
}

/// Keeps an answer that is fresh, and the pages that it was cut from.
pub fn keep_report(
    query: &ReportQuery,
    pages: &[(Page, Piece)],
    answer: &ReportAnswer,
    now: Millis,
) {
    ISOLATE.with_borrow_mut(|isolate| {
        let mut is_latest = true;
        for (page, piece) in pages {
            is_latest &= isolate.keep_page(&page_name(&query.list, piece.number), page, now);
        }
        if is_latest {
            isolate.keep_answer(&answer_name(query), answer);
        }
    });
}

/// What an answer is kept under.
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

    /// Keeps a page while it is fresh; says whether no newer one is kept.
    fn keep_page(&mut self, name: &str, page: &Page, now: Millis) -> bool {
        let until = page.head.fresh_until;
        if let Some(kept) = self.pages.get(name, now) {
            if kept.head.fetched >= page.head.fetched {
                return kept.head.tag == page.head.tag;
            }
            // Answers that were cut from the page before must not be served beside new ones.
            self.answers.clear();
        }
        if page.head.is_fresh(now) {
            self.pages.insert(name, page.clone(), page.bytes(), until);
        }
        true
    }

    fn keep_answer(&mut self, name: &str, answer: &ReportAnswer) {
        let until = answer.head.fresh_until;
        self.answers
            .insert(name, answer.clone(), answer.bytes(), until);
    }
}

/// Runs something with what was read lately.
pub fn with_reads<T>(run: impl FnOnce(&mut ReadBudget) -> T) -> T {
    ISOLATE.with_borrow_mut(|isolate| run(&mut isolate.reads))
}

/// Takes the gateway's description, and the entry's `guard`.
#[wasm_bindgen]
pub fn attach(description: JsString, guard: Function) {
    set_guard(guard);
    ISOLATE.with_borrow_mut(|isolate| isolate.description = Some(description));
}

/// The gateway's description, as JSON.
pub fn description() -> Option<JsString> {
    ISOLATE.with_borrow(|isolate| isolate.description.clone())
}

/// Runs something with the dataset for data points, where one is bound.
pub fn with_dataset(env: &Env, run: impl FnOnce(&AnalyticsEngineDataset)) {
    ISOLATE.with_borrow(|isolate| {
        let find = || env.analytics_engine("ANALYTICS").ok();
        if let Some(dataset) = isolate.dataset.get_or_init(find) {
            run(dataset);
        }
    });
}
