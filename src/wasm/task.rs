//! The one class that the wasm exports.

use wasm_bindgen::prelude::*;

use crate::agent_job::JobStatus;
use crate::call::Call;
use crate::credential::{AdminKey, BaseUrl, is_header_value};
use crate::date::parse_retry_after;
use crate::declaration::{Method, Place};
use crate::error::{Rule, ValidationError};
use crate::millis::Millis;
use crate::operation::Operation;
use crate::options::{CallOptions, read_length};
use crate::pages::{PageError, PageInfo, Pages};
use crate::project::ProjectId;
use crate::protocol::{CommandNumber, EventNumber, Mode, Source, Text};
use crate::retry::Failure;
use crate::task::{self, Command, DEFAULT_WATCH, Event, Reason};
use crate::text::format_integer;
use crate::value::{Scalar, Value, optional_text, required_text};
use crate::wasm::host::{Argument, say, say_lines};

/// Checks the client's options, and hands over its base URL; `false` when one was refused, as was
/// said.
#[wasm_bindgen(js_name = checkClient)]
#[must_use]
pub fn check_client() -> bool {
    match read_base_url() {
        Ok(base) => {
            say(Text::BaseUrl, 0, base.as_str());
            true
        }
        Err(error) => {
            refuse(&error);
            false
        }
    }
}

fn read_base_url() -> Result<BaseUrl, ValidationError> {
    let options = Argument::Object(Source::Client);
    read_project()?;
    let base = optional_text(&options, "baseUrl")?;
    if let Some(key) = optional_text(&options, "adminKey")? {
        let base = BaseUrl::for_admin_key(base.as_deref().unwrap_or(BaseUrl::UPSTREAM))?;
        AdminKey::new(key)?;
        return Ok(base);
    }
    if !is_header_value(&required_text(&options, "token")?) {
        return Err(ValidationError::new("token", Rule::Credential, ""));
    }
    BaseUrl::new(&required_text(&options, "baseUrl")?)
}

fn read_project() -> Result<ProjectId, ValidationError> {
    ProjectId::new(required_text(
        &Argument::Object(Source::Client),
        "projectId",
    )?)
}

/// An operation under way: [`task::Task`] for the driver in TypeScript.
#[wasm_bindgen]
pub struct Task {
    operation: Option<Operation>,
    mode: u32,
    begun: Option<Begun>,
}

struct Begun {
    project: ProjectId,
    task: task::Task,
}

#[wasm_bindgen]
impl Task {
    /// The operation of this name, carried out in one of the modes ([`Mode`]). The parameters are
    /// read by [`EventNumber::Begin`].
    #[wasm_bindgen(constructor)]
    #[must_use]
    pub fn new(operation: &str, mode: u32) -> Self {
        Self {
            operation: Operation::from_name(operation),
            mode,
            begun: None,
        }
    }

    /// Takes in an event ([`EventNumber`]), and says what to do next ([`CommandNumber`]). `now` is
    /// the host's clock, `random` a number from 0 to 1.
    pub fn step(&mut self, event: u32, number: u32, now: f64, random: f64) -> u32 {
        let command = self
            .try_step(event, number, from_clock(now), random)
            .unwrap_or_else(|error| refuse(&error));
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
            self.begun.insert(self.begin(now)?).say_cursor();
            return Ok(CommandNumber::Deliver);
        }
        let Some(begun) = &mut self.begun else {
            return Ok(CommandNumber::End);
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
                })
            }
            Some(EventNumber::Job) => Event::Job {
                status: BODY.member("status").text().map(JobStatus::from),
                is_news: number != 0,
                retry_after: read_retry_after(now),
            },
            Some(EventNumber::Status) => Event::Failed {
                failure: Failure::of_answer(number.try_into().unwrap_or(u16::MAX), &BODY),
                retry_after: say_retry_after(now),
            },
            Some(EventNumber::Disconnected) => fail(Failure::Connection),
            Some(EventNumber::TimedOut) => fail(Failure::Timeout),
            Some(EventNumber::Malformed) => fail(Failure::Malformed),
        };
        let command = begun.task.step(event, now, random);
        if event_number == Some(EventNumber::Page) {
            begun.say_cursor();
        }
        Ok(begun.hand_over(command))
    }

    fn begin(&self, now: Millis) -> Result<Begun, ValidationError> {
        let Some(operation) = self.operation else {
            return Err(ValidationError::new("operation", Rule::Unknown, ""));
        };
        let call = Call::parse(operation.declaration(), &Argument::Object(Source::Params))?;
        let task = match Mode::from_number(self.mode) {
            None | Some(Mode::Once) => task::Task::new(call),
            Some(Mode::Pages) => task::Task::list(Pages::new(call)),
            Some(Mode::Everything) => task::Task::list(Pages::through_everything(call, now)?),
            Some(Mode::Watch) => {
                let timeout = read_length(&Argument::Object(Source::Watch), "timeout")?;
                let timeout = timeout.unwrap_or(DEFAULT_WATCH);
                say_time(Text::Time, timeout, "");
                task::Task::watch(call, timeout, now)
            }
        };
        Ok(Begun {
            project: read_project()?,
            task,
        })
    }
}

impl Begun {
    /// Hands over what a command says beside its number.
    fn hand_over(&self, command: Command) -> CommandNumber {
        let (number, time) = match command {
            Command::Send(time) => return self.say_request(time),
            Command::Retry(time) => (CommandNumber::Retry, time),
            Command::Wait(time) => (CommandNumber::Wait, time),
            Command::Deliver => return CommandNumber::Deliver,
            Command::Finish => return CommandNumber::Finish,
            Command::End => return CommandNumber::End,
            Command::Fail(Reason::Failure) => return CommandNumber::Fail,
            Command::Fail(Reason::TotalTimeout(time)) => (CommandNumber::TotalTimeout, time),
            Command::Fail(Reason::WatchTimeout) => return CommandNumber::WatchTimeout,
            Command::Fail(Reason::Page(error)) => return refuse_page(&error),
        };
        say_time(Text::Time, time, "");
        number
    }

    fn say_request(&self, time: Millis) -> CommandNumber {
        let Some(call) = self.task.call() else {
            return CommandNumber::End;
        };
        let mut text = String::from(call.method().as_str());
        text.push_str(" ");
        call.push_target(&mut text, &self.project);
        text.push_str("\n");
        if call.method() == Method::Post {
            call.push_json(&mut text, Place::Body);
        }
        say_time(Text::Request, time, &text);
        CommandNumber::Send
    }

    /// Hands over where a list goes on.
    fn say_cursor(&self) {
        if let Some(call) = self.task.next_page() {
            let mut text = String::new();
            call.push_json(&mut text, Place::Query);
            say(Text::Cursor, 0, &text);
        }
    }
}

/// Hands over a length of time, with a text. No timer takes more than 2^31 ms, so none is longer.
fn say_time(kind: Text, time: Millis, text: &str) {
    say(kind, u32::try_from(time.0).unwrap_or(u32::MAX), text);
}

const OPTIONS: Argument = Argument::Object(Source::Options);
const BODY: Argument = Argument::Object(Source::Body);

fn fail(failure: Failure) -> Event<'static> {
    Event::Failed {
        failure,
        retry_after: None,
    }
}

fn read_retry_after(now: Millis) -> Option<Millis> {
    let text = Argument::Object(Source::Head).member("retryAfter").text()?;
    parse_retry_after(&text, now)
}

/// Reads `Retry-After`, and hands over what it says.
fn say_retry_after(now: Millis) -> Option<Millis> {
    let wait = read_retry_after(now)?;
    say(Text::RetryAfter, 0, &format_integer(wait.0));
    Some(wait)
}

fn refuse(error: &ValidationError) -> CommandNumber {
    let detail = error.rule.detail();
    let lines = [&error.field, detail.as_str(), &error.found];
    say_lines(Text::Refusal, error.rule.number(), &lines);
    CommandNumber::Refuse
}

fn refuse_page(error: &PageError) -> CommandNumber {
    match error {
        PageError::Validation(error) => refuse(error),
        PageError::Decode { at, what } => {
            say_lines(Text::PageRefusal, 0, &[at, what]);
            CommandNumber::RefusePage
        }
    }
}

/// An instant of the host's clock, a positive integer below 2^53.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the clock is a positive integer below 2^53"
)]
const fn from_clock(now: f64) -> Millis {
    Millis(now as u64)
}
