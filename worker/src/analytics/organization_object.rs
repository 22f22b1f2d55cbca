//! The object of the organisation's analytics: its one budget, the pages that were fetched under
//! it, and the keys of trusted issuers, which are fetched once for everybody.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use js_sys::{JsString, Promise};
use quillgate::{Method, Millis, Operation, Policy};
use serde::Deserialize;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;
use worker::{DurableObject, Env, Request, Response, State, durable_object};

mod archive;
mod export;

use crate::analytics::archive::run_lock::RunLock;
use crate::analytics::archive::store::ArchiveStore;
use crate::analytics::health::{OrgBudgets, OrgHealth};
use crate::analytics::organization_stub::{KeySetReply, ReportCall, ReportPages, ReportReply};
use crate::analytics::page::{
    CacheStatus, FetchReason, FetchedBy, PageHead, fetch_reason, split_into_pieces,
};
use crate::analytics::page_store::{PAGE_PART_TABLES, PAGE_TABLES, PageStore, is_long};
use crate::analytics::pages::Page;
use crate::analytics::settings::AnalyticsSettings;
use crate::analytics::waiting_exports::WaitingExports;
use crate::auth::jwks::{KeySet, KeySource, Lookup};
use crate::auth::settings::AuthSettings;
use crate::auth::trusted_issuer::TrustedIssuer;
use crate::budget::Refused;
use crate::budget::limits::Limits;
use crate::budget::store::{
    BUDGET_TABLES, BudgetStore, CEILING_COLUMN, Claimant, PROBE_TABLES, Slot,
};
use crate::http::problem::Problem;
use crate::http::response::{GatewayResponse, HeaderFields};
use crate::log::format_operator_line;
use crate::runtime::{
    Database, HostError, HostResult, SharedTask, digest_tag, into_promise, log_error, migrate, now,
    number, read_policy, read_settings, receive, send_back, text,
};
use crate::upstream::breakers::breaker_state;
use crate::upstream::client::{Exchange, PageReply, UpstreamClient};
use crate::upstream::connections::Connections;
use crate::upstream::failure::slot_outcome;
use crate::upstream::metrics::{ExchangeMetrics, RequestMetrics};
use crate::upstream::permits::Lane;
use crate::upstream::request::UpstreamRequest;
use crate::upstream::settings::UpstreamSettings;
use crate::upstream::transport::{Outgoing, send};

const STEPS: [&str; 6] = [
    BUDGET_TABLES,
    PAGE_TABLES,
    KEY_SET_TABLE,
    CEILING_COLUMN,
    PAGE_PART_TABLES,
    PROBE_TABLES,
];
/// The key sets of the configured issuers, by address.
const KEY_SET_TABLE: &str = "
  CREATE TABLE key_set (
    address TEXT PRIMARY KEY,
    text TEXT NOT NULL,
    fetched INTEGER NOT NULL
  );
";
/// How long an issuer may take to answer with its keys.
const KEYS_TIME: Millis = Millis::from_seconds(5);
/// Far more bytes than any issuer's keys have.
const LONGEST_KEYS: u32 = 128 * 1024;

/// The object as the runtime has it.
#[durable_object(fetch)]
pub struct OrgGate {
    /// Why there is none, when its records cannot be opened.
    gate: HostResult<Rc<Gate>>,
}

impl DurableObject for OrgGate {
    fn new(state: State, env: Env) -> Self {
        Self {
            gate: Gate::open(state, &env).map(Rc::new),
        }
    }

    async fn fetch(&self, _: Request) -> worker::Result<Response> {
        Err(HostError::new("this object has no address").into())
    }
}

#[wasm_bindgen]
impl OrgGate {
    /// Answers with a report: a [`ReportCall`], answered by a [`ReportReply`].
    pub fn report(&self, call: JsValue) -> Promise {
        let gate = self.gate();
        into_promise(async move { send_back(&gate?.report(receive(call)?).await?) })
    }

    /// Answers with the next rows of an export: an `ExportCall`, answered by an `ExportReply`.
    pub fn export(&self, call: JsValue) -> Promise {
        let gate = self.gate();
        into_promise(async move { send_back(&gate?.export(receive(call)?).await?) })
    }

    /// Holds a place for an export that waits for the budget: `null`, or the [`GatewayResponse`] of a
    /// refusal.
    #[wasm_bindgen(js_name = holdExport)]
    pub fn hold_export(&self, export: &str, caller: &str) -> Result<JsValue, JsValue> {
        Ok(send_back(&self.gate()?.hold_export(export, caller))?)
    }

    /// Frees the place of an export that has ended.
    #[wasm_bindgen(js_name = releaseExport)]
    pub fn release_export(&self, export: &str) -> Result<(), JsValue> {
        let gate = self.gate()?;
        gate.waiting_exports.borrow_mut().release(export);
        Ok(())
    }

    /// The JWK Set of a trusted issuer, which has this key unless the issuer does not have it: a
    /// [`KeySetReply`], or `null` when it is not available.
    #[wasm_bindgen(js_name = keySet)]
    pub fn key_set(&self, address: String, kid: String) -> Promise {
        let gate = self.gate();
        into_promise(async move { send_back(&gate?.key_set(&address, &kid).await?) })
    }

    /// Lets the daily archive go on.
    pub fn archive(&self) -> Promise {
        let gate = self.gate();
        into_promise(async move {
            gate?.archive().await?;
            Ok(JsValue::UNDEFINED)
        })
    }

    /// Opens a policy that the upstream has closed.
    pub fn reopen(&self, policy: &str) -> Result<(), JsValue> {
        Ok(self.gate()?.budget.reopen(read_policy(policy)?)?)
    }

    /// What an operator is told: an [`OrgHealth`].
    pub fn health(&self) -> Result<JsValue, JsValue> {
        Ok(send_back(&self.gate()?.health()?)?)
    }
}

#[cfg(feature = "trap-route")]
#[wasm_bindgen]
impl OrgGate {
    /// Traps.
    #[expect(
        clippy::unused_self,
        reason = "a method of the class that the entry calls"
    )]
    pub fn trap(&self) -> Promise {
        crate::runtime::trap::trap_later()
    }
}

impl OrgGate {
    fn gate(&self) -> HostResult<Rc<Gate>> {
        self.gate.clone()
    }
}

/// A page and how it was come by, or why it is not available.
#[derive(Clone)]
struct PageResult {
    outcome: Result<(Page, CacheStatus), Problem>,
    /// `RateLimit-Policy` and `RateLimit`, when the budget was asked.
    headers: HeaderFields,
    upstream: Option<ExchangeMetrics>,
    budget_left: Option<u32>,
}

impl PageResult {
    fn from_kept(page: Page, status: CacheStatus) -> Self {
        Self {
            outcome: Ok((page, status)),
            headers: HeaderFields::default(),
            upstream: None,
            budget_left: None,
        }
    }

    fn is_stale(&self) -> bool {
        self.outcome
            .as_ref()
            .is_ok_and(|(_, status)| status.is_stale())
    }

    /// What another's fetch gives to one who waited for it: nothing of that one's own.
    fn collapsed(self) -> Self {
        Self {
            outcome: self
                .outcome
                .map(|(page, status)| (page, status.collapsed())),
            headers: HeaderFields::default(),
            upstream: None,
            budget_left: None,
        }
    }
}

/// When a page that is fetched gets its tag.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Tagging {
    AtOnce,
    /// When somebody wants it: see [`Gate::tag`].
    Later,
}

/// A page that is being fetched.
struct RunningFetch {
    list: String,
    number: u64,
    task: SharedTask<HostResult<PageResult>>,
}

/// The keys of an issuer.
struct IssuerKeys {
    address: String,
    source: KeySource,
    running: Option<SharedTask<()>>,
}

#[derive(Deserialize)]
struct KeySetRow {
    address: String,
    text: String,
    fetched: u64,
}

struct Gate {
    state: State,
    settings: AnalyticsSettings,
    upstream: UpstreamSettings,
    database: Rc<Database>,
    budget: BudgetStore,
    pages: PageStore,
    connections: Connections,
    /// Fetches under way by list and number: whoever wants such a page waits for it.
    fetches: RefCell<Vec<RunningFetch>>,
    /// The exports that wait for the budget.
    waiting_exports: RefCell<WaitingExports>,
    keys: RefCell<Vec<IssuerKeys>>,
    /// How often it was asked for an issuer's keys since it was opened.
    key_set_calls: Cell<u64>,
    /// Where days are kept, if anywhere.
    archive: Option<ArchiveStore>,
    /// The archive's lock: runs never overlap.
    archive_lock: RefCell<RunLock>,
}

impl Gate {
    fn open(state: State, env: &Env) -> HostResult<Self> {
        let limits = read_settings(env, Limits::read)?;
        let upstream = read_settings(env, UpstreamSettings::read)?;
        let settings = read_settings(env, |variables| AnalyticsSettings::read(variables, &limits))?;
        let auth = read_settings(env, AuthSettings::read)?;
        let database = Rc::new(Database::new(state.storage()));
        migrate(&database, &STEPS)?;
        Ok(Self {
            budget: BudgetStore::open(Rc::clone(&database), limits, upstream.timeout)?,
            pages: PageStore::open(Rc::clone(&database))?,
            connections: Connections::default(),
            fetches: RefCell::default(),
            waiting_exports: RefCell::default(),
            keys: RefCell::new(restore_keys(&database, &auth.trusted_issuers, now())?),
            key_set_calls: Cell::new(0),
            archive: ArchiveStore::open(env)?,
            archive_lock: RefCell::default(),
            state,
            settings,
            upstream,
            database,
        })
    }

    // --- reports -----------------------------------------------------------

    /// Answers with a report, from what is kept or from upstream.
    async fn report(self: Rc<Self>, call: ReportCall) -> HostResult<ReportReply> {
        let (mut first, mut second) = (None, None);
        let mut headers = HeaderFields::default();
        let mut metrics = RequestMetrics::default();
        let mut cache: Option<CacheStatus> = None;
        for piece in split_into_pieces(call.query.offset, call.query.limit) {
            let result = self.page(&call, piece.number, Tagging::AtOnce).await?;
            metrics.upstream = result.upstream;
            metrics.budget_left = result.budget_left;
            headers = result.headers.or(headers);
            let (page, status) = match result.outcome {
                Ok(found) => found,
                Err(problem) => {
                    return Ok(ReportReply {
                        pages: None,
                        refusal: Some(refuse(&problem, &call.id, headers)),
                        metrics,
                    });
                }
            };
            let page = self.tag(&call.query.list, piece.number, page).await?;
            cache = Some(match cache {
                Some(earlier) => earlier.worse(status),
                None => status,
            });
            let is_last = !page.head.has_more;
            // An answer has at most as many rows as a page, so they are on two at most.
            if first.is_none() {
                first = Some(page.into());
            } else {
                second = Some(page.into());
            }
            if is_last {
                break;
            }
        }
        let (Some(first), Some(cache)) = (first, cache) else {
            return Err(HostError::new("an answer without a page"));
        };
        let cache = cache.describe();
        metrics.cache = Some(cache.clone());
        Ok(ReportReply {
            refusal: None,
            pages: Some(ReportPages {
                first,
                second,
                cache,
                headers,
            }),
            metrics,
        })
    }

    /// The page with its tag, which an export leaves to whoever needs it.
    async fn tag(&self, list: &str, number: u64, mut page: Page) -> HostResult<Page> {
        if page.head.tag.is_empty() {
            page.head.tag = digest_tag(&page.text).await?;
            self.pages.keep_tag(list, number, &page)?;
        }
        Ok(page)
    }

    async fn page(
        self: &Rc<Self>,
        call: &ReportCall,
        number: u64,
        tagging: Tagging,
    ) -> HostResult<PageResult> {
        let list = &call.query.list;
        let now = now();
        let kept = self.pages.find(list, number)?;
        if let Some(page) = &kept
            && page.head.is_fresh(now)
            && !call.revalidate
        {
            let status = CacheStatus::hit(&page.head, now);
            return Ok(PageResult::from_kept(page.clone(), status));
        }
        let running = self.running_fetch(list, number);
        if let Some(task) = running {
            let result = task.wait().await??;
            if call.takes_stale || !result.is_stale() {
                return Ok(result.collapsed());
            }
        }
        let slot = match self.reserve(&claimant_of(call))? {
            Ok(slot) => slot,
            Err(refused) => {
                let usable = kept.filter(|page| call.takes_stale && page.head.is_usable(now));
                return Ok(PageResult {
                    outcome: match usable {
                        Some(page) => {
                            let status = CacheStatus::budget_spent(&page.head, now);
                            Ok((page, status))
                        }
                        None => Err(refused.problem),
                    },
                    headers: refused.fields.into_headers(),
                    upstream: None,
                    budget_left: Some(0),
                });
            }
        };
        let (gate, list, call) = (Rc::clone(self), list.clone(), call.clone());
        // The caller may leave, and with it nobody else's page.
        let task = SharedTask::spawn(&self.state, async move {
            let result = gate.fetch_page(&call, number, kept, slot, tagging).await;
            let mut fetches = gate.fetches.borrow_mut();
            fetches.retain(|fetch| fetch.number != number || fetch.list != call.query.list);
            result
        })?;
        self.fetches.borrow_mut().push(RunningFetch {
            list,
            number,
            task: task.clone(),
        });
        task.wait().await?
    }

    fn running_fetch(&self, list: &str, number: u64) -> Option<SharedTask<HostResult<PageResult>>> {
        let fetches = self.fetches.borrow();
        let mut fetches = fetches.iter();
        let running = fetches.find(|fetch| fetch.number == number && fetch.list == list);
        running.map(|fetch| fetch.task.clone())
    }

    async fn fetch_page(
        &self,
        call: &ReportCall,
        number: u64,
        kept: Option<Page>,
        slot: Slot,
        tagging: Tagging,
    ) -> HostResult<PageResult> {
        let request = UpstreamRequest {
            method: Method::Get,
            target: call.query.page_target(number),
            body: None,
            traceparent: call.traceparent.clone(),
            tracestate: call.tracestate.clone(),
        };
        let claimant = claimant_of(call);
        let operation = call.query.operation;
        let (exchange, slot) = self.send_page(&claimant, operation, &request, slot).await?;
        let outcome = match exchange.outcome {
            Ok(reply) => {
                let reason = fetch_reason(kept.as_ref().map(|page| &page.head), call.revalidate);
                Ok(self.keep_page(call, number, reply, reason, tagging).await?)
            }
            Err(failure) => {
                let now = now();
                let is_passing = failure.problem.status == 429 || failure.problem.status >= 500;
                let accepts = |page: &Page| {
                    page.head.is_fresh(now) || call.takes_stale && page.head.is_usable(now)
                };
                match kept.filter(|page| is_passing && accepts(page)) {
                    Some(page) => {
                        let status = exchange.metrics.status;
                        let status = CacheStatus::upstream_failed(&page.head, status, now);
                        Ok((page, status))
                    }
                    None => Err(failure.problem),
                }
            }
        };
        Ok(PageResult {
            outcome,
            headers: slot.fields.into_headers(),
            upstream: Some(exchange.metrics),
            budget_left: Some(slot.left),
        })
    }

    /// Sends a request for a page under a slot, which it settles. Gives the slot of the last attempt.
    async fn send_page(
        &self,
        claimant: &Claimant,
        operation: Operation,
        request: &UpstreamRequest,
        slot: Slot,
    ) -> HostResult<(Exchange<PageReply>, Slot)> {
        let mut page = None;
        let mut read = |text| {
            page = PageReply::read(operation, text);
            page.is_some()
        };
        let exchange = self.exchange_page(claimant, request, slot, &mut read);
        let (exchange, slot) = exchange.await?;
        let exchange = exchange.with(page);
        let outcome = slot_outcome(&exchange.outcome);
        self.database
            .transaction(|| self.budget.conclude(&slot, outcome))?;
        Ok((exchange, slot))
    }

    /// Sends a request for a page under a slot, which is left for the caller to settle. Gives the
    /// slot of the last attempt.
    async fn exchange_page(
        &self,
        claimant: &Claimant,
        request: &UpstreamRequest,
        slot: Slot,
        read: &mut dyn FnMut(JsString) -> bool,
    ) -> HostResult<(Exchange<()>, Slot)> {
        let time = self.upstream.timeout;
        let permit = self.connections.acquire(Lane::ReadPage, time).await;
        if let Ok(permit) = &permit
            && permit.has_waited
        {
            self.budget.postpone(slot.id)?;
        }
        let slot = RefCell::new(slot);
        let mut pay = || self.pay_again(claimant, &slot);
        let exchange = match permit {
            Ok(_held) => {
                let client = UpstreamClient::new(&self.upstream);
                client.read_page(request, &mut pay, read).await
            }
            Err(problem) => Exchange::not_sent(problem),
        };
        Ok((exchange, slot.into_inner()))
    }

    async fn keep_page(
        &self,
        call: &ReportCall,
        number: u64,
        reply: PageReply,
        reason: FetchReason,
        tagging: Tagging,
    ) -> HostResult<(Page, CacheStatus)> {
        let fetched = now();
        let head = PageHead {
            tag: String::new(),
            rows: reply.rows,
            has_more: reply.has_more,
            fetched,
            fresh_until: fetched.plus(Millis(call.query.fresh_for)),
        };
        let mut page = Page::new(head, reply.text);
        if tagging == Tagging::AtOnce || is_long(&page) {
            page.head.tag = digest_tag(&page.text).await?;
        }
        if call.query.may_be_stored() {
            self.pages.keep(&call.query.list, number, &page)?;
        } else {
            self.pages.remember(&call.query.list, number, &page);
        }
        let by = FetchedBy::Itself;
        Ok((page, CacheStatus::Fetched { reason, by }))
    }

    /// Pays for the repetition of a request; a budget that is used up has none.
    fn pay_again(&self, claimant: &Claimant, slot: &RefCell<Slot>) -> bool {
        let Ok(Ok(next)) = self.reserve(claimant) else {
            return false;
        };
        let first = slot.replace(next);
        self.budget.settle(first.id).is_ok()
    }

    fn reserve(&self, claimant: &Claimant) -> HostResult<Result<Slot, Refused>> {
        self.database.transaction(|| self.budget.reserve(claimant))
    }

    // --- key sets ----------------------------------------------------------

    async fn key_set(self: Rc<Self>, address: &str, kid: &str) -> HostResult<Option<KeySetReply>> {
        self.key_set_calls.set(self.key_set_calls.get() + 1);
        let (lookup, running) = self.with_keys(address, |keys| {
            let is_fetching = keys.running.is_some();
            let lookup = keys.source.look_up(kid, is_fetching, now());
            (lookup, keys.running.clone())
        });
        if lookup == Lookup::Fetch {
            let fetch = match running {
                Some(fetch) => fetch,
                None => self.fetch_keys(address)?,
            };
            fetch.wait().await?;
        }
        Ok(self.with_keys(address, |keys| {
            let set = keys.source.usable_set(now());
            set.map(|set| KeySetReply {
                text: set.text.clone(),
                fetched: set.fetched.0,
            })
        }))
    }

    fn fetch_keys(self: &Rc<Self>, address: &str) -> HostResult<SharedTask<()>> {
        let (gate, name) = (Rc::clone(self), address.to_owned());
        let fetch = SharedTask::spawn(&self.state, async move {
            let set = fetch_key_set(&name).await;
            if let Some(set) = &set
                && let Err(error) = gate.keep_key_set(&name, set)
            {
                // It is used all the same; only an outage would miss it.
                log_error(&format_operator_line(&error.to_string()));
            }
            gate.with_keys(&name, |keys| {
                keys.running = None;
                if set.is_some() {
                    keys.source.set = set;
                }
            });
        })?;
        self.with_keys(address, |keys| keys.running = Some(fetch.clone()));
        Ok(fetch)
    }

    fn keep_key_set(&self, address: &str, set: &KeySet) -> HostResult<()> {
        let insert = "INSERT OR REPLACE INTO key_set (address, text, fetched) VALUES (?, ?, ?)";
        let row = [text(address), text(&set.text), number(set.fetched.0)];
        self.database.execute(insert, row)
    }

    fn with_keys<T>(&self, address: &str, run: impl FnOnce(&mut IssuerKeys) -> T) -> T {
        let mut all = self.keys.borrow_mut();
        // Addresses are the configuration's: there are no more of them than issuers.
        let known = all.iter().position(|keys| keys.address == address);
        let at = known.unwrap_or_else(|| {
            all.push(IssuerKeys {
                address: address.to_owned(),
                source: KeySource::default(),
                running: None,
            });
            all.len() - 1
        });
        run(&mut all[at])
    }

    // --- health ------------------------------------------------------------

    /// What an operator is told.
    fn health(&self) -> HostResult<OrgHealth> {
        Ok(OrgHealth {
            breaker: breaker_state(&list_reports(), None, now()),
            budgets: OrgBudgets {
                analytics: self.budget.health(Policy::Analytics),
            },
            cached_pages: self.pages.count()?,
            key_set_calls: self.key_set_calls.get(),
        })
    }
}

/// The answer that says why there is no page, with what is said about the budget.
fn refuse(problem: &Problem, id: &str, headers: HeaderFields) -> GatewayResponse {
    let response = GatewayResponse::problem(problem, id);
    let headers = response.headers.or(headers);
    GatewayResponse {
        headers,
        ..response
    }
}

/// Who asks for a slot to answer a call.
fn claimant_of(call: &ReportCall) -> Claimant {
    Claimant {
        policy: Policy::Analytics,
        caller: call.caller.clone(),
        quota: call.quota,
        ceilings: call.ceilings.clone(),
    }
}

/// The operations that share the budget of analytics.
fn list_reports() -> Vec<Operation> {
    let mut reports = Operation::ALL.to_vec();
    reports.retain(|operation| operation.declaration().policy == Some(Policy::Analytics));
    reports
}

/// The key sets that are kept. Those that nobody will use again go.
fn restore_keys(
    database: &Database,
    issuers: &[TrustedIssuer],
    now: Millis,
) -> HostResult<Vec<IssuerKeys>> {
    let mut restored = Vec::new();
    for row in database.rows::<KeySetRow>("SELECT address, text, fetched FROM key_set", [])? {
        let KeySetRow {
            address,
            text: set,
            fetched,
        } = row;
        let mut issuers = issuers.iter();
        let is_configured = issuers.any(|issuer| issuer.jwks == address);
        let set = KeySet::read(set, Millis(fetched)).ok();
        if let Some(set) = set.filter(|set| is_configured && set.is_usable(now)) {
            restored.push(IssuerKeys {
                address,
                source: KeySource::from_kept(set),
                running: None,
            });
        } else {
            let delete = "DELETE FROM key_set WHERE address = ?";
            database.execute(delete, [text(&address)])?;
        }
    }
    Ok(restored)
}

/// Fetches a key set; `None` for what is not one.
async fn fetch_key_set(address: &str) -> Option<KeySet> {
    let sent = send(Outgoing {
        method: "GET",
        url: address,
        headers: HeaderFields::default().with("accept", "application/json"),
        body: None,
        time: KEYS_TIME,
        longest: LONGEST_KEYS,
    });
    let message = sent.await.ok()?;
    if message.head.status != 200 {
        message.discard();
        return None;
    }
    let text = message.text()?.as_string()?;
    KeySet::read(text, now()).ok()
}
