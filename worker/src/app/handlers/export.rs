//! Streamed exports, which fetch pages from the organization's object as the client reads.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use futures_util::future::{AbortHandle, Abortable};
use js_sys::{Array, Promise, Uint8Array};
use quillgate::Millis;
use quillgate::pages::MAX_EMPTY_PAGES;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen_futures::JsFuture;
use web_sys::AbortSignal;
use worker::Env;

use crate::analytics::export::{Export, read_retry_after};
use crate::analytics::organization_stub::{OrganizationStub, ReportCall, ReportReply};
use crate::app::context::Context;
use crate::app::isolate::open_stream;
use crate::app::log::ExportEnd;
use crate::auth::jwt::EXPIRED;
use crate::auth::session::cookie::SessionId;
use crate::auth::session::object::SessionStub;
use crate::auth::{ended_session_problem, invalid_token};
use crate::http::problem::Problem;
use crate::http::problem_kind::ProblemKind;
use crate::http::response::{GatewayResponse, HeaderFields};
use crate::json;
use crate::runtime::{HostError, HostResult, into_promise, limit_time, log_entry, now, receive};
use crate::upstream::metrics::RequestMetrics;

pub struct ExportStream {
    env: Env,
    report: ReportCall,
    export: Export,
    expires: Millis,
    session: Option<SessionId>,
    started: Millis,
    requests: u64,
    pages: u64,
    pub metrics: RequestMetrics,
    /// From the latest page.
    pub budget: HeaderFields,
    /// Empty after the first chunk.
    head: Vec<u8>,
    output: Vec<u8>,
    /// Runs while the client reads the current page.
    prefetch: Option<Prefetch>,
    is_ended: bool,
}

struct Prefetch {
    reply: JsFuture,
    since: Millis,
}

/// A failure of an older prefetch may be outdated.
const REFUSAL_AGE: Millis = Millis::from_seconds(1);
/// Prefetching late saves budget if a client disconnects early. `HEAD` never prefetches, because it
/// stops at the first page with rows.
const PAGES_BEFORE_PREFETCH: u64 = 8;
const _: () = assert!(PAGES_BEFORE_PREFETCH > MAX_EMPTY_PAGES as u64 + 1);

impl ExportStream {
    pub fn new(context: &Context, report: ReportCall, export: Export) -> Result<Self, Problem> {
        Ok(Self {
            env: context.env.clone(),
            report,
            head: export.head(),
            output: Vec::new(),
            export,
            expires: context.caller()?.expires,
            session: context.session.clone(),
            started: context.started,
            requests: 0,
            pages: 0,
            metrics: RequestMetrics::default(),
            budget: HeaderFields::default(),
            prefetch: None,
            is_ended: false,
        })
    }

    /// Every chunk except the last has at least one row.
    pub async fn fetch_chunk(&mut self) -> Result<(), GatewayResponse> {
        while self.export.pages.next().is_some() && self.output.is_empty() {
            let mut refusal = match self.fetch_rows().await {
                Ok(None) => continue,
                Ok(Some(refusal)) => refusal,
                Err(problem) => {
                    self.metrics.keep_operator_message(&problem);
                    GatewayResponse::problem(&problem, &self.report.ids.id)
                }
            };
            if !self.export.after_failure(refusal.status) {
                self.advise(&mut refusal);
                return Err(refusal);
            }
        }
        Ok(())
    }

    /// Returns the object's refusal, if any. Appends nothing if the caller's token expires during
    /// the fetch, or if a request failed that is older than [`REFUSAL_AGE`]: [`Self::fetch_chunk`]
    /// then requests the page again.
    async fn fetch_rows(&mut self) -> Result<Option<GatewayResponse>, Problem> {
        if now() >= self.expires {
            return Err(invalid_token(EXPIRED));
        }
        // The session was read before the first page, but may have ended since.
        if let Some(session) = self.session.as_ref().filter(|_| self.requests > 0) {
            let record = SessionStub::new(&self.env, session.as_str())?
                .read()
                .await?;
            record.ok_or_else(ended_session_problem)?;
        }
        let requested = now();
        let prefetch = match self.prefetch.take() {
            Some(prefetch) => prefetch,
            None => self.request_page(requested)?,
        };
        let time = self.expires.since(requested).plus(Millis(1));
        let Some(reply) = limit_time(time, prefetch.reply).await else {
            return Ok(None);
        };
        let is_current = requested.since(prefetch.since) <= REFUSAL_AGE;
        let reply = match reply {
            Err(_) if !is_current => return Ok(None),
            reply => reply.map_err(HostError::from)?,
        };
        let reply: ReportReply = receive(reply)?;
        self.metrics = reply.metrics;
        self.requests += 1;
        if let Some(refusal) = reply.refusal {
            return Ok(Some(refusal).filter(|_| is_current));
        }
        self.report.checks_rest = false;
        self.budget = reply.headers;
        let page = reply.pages.into_iter().next();
        let text = page.map_or_else(String::new, |page| String::from(page.text));
        self.export.push_page(&text, &mut self.output)?;
        self.pages += 1;
        let now = now();
        let has_next = self.export.pages.next().is_some() && now < self.expires;
        if has_next && self.pages >= PAGES_BEFORE_PREFETCH {
            // An error is ignored, because `fetch_rows` requests the page again if no prefetch
            // exists.
            self.prefetch = self.request_page(now).ok();
        }
        Ok(None)
    }

    fn request_page(&mut self, now: Millis) -> HostResult<Prefetch> {
        self.report.query.clone_from(&self.export.query);
        let reply = OrganizationStub::new(&self.env)?.request_report(&self.report)?;
        Ok(Prefetch {
            reply: reply.into(),
            since: now,
        })
    }

    /// A shorter range may succeed.
    fn advise(&self, refusal: &mut GatewayResponse) {
        let Some(advice) = self.export.pages.advise(refusal.status) else {
            return;
        };
        let body = refusal.body.as_deref().unwrap_or_default();
        if let Some(mut problem) = json::parse(body.as_bytes()) {
            let detail = json::text(&problem, "detail").unwrap_or_default();
            problem["detail"] = format!("{detail}; {advice}").into();
            refusal.body = Some(json::to_text(&problem));
        }
    }

    pub fn open(self, signal: &AbortSignal) -> HostResult<JsValue> {
        let body = ExportBody {
            export: Rc::new(RefCell::new(Some(self))),
            abort: Rc::default(),
        };
        open_stream(body, signal)
    }

    /// Returns the next chunk and, if the export fails after it, the ending. Returns nothing after
    /// the last chunk.
    async fn next(&mut self) -> Vec<Uint8Array> {
        if let Err(refusal) = self.fetch_chunk().await {
            let problem = refusal.problem.unwrap_or(ProblemKind::Internal);
            self.log_end(problem.as_str());
            self.is_ended = true;
            return vec![self.write_ending(problem, read_retry_after(&refusal))];
        }
        let parts = [&mut self.head, &mut self.output];
        let mut chunk = parts.map(std::mem::take).concat();
        if !chunk.is_empty() && self.export.pages.next().is_some() {
            let ending = self.write_ending(ProblemKind::Internal, None);
            return vec![Uint8Array::from(&chunk[..]), ending];
        }
        // The ending would mark the export as incomplete after a trap.
        self.is_ended = true;
        let mut end = "complete";
        if self.export.pages.is_mixed() {
            let problem = ProblemKind::CountsChanged;
            let writer = &self.export.writer;
            writer.push_mixed(&problem.type_uri(), &mut chunk);
            end = problem.as_str();
        }
        self.log_end(end);
        Vec::from_iter((!chunk.is_empty()).then(|| Uint8Array::from(&chunk[..])))
    }

    fn write_ending(&self, problem: ProblemKind, retry_after: Option<u64>) -> Uint8Array {
        let mut ending = Vec::new();
        let (writer, cursor) = (&self.export.writer, &self.export.cursor);
        writer.push_incomplete(cursor, &problem.type_uri(), retry_after, &mut ending);
        Uint8Array::from(&ending[..])
    }

    fn log_end(&self, end: &str) {
        let entry = ExportEnd {
            request_id: &self.report.ids.id,
            export_rows: self.export.rows,
            export_requests: self.requests,
            export_end: end,
            milliseconds: now().since(self.started).0,
            operator: self.metrics.operator(),
        };
        log_entry(&entry, entry.operator);
    }
}

/// See [`open_stream`].
#[wasm_bindgen]
pub struct ExportBody {
    /// `None` while the next chunk is in progress, and after the last chunk.
    export: Rc<RefCell<Option<ExportStream>>>,
    /// Aborts the next chunk while it is in progress.
    abort: Rc<Cell<Option<AbortHandle>>>,
}

#[wasm_bindgen]
impl ExportBody {
    pub fn next(&self) -> Promise {
        let source = Rc::clone(&self.export);
        let (abort, registration) = AbortHandle::new_pair();
        self.abort.set(Some(abort));
        into_promise(async move {
            let Some(mut export) = source.take() else {
                return Ok(Array::new().into());
            };
            let Ok(parts) = Abortable::new(export.next(), registration).await else {
                export.log_end(CANCELLED);
                return Ok(Array::new().into());
            };
            if !export.is_ended {
                source.replace(Some(export));
            }
            Ok(parts.into_iter().collect::<Array>().into())
        })
    }

    pub fn cancel(&self) {
        if let Some(abort) = self.abort.take() {
            abort.abort();
        }
        if let Some(export) = self.export.take() {
            export.log_end(CANCELLED);
        }
    }
}

const CANCELLED: &str = "cancelled";

#[cfg(test)]
mod tests;
