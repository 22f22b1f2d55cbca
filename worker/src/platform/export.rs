//! An export while it is streamed: page after page from the organisation's object, each written as
//! one chunk when it is asked for.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use js_sys::{Function, Promise, Uint8Array};
use quillgate::{Method, Millis, ProjectId};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen_futures::JsFuture;
use web_sys::{AbortSignal, ReadableStream};
use worker::Env;

use super::connections::{clear_timeout, set_timeout};
use super::context::now;
use super::host::{byte_stream, log_error, log_line};
use super::task::into_promise;
use crate::config::Config;
use crate::identity::invalid_token;
use crate::identity::jwt::EXPIRED;
use crate::log::{ExportEnd, RequestMetrics};
use crate::objects::{OrgStub, ReportCall};
use crate::problem::{Problem, ProblemKind};
use crate::reports::export::{ExportQuery, problem_type, read_retry_after};
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
}

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
            match self.fetch_page().await {
                Ok(text) => {
                    let pushed = self.query.export.push_page(&text, out);
                    pushed.map_err(|_| {
                        let failure = classify_malformed(Method::Get);
                        self.refuse(&failure.problem)
                    })?;
                }
                Err(refusal) => {
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

    async fn fetch_page(&mut self) -> Result<String, GatewayResponse> {
        if now() >= self.expires {
            return Err(self.refuse(&invalid_token(EXPIRED)));
        }
        self.requests += 1;
        let asked = async { OrgStub::new(&self.env)?.report(&self.call).await };
        let reply = match asked.await {
            Ok(reply) => reply,
            Err(error) => {
                self.metrics.operator = Some(error.to_string());
                return Err(self.refuse(&Problem::gate_unavailable()));
            }
        };
        self.metrics = reply.metrics;
        if let Some(pages) = reply.pages {
            self.budget = pages.headers;
            return Ok(pages.first.text.into());
        }
        Err(reply
            .refusal
            .unwrap_or_else(|| self.refuse(&Problem::internal())))
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

    #[expect(clippy::cast_precision_loss, reason = "a day at most")]
    async fn wait(&self, time: Millis) {
        let mut timer = JsValue::UNDEFINED;
        let promise = Promise::new(&mut |resolve, _| {
            timer = set_timeout(&resolve, time.0 as f64);
            self.wake.replace(Some(resolve));
        });
        // It is never rejected.
        drop(JsFuture::from(promise).await);
        clear_timeout(&timer);
        self.wake.take();
    }
}

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
    /// A promise of the next chunk; of `undefined` after the last.
    pub fn next(&self) -> Promise {
        let body = Rc::clone(&self.0);
        into_promise(async move {
            let chunk = body.next().await;
            Ok(chunk.map_or(JsValue::UNDEFINED, |chunk| {
                Uint8Array::from(&chunk[..]).into()
            }))
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
    async fn next(&self) -> Option<Vec<u8>> {
        let mut running = self.running.take()?;
        let mut chunk = self.first.take();
        if chunk.is_empty()
            && let Err(refusal) = running.push_chunk(&self.brake, &mut chunk).await
        {
            let problem = problem_type(&refusal);
            let retry_after = read_retry_after(&refusal);
            let export = &running.query.export;
            export.push_incomplete(&problem, retry_after, &mut chunk);
            running.log_end(refusal.problem.map_or("internal", ProblemKind::as_str));
            return Some(chunk);
        }
        if self.brake.is_set.get() {
            running.log_end(CANCELLED);
            return None;
        }
        if chunk.is_empty() {
            running.log_end("complete");
            return None;
        }
        self.running.replace(Some(running));
        Some(chunk)
    }
}
