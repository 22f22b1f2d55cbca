//! Pages: from the cache, or fetched from the upstream under the budget.

use std::cell::RefCell;
use std::rc::Rc;

use quillgate::{Method, Millis, Operation, Policy};

use crate::analytics::organization_object::Organization;
use crate::analytics::organization_stub::ReportCall;
use crate::analytics::page::{CacheStatus, FetchReason, FetchedBy, PageHead, fetch_reason};
use crate::analytics::page_store::is_long;
use crate::analytics::pages::Page;
use crate::budget::Refused;
use crate::budget::store::{Claimant, Slot};
use crate::http::problem::Problem;
use crate::http::response::HeaderFields;
use crate::runtime::{HostResult, SharedTask, digest_tag, now};
use crate::upstream::client::{Exchange, PageReply, UpstreamClient};
use crate::upstream::failure::slot_outcome;
use crate::upstream::metrics::ExchangeMetrics;
use crate::upstream::permits::Lane;
use crate::upstream::request::UpstreamRequest;

/// A page and its origin, or the problem that prevented it.
#[derive(Clone)]
pub(super) struct PageResult {
    pub(super) outcome: Result<(Page, CacheStatus), Problem>,
    /// `RateLimit-Policy` and `RateLimit`, if the request checked the budget.
    pub(super) headers: HeaderFields,
    pub(super) upstream: Option<ExchangeMetrics>,
    pub(super) budget_left: Option<u32>,
}

impl PageResult {
    fn from_cache(page: Page, status: CacheStatus) -> Self {
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

    /// Returns the result for a request that waited for this fetch, without this request's metrics.
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

/// When to compute the tag of a fetched page.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Tagging {
    Immediately,
    /// When a report first needs it.
    Later,
}

/// A page that is being fetched.
pub(super) struct RunningFetch {
    list: String,
    number: u64,
    task: SharedTask<HostResult<PageResult>>,
}

impl Organization {
    /// Returns a page from the cache, from a running fetch or from the upstream.
    pub(super) async fn page(
        self: &Rc<Self>,
        call: &ReportCall,
        number: u64,
        tagging: Tagging,
    ) -> HostResult<PageResult> {
        let list = &call.query.list;
        let now = now();
        let cached = self.pages.find(list, number)?;
        if let Some(page) = &cached
            && page.head.is_fresh(now)
            && !call.revalidate
        {
            let status = CacheStatus::hit(&page.head, now);
            return Ok(PageResult::from_cache(page.clone(), status));
        }
        let running = self.running_fetch(list, number);
        if let Some(task) = running {
            let result = task.wait().await??;
            if call.takes_stale || !result.is_stale() {
                return Ok(result.collapsed());
            }
        }
        match self.reserve(&budget_claim(call))? {
            Ok(slot) => {
                let task = self.spawn_fetch(call, number, cached, slot, tagging)?;
                task.wait().await?
            }
            Err(refused) => {
                let usable = cached.filter(|page| call.takes_stale && page.head.is_usable(now));
                Ok(PageResult {
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
                })
            }
        }
    }

    /// Starts a fetch that finishes even if its caller disconnects, because others may wait for it.
    fn spawn_fetch(
        self: &Rc<Self>,
        call: &ReportCall,
        number: u64,
        cached: Option<Page>,
        slot: Slot,
        tagging: Tagging,
    ) -> HostResult<SharedTask<HostResult<PageResult>>> {
        let list = call.query.list.clone();
        let (organization, call) = (Rc::clone(self), call.clone());
        let task = SharedTask::spawn(&self.state, async move {
            let result = organization
                .fetch_page(&call, number, cached, slot, tagging)
                .await;
            let mut fetches = organization.fetches.borrow_mut();
            fetches.retain(|fetch| fetch.number != number || fetch.list != call.query.list);
            result
        })?;
        self.fetches.borrow_mut().push(RunningFetch {
            list,
            number,
            task: task.clone(),
        });
        Ok(task)
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
        cached: Option<Page>,
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
        let claimant = budget_claim(call);
        let operation = call.query.operation;
        let (exchange, slot) = self.send_page(&claimant, operation, &request, slot).await?;
        let outcome = match exchange.outcome {
            Ok(reply) => {
                let reason = fetch_reason(cached.as_ref().map(|page| &page.head), call.revalidate);
                Ok(self
                    .store_page(call, number, reply, reason, tagging)
                    .await?)
            }
            Err(failure) => {
                let now = now();
                let is_transient = failure.problem.status == 429 || failure.problem.status >= 500;
                let accepts = |page: &Page| {
                    page.head.is_fresh(now) || call.takes_stale && page.head.is_usable(now)
                };
                match cached.filter(|page| is_transient && accepts(page)) {
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

    /// Sends a request for a page and settles its slot. Returns the slot of the last attempt.
    pub(super) async fn send_page(
        &self,
        claimant: &Claimant,
        operation: Operation,
        request: &UpstreamRequest,
        slot: Slot,
    ) -> HostResult<(Exchange<PageReply>, Slot)> {
        let mut page = None;
        let mut read = |text: String| {
            page = PageReply::read(operation, &text);
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

    /// Sends a request for a page. Returns the slot of the last attempt, which the caller settles.
    async fn exchange_page(
        &self,
        claimant: &Claimant,
        request: &UpstreamRequest,
        slot: Slot,
        read: &mut dyn FnMut(String) -> bool,
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

    async fn store_page(
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
        if tagging == Tagging::Immediately || is_long(&page) {
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

    /// Reserves a slot for another attempt. Returns `false` if the budget is used up.
    fn pay_again(&self, claimant: &Claimant, slot: &RefCell<Slot>) -> bool {
        let Ok(Ok(next)) = self.reserve(claimant) else {
            return false;
        };
        let first = slot.replace(next);
        self.budget.settle(first.id).is_ok()
    }

    pub(super) fn reserve(&self, claimant: &Claimant) -> HostResult<Result<Slot, Refused>> {
        self.database.transaction(|| self.budget.reserve(claimant))
    }
}

/// Builds the request to the budget for a call.
fn budget_claim(call: &ReportCall) -> Claimant {
    Claimant {
        policy: Policy::Analytics,
        caller: call.caller.clone(),
        quota: call.quota,
        ceilings: call.ceilings.clone(),
    }
}
