//! Exports: their rows are written where the pages are, and several pages that follow one another
//! answer one call. These are paid for together, checked and written in one pass, and stored in one
//! transaction.

use std::cell::{Cell, RefCell};
use std::ops::Range;
use std::rc::Rc;

use js_sys::{JsString, Uint8Array};
use quillgate::columns::columns;
use quillgate::declaration::Pagination;
use quillgate::export::{PageEnd, RowWriter};
use quillgate::{Method, Millis};

use super::super::page_store::is_long;
use super::super::rpc::{ExportCall, ExportReply, ReportCall};
use super::{Claimant, Gate, Slot, Tagging, claimant_of, refuse};
use crate::log::RequestMetrics;
use crate::permits::Lane;
use crate::platform::{
    BegunPage, Course, HostError, HostResult, Page, Permit, SharedTask, UpstreamClient, Wait, Wake,
    digest_tag, encode_text, now, yield_now,
};
use crate::problem::Problem;
use crate::reports::export::ends_with_more;
use crate::reports::page::{PAGE_ROWS, PageHead};
use crate::response::{GatewayResponse, HeaderFields};
use crate::upstream::{UpstreamFailure, UpstreamRequest, classify_malformed};

/// How long rows wait for those of the next page.
const LONGEST_TURN: Millis = Millis(40);
/// How many characters at the end of a page are looked at for whether there is more.
const LONGEST_END: u32 = 32;
/// After how many bytes no further page is added.
const MOST_BYTES: usize = 768 * 1024;

/// Several pages that are being fetched.
pub(super) struct RunningTurn {
    list: String,
    pages: Range<u64>,
    task: SharedTask<()>,
}

/// A request for a page that was sent before the page before was gone through.
struct Ahead {
    request: UpstreamRequest,
    begun: (Permit, BegunPage),
}

fn write_request(report: &ReportCall, number: u64) -> UpstreamRequest {
    UpstreamRequest {
        method: Method::Get,
        target: report.query.page_target(number),
        body: None,
        traceparent: report.traceparent.clone(),
        tracestate: report.tracestate.clone(),
    }
}

/// What has come of several pages.
struct Turn {
    written: RefCell<Written>,
    ends: Millis,
    /// What answers the call.
    wake: RefCell<Option<Wake>>,
    /// Whether it is answered: what still comes is kept for the next one.
    is_answered: Cell<bool>,
}

/// Rows that were written.
#[derive(Default)]
struct Written {
    text: Vec<u8>,
    rows: Vec<u64>,
    ends: Vec<u64>,
    last: PageEnd,
    problem: Option<Problem>,
    headers: HeaderFields,
    metrics: RequestMetrics,
    /// Why nothing can be said.
    error: Option<HostError>,
}

impl Written {
    fn push(&mut self, end: PageEnd) {
        self.rows.push(end.rows);
        self.ends.push(self.text.len() as u64);
        self.last = end;
    }

    fn into_reply(self, id: &str) -> HostResult<ExportReply> {
        if let Some(error) = self.error {
            return Err(error);
        }
        let refusal = self
            .problem
            .map(|problem| refuse(&problem, id, self.headers.clone()));
        Ok(ExportReply {
            text: Uint8Array::from(&self.text[..]),
            rows: self.rows,
            ends: self.ends,
            has_more: self.last.has_more,
            next_cursor: self.last.next_cursor,
            refusal,
            headers: self.headers,
            metrics: self.metrics,
        })
    }
}

/// Writes the rows of a report.
struct Writer<'a> {
    call: &'a ExportCall,
    rows: RowWriter,
    member: &'static str,
}

impl<'a> Writer<'a> {
    fn new(call: &'a ExportCall) -> Self {
        let operation = call.report.query.operation;
        Self {
            call,
            rows: RowWriter::new(call.format, &columns(operation)),
            member: operation.declaration().pagination.rows().unwrap_or(""),
        }
    }

    /// Writes the rows of a page that was checked.
    fn write(&self, text: &JsString, out: &mut Vec<u8>) -> Option<PageEnd> {
        let page = String::from_utf8(encode_text(text)).ok()?;
        let end = self.rows.push_rows(&page, self.member, self.call.skip, out);
        end.ok()
    }

    /// Checks a page and writes its rows but for the first few.
    fn check(&self, text: &JsString, skip: u64, out: &mut Vec<u8>) -> Option<PageEnd> {
        let before = out.len();
        let page = String::from_utf8(encode_text(text)).ok()?;
        let promised = self.call.report.query.operation.result();
        let end = self
            .rows
            .push_promised_rows(&page, promised, self.member, skip, out);
        let end = end.ok().filter(|end| end.rows <= PAGE_ROWS);
        if end.is_none() {
            out.truncate(before);
        }
        end
    }
}

impl Gate {
    /// Answers with the next rows of an export.
    pub(super) async fn export(self: Rc<Self>, call: ExportCall) -> HostResult<ExportReply> {
        let first = call.report.query.offset / PAGE_ROWS;
        let pages = self.plan_turn(&call, first)?;
        let slots = self.reserve_turn(&call, &pages)?;
        if slots.is_empty() {
            return self.export_page(&call, first).await;
        }
        let id = call.report.id.clone();
        let turn = Rc::new(Turn {
            written: RefCell::default(),
            ends: now().plus(LONGEST_TURN),
            wake: RefCell::default(),
            is_answered: Cell::new(false),
        });
        let list = call.report.query.list.clone();
        let pages = first..first + slots.len() as u64;
        let (gate, own) = (Rc::clone(&self), Rc::clone(&turn));
        // The caller may leave, and with it nobody else's page.
        let task = SharedTask::spawn(&self.state, async move {
            gate.take_turn(&call, &own, first, slots).await;
        })?;
        self.turns.borrow_mut().push(RunningTurn {
            list,
            pages,
            task: task.clone(),
        });
        turn.wait(task).await?;
        turn.written.take().into_reply(&id)
    }

    /// Holds a place for an export that waits, or returns the refusal.
    pub(super) fn hold_export(&self, export: &str, caller: &str) -> Option<GatewayResponse> {
        let limits = self.config.waiting_exports;
        let mut exports = self.waiting_exports.borrow_mut();
        let refused = exports.hold(export, caller, limits, now()).err();
        refused.map(|problem| GatewayResponse::problem(&problem, export))
    }

    /// Which pages may be fetched together: those up to the first that is there already, or on its
    /// way.
    fn plan_turn(&self, call: &ExportCall, first: u64) -> HostResult<Range<u64>> {
        let query = &call.report.query;
        let is_by_offset = matches!(
            query.operation.declaration().pagination,
            Pagination::Offset { .. }
        );
        let may_be_several = is_by_offset && query.may_be_stored() && !call.report.revalidate;
        let mut pages = first..first;
        if may_be_several && call.most > 1 {
            pages.end = first.saturating_add(call.most);
            if let Some(fresh) = self.pages.find_fresh(&query.list, &pages)? {
                pages.end = fresh;
            }
            let fetches = self.fetches.borrow();
            let own = fetches.iter().filter(|fetch| fetch.list == query.list);
            let numbers = own.map(|fetch| fetch.number);
            let turns = self.turns.borrow();
            let own = turns
                .iter()
                .filter(|turn| turn.list == query.list && turn.pages.end > first);
            let others = own.map(|turn| turn.pages.start.max(first));
            for number in numbers.chain(others).filter(|number| *number >= first) {
                pages.end = pages.end.min(number);
            }
        }
        Ok(pages)
    }

    /// Pays for these pages, where they may be paid for together.
    fn reserve_turn(&self, call: &ExportCall, pages: &Range<u64>) -> HostResult<Vec<Slot>> {
        let count = u32::try_from(pages.end.saturating_sub(pages.start)).unwrap_or(u32::MAX);
        if count < 2 {
            return Ok(Vec::new());
        }
        let claimant = claimant_of(&call.report);
        self.database
            .transaction(|| self.budget.reserve_ahead(&claimant, count))
    }

    /// Waits until a page is no longer among several that are being fetched.
    pub(super) async fn wait_for_turn(&self, list: &str, number: u64) -> HostResult<()> {
        let running = {
            let turns = self.turns.borrow();
            let mut turns = turns.iter();
            let own = turns.find(|turn| turn.list == list && turn.pages.contains(&number));
            own.map(|turn| turn.task.clone())
        };
        match running {
            Some(task) => task.wait().await,
            None => Ok(()),
        }
    }

    /// One page, as any other report has it.
    async fn export_page(
        self: &Rc<Self>,
        call: &ExportCall,
        number: u64,
    ) -> HostResult<ExportReply> {
        let result = self.page(&call.report, number, Tagging::Later).await?;
        let mut written = Written {
            headers: result.headers,
            ..Written::default()
        };
        written.metrics.upstream = result.upstream;
        written.metrics.budget_left = result.budget_left;
        match result.outcome {
            Ok((page, status)) => {
                written.metrics.cache = Some(status.describe());
                match Writer::new(call).write(&page.text, &mut written.text) {
                    Some(end) => written.push(end),
                    None => written.problem = Some(classify_malformed(Method::Get).problem),
                }
            }
            Err(problem) => written.problem = Some(problem),
        }
        written.into_reply(&call.report.id)
    }

    async fn take_turn(&self, call: &ExportCall, turn: &Turn, first: u64, slots: Vec<Slot>) {
        if let Err(error) = self.fetch_turn(call, turn, first, &slots).await {
            turn.written.borrow_mut().error = Some(error);
        }
        let list = &call.report.query.list;
        let mut turns = self.turns.borrow_mut();
        turns.retain(|turn| turn.pages.start != first || turn.list != *list);
        turn.answer();
    }

    async fn fetch_turn(
        &self,
        call: &ExportCall,
        turn: &Turn,
        first: u64,
        slots: &[Slot],
    ) -> HostResult<()> {
        let writer = Writer::new(call);
        let claimant = claimant_of(&call.report);
        let list = &call.report.query.list;
        let mut kept = Vec::new();
        let mut failed = None;
        let client = UpstreamClient::new(&self.config);
        let first_request = write_request(&call.report, first);
        let course = client.open_course(&first_request, LONGEST_TURN);
        let send_page = |number| self.begin_page(&call.report, number, course.as_ref());
        let mut ahead = None;
        for (number, slot) in (first..).zip(slots) {
            let may_go_on = kept.len() + 1 < slots.len();
            let begun = ahead.take().or_else(|| send_page(number));
            let mut begin_next = || {
                if may_go_on && !turn.is_over() {
                    ahead = send_page(number + 1);
                }
                ahead.is_some()
            };
            let fetched = self.fetch_for(
                &writer,
                &claimant,
                turn,
                number,
                slot,
                begun,
                &mut begin_next,
            );
            match fetched.await? {
                Ok((page, end)) => {
                    turn.add(end);
                    let has_more = page.head.has_more;
                    kept.push((number, page));
                    if !has_more || ahead.is_none() && turn.is_over() {
                        break;
                    }
                }
                Err(failure) => {
                    failed = Some(failure);
                    break;
                }
            }
        }
        if let Some(course) = course {
            course.end();
        }
        for (_, page) in &mut kept {
            if is_long(page) {
                page.head.tag = digest_tag(&page.text).await?;
            }
        }
        let (used, rest) = slots.split_at(kept.len());
        let mut unused = rest.iter();
        // Its slot is that of the last attempt.
        let _ = failed.as_ref().and_then(|_| unused.next());
        // Nobody waits for what was asked for too early, but the upstream has counted it.
        let abandoned = ahead.and_then(|_| unused.next());
        self.database.transaction(|| {
            for (number, page) in &kept {
                self.pages.store(list, *number, page)?;
            }
            self.budget.conclude_ahead(used, unused.as_slice())?;
            if let Some(slot) = abandoned {
                self.budget.settle(slot.id)?;
            }
            match &failed {
                Some((slot, failure)) => self.budget.conclude(slot, Some(failure)),
                None => Ok(()),
            }
        })?;
        for (number, page) in &kept {
            self.pages.remember(list, *number, page);
        }
        if let Some((_, failure)) = failed {
            turn.written.borrow_mut().problem = Some(failure.problem);
        }
        Ok(())
    }

    /// Sends the request for a page, if there is a connection for it.
    fn begin_page(
        &self,
        report: &ReportCall,
        number: u64,
        course: Option<&Course>,
    ) -> Option<Ahead> {
        let permit = self.connections.take(Lane::ReadPage)?;
        let request = write_request(report, number);
        let page = UpstreamClient::new(&self.config)
            .begin_page(&request, course?)
            .ok()?;
        Some(Ahead {
            request,
            begun: (permit, page),
        })
    }

    /// Fetches a page under a slot, unless that was begun, and writes its rows; or the slot of the
    /// last attempt, and why there is no page.
    #[expect(clippy::too_many_arguments, reason = "a step of a loop")]
    async fn fetch_for(
        &self,
        writer: &Writer<'_>,
        claimant: &Claimant,
        turn: &Turn,
        number: u64,
        slot: &Slot,
        ahead: Option<Ahead>,
        begin_next: &mut dyn FnMut() -> bool,
    ) -> HostResult<Result<(Page, PageEnd), (Slot, UpstreamFailure)>> {
        let report = &writer.call.report;
        let first = report.query.offset / PAGE_ROWS;
        let skip = if number == first { writer.call.skip } else { 0 };
        let (request, received) = match ahead {
            Some(Ahead { request, begun }) => {
                let (permit, page) = begun;
                let page = page.receive().await;
                if page.text().is_some_and(|text| has_next(&text)) && begin_next() {
                    // The runtime sends it when nothing else runs: the upstream is to work while the
                    // rows of this page are written.
                    yield_now().await;
                }
                (request, Some((permit, page)))
            }
            None => (write_request(report, number), None),
        };
        let mut page = None;
        let mut read = |text: JsString| {
            let mut written = turn.written.borrow_mut();
            let end = writer.check(&text, skip, &mut written.text);
            page = end.map(|end| (text, end));
            page.is_some()
        };
        let exchange = self.exchange_page(claimant, &request, received, slot.clone(), &mut read);
        let (exchange, last) = exchange.await?;
        let (text, end) = match exchange.with(page).outcome {
            Ok(read) => read,
            Err(failure) => return Ok(Err((last, failure))),
        };
        if last.id != slot.id {
            // It was sent again under another.
            self.database
                .transaction(|| self.budget.conclude(&last, None))?;
        }
        let fetched = now();
        let head = PageHead {
            tag: String::new(),
            rows: end.rows,
            has_more: end.has_more == Some(true),
            fetched,
            fresh_until: fetched.plus(Millis(report.query.fresh_for)),
        };
        Ok(Ok((Page::new(head, text), end)))
    }
}

/// Whether there is a page after this one, by its end.
fn has_next(text: &JsString) -> bool {
    let length = text.length();
    let end = text.slice(length.saturating_sub(LONGEST_END), length);
    ends_with_more(&String::from(end))
}

impl Turn {
    /// Adds a page whose rows were written.
    fn add(&self, end: PageEnd) {
        if !self.is_answered.get() {
            self.written.borrow_mut().push(end);
        }
    }

    /// Whether no further page is begun.
    fn is_over(&self) -> bool {
        let is_full = self.written.borrow().text.len() >= MOST_BYTES;
        is_full || self.is_answered.get() || now() >= self.ends
    }

    /// Waits for all of the pages, or for the first of them and then not long for the others.
    async fn wait(&self, task: SharedTask<()>) -> HostResult<()> {
        Wait::begin(LONGEST_TURN, |wake| {
            self.wake.replace(Some(wake));
        })
        .await;
        let has_come = {
            let written = self.written.borrow();
            !written.rows.is_empty() || written.problem.is_some() || written.error.is_some()
        };
        if !has_come {
            task.wait().await?;
        }
        self.is_answered.set(true);
        Ok(())
    }

    fn answer(&self) {
        if let Some(wake) = self.wake.take() {
            wake.wake();
        }
    }
}
