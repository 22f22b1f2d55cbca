//! An export while it is streamed: page after page from the organisation's object, each written as
//! one chunk when it is asked for.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::pin::Pin;
use std::rc::Rc;
use std::task::Poll;

use js_sys::{Array, Function, Promise, Uint8Array};
use quillgate::{Method, Millis, ProjectId};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen_futures::JsFuture;
use web_sys::{AbortSignal, ReadableStream};
use worker::Env;

use super::connections::{clear_timeout, set_timeout};
use super::context::now;
use super::error::{HostError, HostResult};
use super::host::{byte_stream, log_error, log_line};
use super::task::into_promise;
use crate::config::Config;
use crate::identity::invalid_token;
use crate::identity::jwt::EXPIRED;
use crate::log::{ExportEnd, RequestMetrics};
use crate::objects::{OrgStub, ReportCall, ReportReply, receive};
use crate::problem::{Problem, ProblemKind};
use crate::reports::export::{ExportQuery, problem_type, read_retry_after};
use crate::reports::query::ReportQuery;
use crate::response::{GatewayResponse, HeaderFields};
use crate::upstream::classify_malformed;

/// What is needed for the next page.
pub struct RunningExport {
    /// The bindings.
    pub env: Env,
    /// The configuration.
    pub config: Rc<Config>,
    /// The project.
    pub project: ProjectId,
    /// What to ask the object for.
    pub call: ReportCall,
    /// The export itself.
    pub query: ExportQuery,
    /// Until when the caller's token is accepted.
    pub expires: Millis,
    /// When the request came.
    pub started: Millis,
    /// How often the object was asked.
    pub requests: u64,
    /// What is known of the latest page.
    pub metrics: RequestMetrics,
    /// What the latest page says about the budget.
    pub budget: HeaderFields,
    /// The next page, which is asked for while the client reads the one before.
    pub ahead: Option<Ahead>,
    /// Whether it is asked for so early: not for `HEAD`, which has the first page alone.
    pub reads_ahead: bool,
}

/// A page that was asked for.
pub struct Ahead {
    reply: JsFuture,
    since: Millis,
}

/// Why a page is not there.
enum Missing {
    /// It was refused.
    Refused(GatewayResponse),
    /// It was refused a while ago, so that it may be there by now.
    RefusedBefore,
    /// The client has left, or its token has expired.
    Stopped,
}

/// For how long a refusal is taken for the present one.
const REFUSAL_AGE: Millis = Millis::from_seconds(1);

impl RunningExport {
    /// Appends the rows of the next page that has some; nothing when the export is complete.
    ///
    /// # Errors
    /// The answer that says why there is no such page.
    pub async fn push_chunk(
        &mut self,
        brake: &Brake,
        out: &mut Vec<u8>,
    ) -> Result<(), GatewayResponse> {
        let before = out.len();
        while out.len() == before && !brake.is_set.get() {
            let next = self.query.next(&self.project, &self.config, now());
            match next.map_err(|problem| self.refuse(&problem))? {
                Some(query) => self.call.query = query,
                None => break,
            }
            if now() >= self.expires {
                return Err(self.refuse(&invalid_token(EXPIRED)));
            }
            match self.fetch_page(brake).await {
                Ok(text) => {
                    let pushed = self.query.export.push_page(&text, out);
                    pushed.map_err(|_| {
                        let failure = classify_malformed(Method::Get);
                        self.refuse(&failure.problem)
                    })?;
                    let next = self.query.next(&self.project, &self.config, now());
                    self.ask_ahead(next.ok().flatten());
                }
                Err(Missing::RefusedBefore | Missing::Stopped) => {}
                Err(Missing::Refused(refusal)) => {
                    let retry_after = read_retry_after(&refusal);
                    let export = &mut self.query.export;
                    match export.plan_wait(retry_after, now(), self.expires) {
                        Some(time) => brake.wait(time).await,
                        None => return Err(refusal),
                    }
                }
            }
        }
        Ok(())
    }

    async fn fetch_page(&mut self, brake: &Brake) -> Result<String, Missing> {
        let asked = now();
        let ahead = match self.ahead.take() {
            Some(ahead) => ahead,
            None => self.ask(asked).map_err(|error| self.fail(&error))?,
        };
        let time = self.expires.since(asked).plus(Millis(1));
        let reply = brake.wait_for(ahead.reply, time).await;
        let reply = match reply.ok_or(Missing::Stopped)? {
            Ok(reply) => receive::<ReportReply>(reply),
            Err(error) => Err(error.into()),
        };
        let reply = reply.map_err(|error| self.fail(&error))?;
        self.metrics = reply.metrics;
        if let Some(pages) = reply.pages {
            self.budget = pages.headers;
            if pages.first.has_more != 0 {
                // Before the rows are gone through: both take their time.
                let (project, config) = (&self.project, &self.config);
                let next = self.query.next_but_one(project, config, now());
                self.ask_ahead(next);
            }
            return Ok(pages.first.text.into());
        }
        if asked.since(ahead.since) > REFUSAL_AGE {
            return Err(Missing::RefusedBefore);
        }
        let refusal = reply.refusal;
        Err(Missing::Refused(
            refusal.unwrap_or_else(|| self.refuse(&Problem::internal())),
        ))
    }

    fn ask(&mut self, now: Millis) -> HostResult<Ahead> {
        self.requests += 1;
        let reply = OrgStub::new(&self.env)?.begin_report(&self.call)?;
        Ok(Ahead {
            reply: reply.into(),
            since: now,
        })
    }

    /// Asks for the next page before the client does, unless that was done. What goes wrong here does
    /// so again when it is needed.
    fn ask_ahead(&mut self, next: Option<ReportQuery>) {
        let now = now();
        if let Some(query) = next
            && self.ahead.is_none()
            && self.reads_ahead
            && now < self.expires
        {
            self.call.query = query;
            self.ahead = self.ask(now).ok();
        }
    }

    /// The object does not answer; the log says why.
    fn fail(&mut self, error: &HostError) -> Missing {
        self.metrics.operator = Some(error.to_string());
        Missing::Refused(self.refuse(&Problem::gate_unavailable()))
    }

    fn refuse(&self, problem: &Problem) -> GatewayResponse {
        GatewayResponse::problem(problem, &self.call.id)
    }

    /// The export as a stream, of which `first` is the first chunk.
    pub fn into_stream(self, first: Vec<u8>, signal: &AbortSignal) -> ReadableStream {
        let body = ExportBody(Rc::new(Body {
            first: RefCell::new(first),
            running: RefCell::new(Some(self)),
            brake: Brake::default(),
        }));
        byte_stream(body, signal)
    }

    /// Writes the line of its end.
    fn log_end(&self, end: &str) {
        let entry = ExportEnd {
            request_id: &self.call.id,
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

/// Stops an export whose client has left.
#[derive(Default)]
pub struct Brake {
    is_set: Cell<bool>,
    /// What ends a wait.
    wake: RefCell<Option<Function>>,
}

impl Brake {
    fn set(&self) {
        self.is_set.set(true);
        if let Some(wake) = self.wake.take() {
            // It cannot throw: it resolves a promise.
            drop(wake.call0(&JsValue::UNDEFINED));
        }
    }

    /// Waits for so long, or until the client leaves.
    async fn wait(&self, time: Millis) {
        let (mut stop, timer) = self.begin_wait(time);
        // It is never rejected.
        drop((&mut stop).await);
        self.end_wait(&timer);
    }

    /// Waits for a reply; `None` when it has not come in time, or the client leaves.
    async fn wait_for(
        &self,
        mut reply: JsFuture,
        time: Millis,
    ) -> Option<Result<JsValue, JsValue>> {
        let (mut stop, timer) = self.begin_wait(time);
        let first = poll_fn(|context| match Pin::new(&mut reply).poll(context) {
            Poll::Ready(reply) => Poll::Ready(Some(reply)),
            Poll::Pending => Pin::new(&mut stop).poll(context).map(|_| None),
        });
        let first = first.await;
        self.end_wait(&timer);
        first
    }

    #[expect(clippy::cast_precision_loss, reason = "a day at most")]
    fn begin_wait(&self, time: Millis) -> (JsFuture, JsValue) {
        let mut timer = JsValue::UNDEFINED;
        let time = time.min(LONGEST_TIMER).0 as f64;
        let promise = Promise::new(&mut |resolve, _| {
            timer = set_timeout(&resolve, time);
            self.wake.replace(Some(resolve));
        });
        (promise.into(), timer)
    }

    fn end_wait(&self, timer: &JsValue) {
        clear_timeout(timer);
        self.wake.take();
    }
}

/// A timer of more than 2^31 milliseconds would end at once.
const LONGEST_TIMER: Millis = Millis::from_seconds(86_400);

/// The body of an export's answer.
#[wasm_bindgen]
pub struct ExportBody(Rc<Body>);

struct Body {
    first: RefCell<Vec<u8>>,
    /// `None` while a chunk is made, and after the last.
    running: RefCell<Option<RunningExport>>,
    brake: Brake,
}

#[wasm_bindgen]
impl ExportBody {
    /// A promise of a list: the next chunk, and what has to end the stream should the module trap before
    /// the chunk after it. The second is missing with the last chunk, and both after it.
    pub fn next(&self) -> Promise {
        let body = Rc::clone(&self.0);
        into_promise(async move {
            let parts = body.next().await;
            let parts = parts.iter().map(|part| Uint8Array::from(&part[..]));
            Ok(parts.collect::<Array>().into())
        })
    }

    /// The client has left: nothing more is asked for.
    pub fn cancel(&self) {
        self.0.brake.set();
        if let Some(running) = self.0.running.take() {
            running.log_end(CANCELLED);
        }
    }
}

const CANCELLED: &str = "cancelled";

impl Body {
    async fn next(&self) -> Vec<Vec<u8>> {
        let Some(mut running) = self.running.take() else {
            return Vec::new();
        };
        let mut chunk = self.first.take();
        if chunk.is_empty()
            && let Err(refusal) = running.push_chunk(&self.brake, &mut chunk).await
        {
            let problem = problem_type(&refusal);
            let retry_after = read_retry_after(&refusal);
            let export = &running.query.export;
            export.push_incomplete(&problem, retry_after, &mut chunk);
            running.log_end(refusal.problem.map_or("internal", ProblemKind::as_str));
            return vec![chunk];
        }
        if self.brake.is_set.get() {
            running.log_end(CANCELLED);
            return Vec::new();
        }
        let is_whole = running.query.export.next().is_none();
        if chunk.is_empty() || is_whole {
            running.log_end("complete");
            // After the last row there is nothing that a trap could cut off.
            return Vec::from_iter((!chunk.is_empty()).then_some(chunk));
        }
        let mut ending = Vec::new();
        let internal = problem_type(&running.refuse(&Problem::internal()));
        let export = &running.query.export;
        export.push_incomplete(&internal, None, &mut ending);
        self.running.replace(Some(running));
        vec![chunk, ending]
    }
}
