//! The functions and types that the module exports to JavaScript.

use quillgate::call::Call;
use quillgate::credential::{AccessToken, AdminKey, BaseUrl, PlainHttp};
use quillgate::date::parse_retry_after;
use quillgate::declaration::{ParameterIn, Repeat};
use quillgate::error::{Rule, ValidationError};
use quillgate::millis::Millis;
use quillgate::operation::Operation;
use quillgate::options::{CallOptions, read_length};
use quillgate::pages::{PageError, PageInfo, Pages, RowKey, Totals};
use quillgate::poll::Progress;
use quillgate::project::ProjectId;
use quillgate::request_path;
use quillgate::retry::Failure;
use quillgate::task::{self, Command, DEFAULT_WATCH, Event, Reason};
use quillgate::text::{cut, format_integer};
use quillgate::value::{Scalar, Value, optional_text, required_text};
use wasm_bindgen::prelude::*;

use crate::host::{Argument, emit, emit_lines};
use crate::protocol::{CommandNumber, EventNumber, Mode, Output, Source};

/// Checks the client's options. Emits the base URL and returns `true`, or emits a rejection and
/// returns `false`.
#[wasm_bindgen(js_name = checkClient)]
#[must_use]
pub fn check_client() -> bool {
    match read_base_url() {
        Ok(base) => {
            emit(Output::BaseUrl, 0, base.as_str());
            true
        }
        Err(error) => {
            reject(&error);
            false
        }
    }
}

fn read_base_url() -> Result<BaseUrl, ValidationError> {
    let options = Argument::Object(Source::Client);
    read_project()?;
    let base = optional_text(&options, "baseUrl")?;
    let is_allowed = matches!(
        options.member("allowPlainHttp").scalar(),
        Scalar::Flag(true)
    );
    let plain = if is_allowed {
        PlainHttp::AnyHost
    } else {
        PlainHttp::Loopback
    };
    if let Some(key) = optional_text(&options, "adminKey")? {
        let base = BaseUrl::new(base.as_deref().unwrap_or(BaseUrl::UPSTREAM))?;
        AdminKey::new(key)?;
        return base.for_credential(plain);
    }
    let base = BaseUrl::new(&required_text(&options, "baseUrl")?)?;
    // A session has no token: its cookie identifies the caller.
    let Some(token) = optional_text(&options, "token")? else {
        return Ok(base);
    };
    AccessToken::new(token)?;
    base.for_credential(plain)
}

fn read_project() -> Result<ProjectId, ValidationError> {
    ProjectId::new(required_text(
        &Argument::Object(Source::Client),
        "projectId",
    )?)
}

/// A [`task::Task`] for the driver in TypeScript.
#[wasm_bindgen]
pub struct Task {
    operation: Option<Operation>,
    mode: u32,
    running: Option<RunningTask>,
}

struct RunningTask {
    project: ProjectId,
    task: task::Task,
}

#[wasm_bindgen]
impl Task {
    /// Creates a task of the operation with this name, in a [`Mode`]. [`EventNumber::Begin`] reads
    /// the parameters.
    #[wasm_bindgen(constructor)]
    #[must_use]
    pub fn new(operation: &str, mode: u32) -> Self {
        Self {
            operation: Operation::from_name(operation),
            mode,
            running: None,
        }
    }

    /// Processes an event ([`EventNumber`]) and returns the next command ([`CommandNumber`]).
    ///
    /// `number` belongs to the event. `now` is the current time in milliseconds since the Unix
    /// epoch, and `random` is in `0.0..1.0`.
    pub fn step(&mut self, event: u32, number: u32, now: f64, random: f64) -> u32 {
        let command = self
            .try_step(event, number, from_clock(now), random)
            .unwrap_or_else(|error| reject(&error));
        command as u32
    }
}

impl Task {
    fn try_step(
        &mut self,
        event: u32,
        number: u32,
        now: Millis,
        random: f64,
    ) -> Result<CommandNumber, ValidationError> {
        let event_number = EventNumber::from_number(event);
        if event_number == Some(EventNumber::Begin) {
            self.running.insert(self.begin(now)?).emit_position();
            return Ok(CommandNumber::Yield);
        }
        let Some(running) = &mut self.running else {
            return Ok(CommandNumber::Done);
        };
        let cursor;
        let event = match event_number {
            None | Some(EventNumber::Begin | EventNumber::Next) => {
                Event::Next(CallOptions::parse(&OPTIONS)?)
            }
            Some(EventNumber::Waited) => Event::Waited,
            Some(EventNumber::Result) => Event::Result,
            Some(EventNumber::Page) => {
                cursor = BODY.member("nextCursor").text();
                Event::Page(PageInfo {
                    rows: number.into(),
                    has_more: match BODY.member("hasMore").scalar() {
                        Scalar::Flag(flag) => Some(flag),
                        _ => None,
                    },
                    next_cursor: cursor.as_deref(),
                    totals: PAGE.member("totals").text().as_deref().map(Totals::of),
                    keys: read_keys(),
                })
            }
            Some(EventNumber::Job) => Event::Polled {
                progress: running.read_progress(),
                is_news: number != 0,
                retry_after: read_retry_after(now),
            },
            Some(EventNumber::Streamed) => Event::Streamed {
                progress: running.read_progress(),
                is_news: number != 0,
            },
            Some(EventNumber::Status) => Event::Failed {
                failure: Failure::of_answer(number.try_into().unwrap_or(u16::MAX), &BODY),
                retry_after: emit_retry_after(now),
            },
            Some(EventNumber::Disconnected) => fail(Failure::Connection),
            Some(EventNumber::TimedOut) => fail(Failure::Timeout),
            Some(EventNumber::Malformed) => fail(Failure::Malformed),
        };
        let command = running.task.step(event, now, random);
        match event_number {
            Some(EventNumber::Page) => {
                running.emit_position();
                running.emit_page();
            }
            // A failure may have changed the request, and so the position.
            Some(EventNumber::Status) if matches!(command, Command::Send(_)) => {
                running.emit_position();
            }
            Some(EventNumber::Status) => running.emit_advice(number),
            _ => {}
        }
        Ok(running.emit_command(command))
    }

    fn begin(&self, now: Millis) -> Result<RunningTask, ValidationError> {
        let params = Argument::Object(Source::Params);
        let mode = Mode::from_number(self.mode);
        if mode == Some(Mode::Raw) {
            request_path::check(&required_text(&params, "path")?)?;
            let is_get = required_text(&params, "method")? == "GET";
            return Ok(RunningTask {
                project: read_project()?,
                task: task::Task::raw(if is_get { Repeat::Safe } else { Repeat::Keyed }),
            });
        }
        let Some(operation) = self.operation else {
            return Err(ValidationError::new("operation", Rule::Unknown, ""));
        };
        let call = Call::parse(operation.declaration(), &params)?;
        let task = match mode {
            None | Some(Mode::Once | Mode::Raw) => task::Task::new(call),
            Some(Mode::Pages) => task::Task::list(Pages::through_range(call, now)?),
            Some(Mode::Everything) => task::Task::list(Pages::through_everything(call, now)?),
            Some(Mode::Watch) => {
                let timeout = read_length(&Argument::Object(Source::Watch), "timeout")?;
                let timeout = timeout.unwrap_or(DEFAULT_WATCH);
                emit_duration(Output::Duration, timeout, "");
                task::Task::watch(call, timeout, now)
            }
        };
        Ok(RunningTask {
            project: read_project()?,
            task,
        })
    }
}

impl RunningTask {
    /// Emits a command's values and returns its number.
    fn emit_command(&self, command: Command) -> CommandNumber {
        let (number, time) = match command {
            Command::Send(time) => return self.emit_request(time),
            Command::Retry(time) => (CommandNumber::Retry, time),
            Command::Wait(time) => (CommandNumber::Wait, time),
            Command::Yield => return CommandNumber::Yield,
            Command::YieldLast => return CommandNumber::YieldLast,
            Command::Done => return CommandNumber::Done,
            Command::Fail(Reason::Failure) => return CommandNumber::Fail,
            Command::Fail(Reason::TotalTimeout(time)) => (CommandNumber::TotalTimeout, time),
            Command::Fail(Reason::WatchTimeout) => return CommandNumber::WatchTimeout,
            Command::Fail(Reason::Page(error)) => return reject_page(&error),
        };
        emit_duration(Output::Duration, time, "");
        number
    }

    fn emit_request(&self, timeout: Millis) -> CommandNumber {
        let Some(call) = self.task.call() else {
            emit_duration(Output::Duration, timeout, "");
            return CommandNumber::Send;
        };
        let request = call.request(&self.project);
        let body = request.body.as_deref().unwrap_or_default();
        let text = [request.method.as_str(), " ", &request.target, "\n", body].concat();
        emit_duration(Output::Request, timeout, &text);
        CommandNumber::Send
    }

    fn read_progress(&self) -> Progress {
        self.task.progress(BODY.member("status").text())
    }

    /// Emits the arguments of a list's next page.
    fn emit_position(&self) {
        if let Some(call) = self.task.pages().and_then(Pages::position) {
            emit(Output::Position, 0, &call.to_json(ParameterIn::Query));
        }
    }

    /// Emits what the driver needs to know about the last page of a list.
    fn emit_page(&self) {
        let Some(pages) = self.task.pages() else {
            return;
        };
        let mut indices = String::new();
        for at in pages.repeated() {
            indices.push_str(if indices.is_empty() { "" } else { "," });
            indices.push_str(&format_integer(*at as u64));
        }
        if !indices.is_empty() {
            emit(Output::Repeated, 0, &indices);
        }
        if pages.is_mixed() {
            emit(Output::Mixed, 0, "");
        }
    }

    /// Emits advice about a response with this status.
    fn emit_advice(&self, status: u32) {
        let status = status.try_into().unwrap_or(u16::MAX);
        let advice = self.task.pages().and_then(|pages| pages.advise(status));
        if let Some(advice) = advice {
            emit(Output::Advice, 0, &advice);
        }
    }
}

/// Emits a string with a duration. Durations are below 2^31 ms, the limit of timers, so they fit.
fn emit_duration(kind: Output, duration: Millis, text: &str) {
    emit(kind, u32::try_from(duration.0).unwrap_or(u32::MAX), text);
}

const OPTIONS: Argument = Argument::Object(Source::Options);
const BODY: Argument = Argument::Object(Source::Body);
const PAGE: Argument = Argument::Object(Source::Page);

fn read_keys() -> Vec<RowKey> {
    let lines = PAGE.member("keys").text().unwrap_or_default();
    let mut keys = Vec::new();
    let mut rest = &*lines;
    while let (id, Some(after)) = cut(rest, b'\n') {
        let (time, others) = cut(after, b'\n');
        keys.push(RowKey::new(id, time));
        rest = others.unwrap_or_default();
    }
    keys
}

fn fail(failure: Failure) -> Event<'static> {
    Event::Failed {
        failure,
        retry_after: None,
    }
}

fn read_retry_after(now: Millis) -> Option<Millis> {
    let head = Argument::Object(Source::Head);
    let text = head.member("retryAfter").text()?;
    parse_retry_after(&text, head.member("date").text().as_deref(), now)
}

/// Reads `Retry-After` and emits it.
fn emit_retry_after(now: Millis) -> Option<Millis> {
    let wait = read_retry_after(now)?;
    emit(Output::RetryAfter, 0, &format_integer(wait.0));
    Some(wait)
}

fn reject(error: &ValidationError) -> CommandNumber {
    let detail = error.rule.detail();
    let lines = [&error.field, detail.as_str(), &error.found];
    emit_lines(Output::Rejection, error.rule.number(), &lines);
    CommandNumber::Reject
}

fn reject_page(error: &PageError) -> CommandNumber {
    match error {
        PageError::Validation(error) => reject(error),
        PageError::Decode { at, what } => {
            emit_lines(Output::PageRejection, 0, &[at, what]);
            CommandNumber::RejectPage
        }
    }
}

/// Converts the result of `Date.now()`.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the clock is a positive integer below 2^53"
)]
const fn from_clock(now: f64) -> Millis {
    Millis(now as u64)
}
