//! The steps of a task, from its call to its result.

use quillgate::pages::Pages;
use quillgate::task::{Command, DEFAULT_WATCH, Event, Reason};
use quillgate::{
    Call, CallOptions, Failure, JobStatus, Millis, Operation, PageError, PageInfo, Task,
};
use serde_json::{Value, json};

mod list;
mod once;
mod properties;
mod watch;

const START: Millis = Millis(1_700_000_000_000);
const BUSY: Failure = Failure::Status(503);
const FAILED: Command = Command::Fail(Reason::Failure);
/// The first attempt of a call without options.
const FIRST_SEND: Command = Command::Send(Millis(60_000));

fn send(millis: u64) -> Command {
    Command::Send(Millis(millis))
}

fn retry(millis: u64) -> Command {
    Command::Retry(Millis(millis))
}

fn wait(millis: u64) -> Command {
    Command::Wait(Millis(millis))
}

fn call(operation: Operation, params: &Value) -> Call {
    Call::parse(operation.declaration(), params).unwrap()
}

fn get() -> Call {
    call(Operation::GetAgentJob, &json!({ "id": "j1" }))
}

fn create() -> Call {
    call(Operation::CreateAgentJob, &json!({ "prompt": "x" }))
}

fn deduplicated() -> CallOptions {
    CallOptions {
        is_deduplicated: true,
        ..CallOptions::default()
    }
}

/// A task with the clock of its driver.
struct Driver {
    task: Task,
    now: Millis,
}

impl Driver {
    fn new(task: Task) -> Self {
        Self { task, now: START }
    }

    fn step(&mut self, event: Event<'_>) -> Command {
        self.task.step(event, self.now, 0.0)
    }

    fn next(&mut self) -> Command {
        self.step(Event::Next(CallOptions::default()))
    }

    fn next_with(&mut self, options: CallOptions) -> Command {
        self.step(Event::Next(options))
    }

    fn fail(&mut self, failure: Failure) -> Command {
        self.step(Event::Failed {
            failure,
            retry_after: None,
        })
    }

    fn fail_with(&mut self, failure: Failure, retry_after: u64) -> Command {
        self.step(Event::Failed {
            failure,
            retry_after: Some(Millis(retry_after)),
        })
    }

    /// Advances the clock.
    fn pass(&mut self, millis: u64) -> &mut Self {
        self.now = self.now.plus(Millis(millis));
        self
    }

    /// Advances the clock and ends a wait or a retry delay.
    fn end_wait(&mut self, millis: u64) -> Command {
        self.pass(millis).step(Event::Waited)
    }
}
