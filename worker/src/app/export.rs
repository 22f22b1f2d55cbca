//! A streamed export. It fetches pages from the organization's object as the client reads the stream.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::pin::Pin;
use std::rc::Rc;
use std::task::Poll;

use js_sys::{Array, Promise, Uint8Array};
use quillgate::export::PageEnd;
use quillgate::{Method, Millis, ProjectId};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::{AbortSignal, ReadableStream};
use worker::Env;

use crate::analytics::export::{ExportQuery, problem_type, read_retry_after};
use crate::analytics::organization_stub::{ExportCall, ExportReply, OrganizationStub, ReportCall};
use crate::analytics::query::ReportQuery;
use crate::analytics::waiting_exports::RENEWAL_INTERVAL;
use crate::app::config::Config;
use crate::app::log::ExportEnd;
use crate::auth::invalid_token;
use crate::auth::jwt::EXPIRED;
use crate::auth::session::cookie::SessionId;
use crate::auth::session::problem::ended_problem;
use crate::auth::session::stub::SessionStub;
use crate::http::problem::Problem;
use crate::http::problem_kind::ProblemKind;
use crate::http::response::{GatewayResponse, HeaderFields};
use crate::runtime::{
    HostError, HostResult, Wait, Wake, into_promise, log_error, log_line, now, open_stream, receive,
};
use crate::upstream::failure::classify_malformed;
use crate::upstream::metrics::RequestMetrics;

/// An export in progress.
pub struct RunningExport {
    /// The bindings.
    pub env: Env,
    /// The configuration.
    pub config: Rc<Config>,
    /// The project.
    pub project: ProjectId,
    /// The request to the object.
    pub call: ExportCall,
    /// The export.
    pub query: ExportQuery,
    /// When the caller's token expires.
    pub expires: Millis,
    /// The caller's session, if any. The export ends with it.
    pub session: Option<SessionId>,
    /// When the request arrived.
    pub started: Millis,
    /// The number of pages requested from the object.
    pub requests: u64,
    /// The number of pages received.
    pub pages: u64,
    /// The metrics of the latest page.
    pub metrics: RequestMetrics,
    /// The budget's header fields from the latest page.
    pub budget: HeaderFields,
    /// The next page, requested while the client reads the current one.
    pub prefetch: Option<Prefetch>,
    /// The place among waiting exports. The export has one after its first wait for the budget.
    pub place: Option<WaitingPlace>,
    /// Whether the next page may be prefetched. `HEAD` needs only the first page.
    pub prefetches: bool,
}

/// A requested page.
pub struct Prefetch {
    reply: JsFuture,
    since: Millis,
}

/// The reason for a missing page.
enum Missing {
    /// The page was refused.
    Refused(GatewayResponse),
    /// The page was refused a while ago and may be available by now.
    RefusedBefore,
    /// The client disconnected, or its token expired.
    Stopped,
}

/// The age after which the refusal of a prefetched page may be outdated.
const REFUSAL_AGE: Millis = Millis::from_seconds(1);
/// The number of pages before the first prefetched page.
const PAGES_BEFORE_PREFETCH: u64 = 8;

impl RunningExport {
    /// Returns the rows of the next page with rows. Returns an empty chunk when the export is complete.
    ///
    /// # Errors
    /// Returns the refusal if the next page is not available.
    pub async fn next_chunk(
        &mut self,
        cancel: &CancelSignal,
    ) -> Result<Uint8Array, GatewayResponse> {
        while !cancel.is_set.get() {
            let next = self
                .query
                .next(&self.project, &self.config.analytics, now());
            match next.map_err(|problem| self.refuse(&problem))? {
                Some(query) => self.set_next(query),
                None => break,
            }
            if now() >= self.expires {
                return Err(self.refuse(&invalid_token(EXPIRED)));
            }
            self.check_session().await?;
            match self.fetch_rows(cancel).await {
                Ok(rows) if rows.length() > 0 => return Ok(rows),
                Ok(_) | Err(Missing::RefusedBefore | Missing::Stopped) => {}
                Err(Missing::Refused(refusal)) => {
                    let retry_after = read_retry_after(&refusal);
                    let export = &mut self.query.export;
                    match export.plan_wait(retry_after, now(), self.expires) {
                        Some(time) => self.wait_for_budget(time, cancel).await?,
                        None => return Err(refusal),
                    }
                }
            }
        }
        Ok(Uint8Array::new_with_length(0))
    }

    /// Waits for `time`, or until the client disconnects. Holds a place of the organization meanwhile.
    ///
    /// # Errors
    /// 429 if no place is free.
    async fn wait_for_budget(
        &mut self,
        time: Millis,
        cancel: &CancelSignal,
    ) -> Result<(), GatewayResponse> {
        let ends = now().plus(time);
        while now() < ends && !cancel.is_set.get() {
            self.hold_place().await?;
            cancel.wait(ends.since(now()).min(RENEWAL_INTERVAL)).await;
        }
        Ok(())
    }

    /// Takes a place, or renews the export's place.
    async fn hold_place(&mut self) -> Result<(), GatewayResponse> {
        let org = OrganizationStub::new(&self.env).map_err(|error| self.fail(&error))?;
        let ReportCall { id, caller, .. } = &self.call.report;
        match org.hold_export(id, caller).await {
            Ok(None) => {}
            Ok(Some(refusal)) => return Err(refusal),
            Err(error) => return Err(self.fail(&error)),
        }
        if self.place.is_none() {
            let export = id.clone();
            self.place = Some(WaitingPlace { org, export });
        }
        Ok(())
    }

    fn set_next(&mut self, query: ReportQuery) {
        self.call.report.query = query;
        self.call.skip = self.query.export.skip();
    }

    /// Checks that the session is still open. It may have ended since the previous page.
    async fn check_session(&mut self) -> Result<(), GatewayResponse> {
        let Some(session) = &self.session else {
            return Ok(());
        };
        let asked = async { SessionStub::new(&self.env, session.as_str())?.read().await };
        match asked.await {
            Ok(Some(_)) => Ok(()),
            Ok(None) => Err(self.refuse(&ended_problem())),
            Err(error) => Err(self.fail(&error)),
        }
    }

    async fn fetch_rows(&mut self, cancel: &CancelSignal) -> Result<Uint8Array, Missing> {
        let requested = now();
        let prefetch = match self.prefetch.take() {
            Some(prefetch) => prefetch,
            None => self
                .request_page(requested)
                .map_err(|error| Missing::Refused(self.fail(&error)))?,
        };
        let time = self.expires.since(requested).plus(Millis(1));
        let reply = cancel.wait_for(prefetch.reply, time).await;
        let reply = match reply.ok_or(Missing::Stopped)? {
            Ok(reply) => receive::<ExportReply>(reply),
            Err(error) => Err(error.into()),
        };
        let reply = reply.map_err(|error| Missing::Refused(self.fail(&error)))?;
        match self.take_reply(reply) {
            Ok(rows) => {
                self.prefetch_next();
                Ok(rows)
            }
            Err(_) if requested.since(prefetch.since) > REFUSAL_AGE => Err(Missing::RefusedBefore),
            Err(refusal) => Err(Missing::Refused(refusal)),
        }
    }

    /// Records a reply and returns its rows or its refusal.
    fn take_reply(&mut self, reply: ExportReply) -> Result<Uint8Array, GatewayResponse> {
        self.metrics = reply.metrics;
        self.budget = reply.headers;
        self.requests += 1;
        let Some(page) = reply.page else {
            let internal = || self.refuse(&Problem::internal());
            return Err(reply.refusal.unwrap_or_else(internal));
        };
        let end = PageEnd {
            rows: page.rows,
            has_more: page.has_more,
            next_cursor: page.next_cursor,
        };
        if self.query.export.take_page(&end).is_err() {
            return Err(self.refuse(&classify_malformed(Method::Get).problem));
        }
        self.pages += 1;
        Ok(page.text)
    }

    fn request_page(&self, now: Millis) -> HostResult<Prefetch> {
        let reply = OrganizationStub::new(&self.env)?.begin_export(&self.call)?;
        Ok(Prefetch {
            reply: reply.into(),
            since: now,
        })
    }

    /// Requests the next page while the client reads this one. The first pages are not prefetched, to save
    /// the budget if a client disconnects early. Errors are ignored here, because they recur when the page
    /// is needed.
    fn prefetch_next(&mut self) {
        let now = now();
        if !self.prefetches || self.pages < PAGES_BEFORE_PREFETCH || now >= self.expires {
            return;
        }
        let next = self.query.next(&self.project, &self.config.analytics, now);
        if let Ok(Some(query)) = next {
            self.set_next(query);
            self.prefetch = self.request_page(now).ok();
        }
    }

    /// Records an error of the object for the log, and returns the refusal.
    fn fail(&mut self, error: &HostError) -> GatewayResponse {
        self.metrics.operator = Some(error.to_string());
        self.refuse(&Problem::gate_unavailable())
    }

    fn refuse(&self, problem: &Problem) -> GatewayResponse {
        GatewayResponse::problem(problem, &self.call.report.id)
    }

    /// Returns the export as a stream that begins with `head` and `rows`.
    pub fn into_stream(
        self,
        head: &[u8],
        rows: &Uint8Array,
        signal: &AbortSignal,
    ) -> HostResult<ReadableStream> {
        let body = ExportBody(Rc::new(Body {
            first: RefCell::new(Some(join(head, rows))),
            running: RefCell::new(Some(self)),
            cancel: CancelSignal::default(),
        }));
        open_stream(body, signal)
    }

    /// Returns the last record of an incomplete export.
    fn write_ending(&self, problem: &str, retry_after: Option<u64>) -> Uint8Array {
        let mut ending = Vec::new();
        let export = &self.query.export;
        export.push_incomplete(problem, retry_after, &mut ending);
        Uint8Array::from(&ending[..])
    }

    /// Logs the end of the export.
    fn log_end(&self, end: &str) {
        let entry = ExportEnd {
            request_id: &self.call.report.id,
            export_rows: self.query.export.rows(),
            export_requests: self.requests,
            export_end: end,
            milliseconds: now().since(self.started).0,
            operator: self.metrics.operator(),
        };
        if entry.operator.is_some() {
            log_error(&entry.to_json());
        } else {
            log_line(&entry.to_json());
        }
    }
}

/// A place among the exports that wait for the budget. Dropping it frees the place.
pub struct WaitingPlace {
    org: OrganizationStub,
    export: String,
}

impl Drop for WaitingPlace {
    fn drop(&mut self) {
        // If this fails, the lease still expires.
        let released = self.org.release_export(&self.export);
        spawn_local(async move {
            let _ = JsFuture::from(released).await;
        });
    }
}

/// Stops an export after its client disconnects.
#[derive(Default)]
pub struct CancelSignal {
    is_set: Cell<bool>,
    /// Ends the current wait.
    wake: RefCell<Option<Wake>>,
}

impl CancelSignal {
    fn set(&self) {
        self.is_set.set(true);
        if let Some(wake) = self.wake.take() {
            wake.wake();
        }
    }

    /// Waits for `time`, or until the client disconnects.
    async fn wait(&self, time: Millis) {
        self.begin_wait(time).await;
        self.wake.take();
    }

    /// Waits for a reply. Returns `None` after `time`, or when the client disconnects.
    async fn wait_for(
        &self,
        mut reply: JsFuture,
        time: Millis,
    ) -> Option<Result<JsValue, JsValue>> {
        let mut stop = self.begin_wait(time);
        let first = poll_fn(|context| match Pin::new(&mut reply).poll(context) {
            Poll::Ready(reply) => Poll::Ready(Some(reply)),
            Poll::Pending => Pin::new(&mut stop).poll(context).map(|()| None),
        });
        let first = first.await;
        self.wake.take();
        first
    }

    fn begin_wait(&self, time: Millis) -> Wait {
        Wait::begin(time, |wake| {
            self.wake.replace(Some(wake));
        })
    }
}

/// The response body of an export.
#[wasm_bindgen]
pub struct ExportBody(Rc<Body>);

struct Body {
    first: RefCell<Option<Uint8Array>>,
    /// `None` while the next chunk is in progress, and after the last chunk.
    running: RefCell<Option<RunningExport>>,
    cancel: CancelSignal,
}

#[wasm_bindgen]
impl ExportBody {
    /// Returns the next chunk. See [`open_stream`].
    pub fn next(&self) -> Promise {
        let body = Rc::clone(&self.0);
        into_promise(async move {
            let parts = body.next().await.into_iter();
            Ok(parts.collect::<Array>().into())
        })
    }

    /// Stops the export, because the client disconnected.
    pub fn cancel(&self) {
        self.0.cancel.set();
        if let Some(running) = self.0.running.take() {
            running.log_end(CANCELLED);
        }
    }
}

const CANCELLED: &str = "cancelled";

impl Body {
    async fn next(&self) -> Vec<Uint8Array> {
        let Some(mut running) = self.running.take() else {
            return Vec::new();
        };
        let first = self.first.take().filter(|first| first.length() > 0);
        let chunk = match first {
            Some(first) => Ok(first),
            None => running.next_chunk(&self.cancel).await,
        };
        let chunk = match chunk {
            Ok(chunk) => chunk,
            Err(refusal) => {
                running.log_end(refusal.problem.map_or("internal", ProblemKind::as_str));
                let retry_after = read_retry_after(&refusal);
                return vec![running.write_ending(&problem_type(&refusal), retry_after)];
            }
        };
        if self.cancel.is_set.get() {
            running.log_end(CANCELLED);
            return Vec::new();
        }
        if chunk.length() == 0 || running.query.export.next().is_none() {
            running.log_end("complete");
            // A trap after the last row loses no data.
            return Vec::from_iter((chunk.length() > 0).then_some(chunk));
        }
        let internal = problem_type(&running.refuse(&Problem::internal()));
        let ending = running.write_ending(&internal, None);
        self.running.replace(Some(running));
        vec![chunk, ending]
    }
}

/// Concatenates two byte strings.
fn join(head: &[u8], rest: &Uint8Array) -> Uint8Array {
    let length = u32::try_from(head.len()).unwrap_or(u32::MAX);
    let joined = Uint8Array::new_with_length(length.saturating_add(rest.length()));
    joined.subarray(0, length).copy_from(head);
    joined.set(rest, length);
    joined
}
