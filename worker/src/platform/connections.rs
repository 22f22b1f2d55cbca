//! The connections of a Durable Object: who may use one is decided by [`crate::permits`]; here a
//! request waits for its turn.

use std::cell::RefCell;
use std::rc::Rc;

use js_sys::{Function, Promise};
use quillgate::Millis;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen_futures::JsFuture;

use super::error::HostResult;
use crate::permits::{Admission, Lane, Permits, busy_problem};
use crate::problem::Problem;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_name = setTimeout)]
    pub fn set_timeout(callback: &Function, milliseconds: f64) -> JsValue;
    #[wasm_bindgen(js_name = clearTimeout)]
    pub fn clear_timeout(timer: &JsValue);
}

/// Lets the runtime do what it has put off until nothing else runs, such as sending a request.
///
/// # Errors
/// None: a timer is never rejected.
pub async fn yield_now() -> HostResult<()> {
    let promise = Promise::new(&mut |resolve, _| {
        set_timeout(&resolve, 0.0);
    });
    JsFuture::from(promise).await?;
    Ok(())
}

/// The connections of an object.
#[derive(Clone, Default)]
pub struct Connections(Rc<RefCell<Queue>>);

#[derive(Default)]
struct Queue {
    permits: Permits,
    /// What wakes each request that waits.
    waiting: Vec<(u64, Function)>,
}

/// The right to one connection, until it is dropped.
pub struct Permit {
    connections: Connections,
    lane: Lane,
    /// Whether it had to be waited for.
    pub has_waited: bool,
}

impl Connections {
    /// Waits for a connection, but not for longer than `time`.
    ///
    /// # Errors
    /// 503 `gateway-busy`: nothing may be sent.
    pub async fn acquire(&self, lane: Lane, time: Millis) -> Result<Permit, Problem> {
        let admission = self.0.borrow_mut().permits.ask(lane);
        let has_waited = match admission {
            Admission::Granted => false,
            Admission::Refused(problem) => return Err(problem),
            Admission::Queued(number) => {
                self.wait(number, time).await?;
                true
            }
        };
        Ok(Permit {
            connections: self.clone(),
            lane,
            has_waited,
        })
    }

    /// Takes a connection that is free.
    pub fn take(&self, lane: Lane) -> Option<Permit> {
        let is_taken = self.0.borrow_mut().permits.take(lane);
        is_taken.then(|| Permit {
            connections: self.clone(),
            lane,
            has_waited: false,
        })
    }

    #[expect(clippy::cast_precision_loss, reason = "minutes at most")]
    async fn wait(&self, number: u64, time: Millis) -> Result<(), Problem> {
        let mut timer = JsValue::UNDEFINED;
        let promise = Promise::new(&mut |resolve, _| {
            timer = set_timeout(&resolve, time.0 as f64);
            self.0.borrow_mut().waiting.push((number, resolve));
        });
        // Only the permits know which of the two was first.
        JsFuture::from(promise).await.map_err(|_| busy_problem())?;
        clear_timeout(&timer);
        let mut queue = self.0.borrow_mut();
        queue.waiting.retain(|(own, _)| *own != number);
        queue.permits.stop_waiting(number)
    }

    fn release(&self, lane: Lane) {
        let mut queue = self.0.borrow_mut();
        let next = queue.permits.release(lane);
        let waiting = queue.waiting.iter().find(|(own, _)| Some(*own) == next);
        if let Some((_, wake)) = waiting {
            // It cannot throw: it resolves a promise.
            drop(wake.call0(&JsValue::UNDEFINED));
        }
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.connections.release(self.lane);
    }
}
