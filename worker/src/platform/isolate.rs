//! What an isolate keeps between requests: the configuration, the tokens that were verified, hot
//! pages, key sets, the breakers and what was read lately. All of it has a bound, and none is borrowed across an await.

use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

use js_sys::JsString;
use quillgate::Millis;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;
use worker::{AnalyticsEngineDataset, Env};

use super::error::{HostError, HostResult};
use crate::bounded_cache::BoundedCache;
use crate::breaker::{Breakers, State};
use crate::config::Config;
use crate::identity::VerifiedTokens;
use crate::identity::jwks::RememberedSet;
use crate::read_budget::ReadBudget;
use crate::route::Operation;
use crate::variable::VariableError;
use crate::views::page::ViewsHead;

/// The most bytes of hot pages: a quarter of what an isolate may use is far more.
const MOST_BYTES: usize = 16 * 1024 * 1024;
/// The most hot answers.
const MOST_VIEWS: usize = 4_000;

/// An answer with page views that is hot. Its text stays a JavaScript string.
#[derive(Debug, Clone)]
pub struct HotViews {
    /// What its header fields are made of.
    pub head: ViewsHead,
    /// The body.
    pub body: JsString,
}

struct Isolate {
    config: Option<Result<Rc<Config>, VariableError>>,
    verified: VerifiedTokens,
    views: BoundedCache<HotViews>,
    key_sets: Vec<(String, RememberedSet)>,
    breakers: Breakers,
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
        views: BoundedCache::new(MOST_VIEWS, MOST_BYTES),
        key_sets: Vec::new(),
        breakers: Breakers::default(),
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

/// A variable or a secret; what is not text is not one.
fn variable(env: &Env, name: &str) -> Option<String> {
    let value = js_sys::Reflect::get(env, &JsValue::from_str(name)).ok()?;
    value.as_string()
}

/// Runs something with the tokens that were verified.
pub fn with_verified<T>(run: impl FnOnce(&mut VerifiedTokens) -> T) -> T {
    ISOLATE.with_borrow_mut(|isolate| run(&mut isolate.verified))
}

/// Runs something with what is remembered of the key set at an address.
pub fn with_key_set<T>(address: &str, run: impl FnOnce(&mut RememberedSet) -> T) -> T {
    ISOLATE.with_borrow_mut(|isolate| {
        let sets = &mut isolate.key_sets;
        // Addresses are the configuration's: there are no more of them than issuers.
        let known = sets.iter().position(|(own, _)| own == address);
        let at = known.unwrap_or_else(|| {
            sets.push((address.to_owned(), RememberedSet::default()));
            sets.len() - 1
        });
        run(&mut sets[at].1)
    })
}

/// The hot answer of this name.
pub fn hot_views(name: &str, now: Millis) -> Option<HotViews> {
    ISOLATE.with_borrow(|isolate| isolate.views.get(name, now).cloned())
}

/// Keeps a hot answer while it is fresh.
pub fn keep_views(name: &str, views: HotViews) {
    // A character of a JavaScript string has two bytes at most.
    let bytes = views.body.length() as usize * 2;
    let until = views.head.fresh_until;
    ISOLATE.with_borrow_mut(|isolate| isolate.views.insert(name, views, bytes, until));
}

/// Runs something with the breakers.
pub fn with_breakers<T>(run: impl FnOnce(&mut Breakers) -> T) -> T {
    ISOLATE.with_borrow_mut(|isolate| run(&mut isolate.breakers))
}

/// What the breakers do with these operations, in this project or in any.
pub fn breaker_state(operations: &[Operation], project: Option<&str>, now: Millis) -> State {
    with_breakers(|breakers| breakers.state(operations, project, now))
}

/// Runs something with what was read lately.
pub fn with_reads<T>(run: impl FnOnce(&mut ReadBudget) -> T) -> T {
    ISOLATE.with_borrow_mut(|isolate| run(&mut isolate.reads))
}

/// Takes the gateway's description.
#[wasm_bindgen(js_name = setDescription)]
pub fn set_description(text: JsString) {
    ISOLATE.with_borrow_mut(|isolate| isolate.description = Some(text));
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
