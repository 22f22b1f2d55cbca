//! A wait for a job to come to its end.

use std::cell::RefCell;
use std::rc::Rc;

use gloo_net::http::Headers;
use js_sys::Promise;
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::*;

use crate::agent_job::JobStatus;
use crate::error::{DecodeError, ValidationError};
use crate::millis::Millis;
use crate::poll::{Poll, PollStep};
use crate::wasm::call::{CallOptions, Lost, Prepared, Sender, length_of_time, promise, sleep};
use crate::wasm::fault::{self, Plain};
use crate::wasm::host::{self, decode, milliseconds};
use crate::wasm::params::Argument;

#[wasm_bindgen]
extern "C" {
    /// A decoded job, of which only this much is looked at.
    type Job;

    #[wasm_bindgen(method, getter)]
    fn status(this: &Job) -> Option<String>;
}

/// How long a wait may take when nothing else is said: 30 minutes.
const DEFAULT_WAIT: Millis = Millis(30 * 60_000);
/// The least time that the last look gets, however near the deadline is.
const LAST_LOOK: Millis = Millis(1_000);

/// A wait for a job to come to its end, told change by change.
#[wasm_bindgen]
pub struct Watch(Rc<Wait>);

struct Wait {
    call: Prepared,
    sender: Rc<Sender>,
    state: RefCell<State>,
}

struct State {
    poll: Poll,
    /// How long to wait before the next look.
    wait: Option<Millis>,
    /// The job as last seen.
    job: JsValue,
    /// The same as text, to tell a change by.
    text: Option<String>,
    over: bool,
}

impl Watch {
    pub(crate) fn new(
        call: Prepared,
        sender: Rc<Sender>,
        options: &Argument,
    ) -> Result<Self, ValidationError> {
        let timeout = length_of_time(options, "timeout")?.unwrap_or(DEFAULT_WAIT);
        let state = State {
            poll: Poll::new(host::now(), Some(timeout)),
            wait: None,
            job: JsValue::NULL,
            text: None,
            over: false,
        };
        Ok(Self(Rc::new(Wait {
            call,
            sender,
            state: RefCell::new(state),
        })))
    }
}

#[wasm_bindgen]
impl Watch {
    /// Waits for the next change: `{ job, done }`, the first one being the job as it is.
    /// `undefined` after the last.
    pub fn next(&self, options: JsValue) -> Promise {
        let wait = Rc::clone(&self.0);
        promise(async move { wait.next(options).await })
    }

    /// Takes in a job that the server told of by itself: the change as
    /// `{ job, done }`, or `undefined` when it is no news.
    ///
    /// # Errors
    /// A `decode` fault when it is no job.
    pub fn told(&self, job: &JsValue) -> Result<JsValue, JsValue> {
        let job = decode(self.0.call.result, job).map_err(|refusal| {
            let error = DecodeError::new(refusal.at(), refusal.what());
            fault::decode(&error, None, Headers::new().into_raw().into())
        })?;
        let told = self.0.state.borrow_mut().seen(job, None)?;
        Ok(told.unwrap_or_default())
    }

    /// How long it is until the deadline, in milliseconds.
    #[wasm_bindgen(getter)]
    #[must_use]
    pub fn left(&self) -> f64 {
        let left = self.0.state.borrow().poll.time_left(host::now());
        milliseconds(left.unwrap_or_default())
    }

    /// The fault of a wait whose deadline has come.
    #[must_use]
    pub fn expired(&self) -> JsValue {
        self.0.state.borrow().expired()
    }
}

impl Wait {
    async fn next(&self, options: JsValue) -> Result<JsValue, JsValue> {
        loop {
            if self.state.borrow().over {
                return Ok(JsValue::UNDEFINED);
            }
            let options = CallOptions::read(options.clone())?;
            let wait = self.state.borrow_mut().wait.take();
            if let Some(wait) = wait {
                sleep(wait, options.signal()).await?;
            }
            let left = self.state.borrow().poll.time_left(host::now());
            let options = options.within(left.map(|left| left.max(LAST_LOOK)));
            let look = self.sender.attempt(&self.call, &options).await;
            let told = match look {
                Ok(answer) => self.state.borrow_mut().seen(answer.data, answer.hint)?,
                Err(lost) => self.state.borrow_mut().missed(lost)?,
            };
            if let Some(told) = told {
                return Ok(told);
            }
        }
    }
}

impl State {
    /// Takes in a look; what the caller is told of it, if anything.
    fn seen(&mut self, job: JsValue, hint: Option<Millis>) -> Result<Option<JsValue>, JsValue> {
        let status = job.unchecked_ref::<Job>().status().map(JobStatus::from);
        let text = js_sys::JSON::stringify(&job).ok().map(String::from);
        let changed = self.text != text;
        self.text = text;
        self.job = job;
        let step = self
            .poll
            .on_status(status.as_ref(), hint, host::now(), host::random());
        self.over = step == PollStep::Done;
        match step {
            PollStep::Wait(wait) => self.wait = Some(wait),
            PollStep::Done => {}
            PollStep::Expired | PollStep::GiveUp => return Err(self.expired()),
        }
        let told = Plain::new().with("job", &self.job).with("done", self.over);
        Ok((changed || self.over).then(|| told.into()))
    }

    /// Takes in a look that failed.
    fn missed(&mut self, lost: Lost) -> Result<Option<JsValue>, JsValue> {
        if !lost.failure.is_some_and(crate::Failure::is_transient) {
            return Err(lost.fault);
        }
        match self.poll.on_failure(lost.hint, host::now(), host::random()) {
            PollStep::Wait(wait) => {
                self.wait = Some(wait);
                Ok(None)
            }
            PollStep::Expired => Err(self.expired()),
            PollStep::Done | PollStep::GiveUp => Err(lost.fault),
        }
    }

    fn expired(&self) -> JsValue {
        fault::job_wait_timeout(self.job.clone())
    }
}
