use std::cell::RefCell;
use std::rc::Rc;

use quillgate::Scope;
use quillgate::pages::Totals;

use crate::analytics::organization_object::Organization;
use crate::analytics::organization_stub::{ReportCall, ReportReply};
use crate::analytics::page::{
    CacheStatus, FetchReason, Freshness, PAGE_ROWS, PageHead, page_key, slice_pages,
};
use crate::analytics::pages::Page;
use crate::budget::reservation::{BudgetRequest, Reservation};
use crate::http::problem::Problem;
use crate::http::response::{GatewayResponse, HeaderFields};
use crate::runtime::{HostResult, SharedTask, digest_tag, now};
use crate::upstream::client::{Exchange, FetchedPage};
use crate::upstream::failure::reservation_outcome;
use crate::upstream::metrics::ExchangeMetrics;
use crate::upstream::request::UpstreamRequest;

#[derive(Clone)]
pub(super) struct Lookup {
    outcome: Result<(Page, CacheStatus), Problem>,
    headers: HeaderFields,
    upstream: Option<ExchangeMetrics>,
    budget_left: Option<u32>,
}

impl Lookup {
    fn without_fetch(outcome: Result<(Page, CacheStatus), Problem>) -> Self {
        Self {
            outcome,
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

    /// Without the metrics of the fetch. `cached` is the page that the other request found.
    fn collapsed(self, report: &ReportCall, cached: Option<Page>) -> Self {
        let status = self.upstream.and_then(|exchange| exchange.status);
        Self::without_fetch(match self.outcome {
            Ok((page, cache)) => Ok((page, cache.collapsed())),
            // Unlike the request that started the fetch, this one may accept a stale page.
            Err(problem) => serve_cached(cached, report, problem, status),
        })
    }
}

/// By the page's [key](page_key). Other requests for the page wait for these.
pub(super) type RunningFetches = RefCell<Vec<(String, SharedTask<HostResult<Lookup>>)>>;

impl Organization {
    /// If totals changed between two pages, requests the outdated pages again, once. The pages can
    /// still be mixed afterwards.
    pub(super) async fn report(self: Rc<Self>, mut report: ReportCall) -> HostResult<ReportReply> {
        if report.checks_rest {
            // Changed totals make all cached pages of the list stale.
            let (list, first) = (&report.query.list, report.query.offset / PAGE_ROWS);
            let missing = self.pages.first_missing(list, first)?;
            if let Some(missing) = missing.filter(|missing| *missing > first) {
                // A failure is not final: the export requests this page again.
                self.page(&report, missing).await?;
            }
        }
        let reply = self.collect_pages(&report, ReportReply::default()).await?;
        if !Totals::are_mixed(reply.pages.iter().map(|page| page.head.totals)) {
            return Ok(reply);
        }
        report.revalidate = false;
        let earlier = ReportReply {
            pages: Vec::new(),
            ..reply.clone()
        };
        let again = self.collect_pages(&report, earlier).await?;
        Ok(if again.refusal.is_some() {
            reply
        } else {
            again
        })
    }

    /// Adds the pages, or the refusal of one of them.
    async fn collect_pages(
        self: &Rc<Self>,
        report: &ReportCall,
        mut reply: ReportReply,
    ) -> HostResult<ReportReply> {
        let mut statuses = Vec::new();
        for slice in slice_pages(report.query.offset, report.query.limit) {
            let result = self.page(report, slice.number).await?;
            if let Some(exchange) = result.upstream {
                reply.metrics.add_exchange(exchange);
            }
            reply.metrics.budget_left = result.budget_left.or(reply.metrics.budget_left);
            reply.headers = result.headers.or(reply.headers);
            let (page, status) = match result.outcome {
                Ok(found) => found,
                Err(problem) => {
                    let refusal = GatewayResponse::problem(&problem, &report.ids.id);
                    let headers = refusal.headers.or(reply.headers.clone());
                    reply.refusal = Some(GatewayResponse { headers, ..refusal });
                    return Ok(reply);
                }
            };
            statuses.push(status);
            let is_last = !page.head.has_more;
            reply.pages.push(page);
            if is_last {
                break;
            }
        }
        let cache = CacheStatus::worst(statuses);
        reply.metrics.cache = cache.map(|status| status.describe());
        Ok(reply)
    }

    async fn page(self: &Rc<Self>, report: &ReportCall, number: u64) -> HostResult<Lookup> {
        let list = &report.query.list;
        let now = now();
        let cached = self.pages.find(list, number)?;
        if let Some(page) = &cached
            && page.head.freshness.is_fresh(now)
            && !report.revalidate
        {
            let ttl = page.head.freshness.ttl(now);
            let hit = (page.clone(), CacheStatus::Hit { ttl });
            return Ok(Lookup::without_fetch(Ok(hit)));
        }
        // A fetch can end with a stale page, after which a waiting request may start another fetch.
        let key = page_key(list, number);
        let running = || {
            let fetches = self.fetches.borrow();
            let own = fetches.iter().find(|(page, _)| *page == key);
            own.map(|(_, task)| task.clone())
        };
        while let Some(task) = running() {
            let result = task.wait().await??;
            if report.accepts_stale || !result.is_stale() {
                return Ok(result.collapsed(report, cached));
            }
        }
        let reservation = match self.reserve(&report.budget)? {
            Ok(reservation) => reservation,
            Err(problem) => {
                let usable = cached.filter(|page| {
                    report.accepts_stale && now < page.head.freshness.usable_until()
                });
                let result = usable.map(|page| {
                    let ttl = page.head.freshness.ttl(now);
                    (page, CacheStatus::BudgetSpent { ttl })
                });
                let headers: HeaderFields = problem.headers.iter().cloned().collect();
                return Ok(Lookup {
                    headers: headers.without("retry-after"),
                    budget_left: Some(0),
                    ..Lookup::without_fetch(result.ok_or(problem))
                });
            }
        };
        // The fetch continues without its caller, because other requests may wait for it.
        let (organization, report, own_key) = (Rc::clone(self), report.clone(), key.clone());
        let task = SharedTask::spawn(&self.state, async move {
            let fetched = organization.fetch_page(&report, number, cached, reservation);
            let result = fetched.await;
            let mut running = organization.fetches.borrow_mut();
            running.retain(|(page, _)| *page != own_key);
            result
        })?;
        self.fetches.borrow_mut().push((key, task.clone()));
        task.wait().await?
    }

    async fn fetch_page(
        &self,
        report: &ReportCall,
        number: u64,
        cached: Option<Page>,
        reservation: Reservation,
    ) -> HostResult<Lookup> {
        let query = &report.query;
        let request = UpstreamRequest {
            operation: query.operation,
            ids: &report.ids,
            target: &query.page_target(number),
            body: None,
        };
        let (exchange, reservation) = self
            .send_page(&report.budget, &request, reservation)
            .await?;
        let outcome = match exchange.outcome {
            Ok(reply) => {
                let reason = match &cached {
                    _ if report.revalidate => FetchReason::Request,
                    Some(_) => FetchReason::Stale,
                    None => FetchReason::Missing,
                };
                let fetched = now();
                let head = PageHead {
                    tag: digest_tag(&reply.text).await?,
                    rows: reply.rows,
                    has_more: reply.has_more,
                    totals: reply.totals,
                    freshness: Freshness {
                        fetched,
                        until: fetched.plus(query.fresh_for),
                    },
                };
                let page = Page::new(head, reply.text);
                // Conversations contain personal data, and never reach the disk.
                if query.operation.declaration().scope != Scope::ReadConversations {
                    self.pages.insert(&query.list, number, &page)?;
                }
                self.pages.cache(&query.list, number, &page);
                Ok((page, CacheStatus::Fetched(reason)))
            }
            Err(failure) => serve_cached(cached, report, failure.problem, exchange.metrics.status),
        };
        Ok(Lookup {
            outcome,
            headers: reservation.fields,
            upstream: Some(exchange.metrics),
            budget_left: Some(reservation.left),
        })
    }

    /// Also returns the reservation of the last attempt, after its settlement or release.
    pub(super) async fn send_page(
        &self,
        budget: &BudgetRequest,
        request: &UpstreamRequest<'_>,
        reservation: Reservation,
    ) -> HostResult<(Exchange<FetchedPage>, Reservation)> {
        let reservation = RefCell::new(reservation);
        let postpone = || self.budget.postpone(reservation.borrow().id);
        let mut pay = || self.pay_again(budget, &reservation);
        let sent = self
            .connections
            .send(&self.upstream, request, postpone, &mut pay)
            .await;
        let exchange = sent.read(request, |page| FetchedPage::read(request.operation, page));
        let reservation = reservation.into_inner();
        let outcome = reservation_outcome(&exchange.outcome);
        self.database
            .transaction(|| self.budget.conclude(&reservation, outcome))?;
        Ok((exchange, reservation))
    }

    /// A retry must not be sent if this returns `false`.
    fn pay_again(&self, budget: &BudgetRequest, reservation: &RefCell<Reservation>) -> bool {
        let paid = self.database.transaction(|| {
            let Ok(next) = self.budget.reserve(budget, self.upstream.timeout)? else {
                return Ok(None);
            };
            self.budget.settle(reservation.borrow().id)?;
            Ok(Some(next))
        });
        let Ok(Some(next)) = paid else { return false };
        reservation.replace(next);
        true
    }

    pub(super) fn reserve(
        &self,
        budget: &BudgetRequest,
    ) -> HostResult<Result<Reservation, Problem>> {
        let hold = self.upstream.timeout;
        self.database
            .transaction(|| self.budget.reserve(budget, hold))
    }
}

/// After a temporary failure, a fresh page, or a stale one if the caller accepts it. `status` is
/// Mintlify's.
fn serve_cached(
    cached: Option<Page>,
    report: &ReportCall,
    problem: Problem,
    status: Option<u16>,
) -> Result<(Page, CacheStatus), Problem> {
    let now = now();
    let is_transient = problem.status == 429 || problem.status >= 500;
    let accepts = |page: &Page| {
        page.head.freshness.is_fresh(now)
            || report.accepts_stale && now < page.head.freshness.usable_until()
    };
    let Some(page) = cached.filter(|page| is_transient && accepts(page)) else {
        return Err(problem);
    };
    let status = CacheStatus::upstream_failed(page.head.freshness, status, now);
    Ok((page, status))
}

#[cfg(test)]
mod tests;
