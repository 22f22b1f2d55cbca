use std::cell::RefCell;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use js_sys::Promise;
use wasm_bindgen::JsValue;
use wasm_bindgen_futures::{JsFuture, future_to_promise};
use worker::State;

use crate::runtime::error::{HostError, HostResult};

/// Boxed, so that `future_to_promise` is instantiated only once. Each instance takes two kilobytes.
type BoxedFuture = Pin<Box<dyn Future<Output = Result<JsValue, JsValue>>>>;

pub fn into_promise(work: impl Future<Output = HostResult<JsValue>> + 'static) -> Promise {
    let work: BoxedFuture = Box::pin(async move { Ok(work.await?) });
    future_to_promise(work)
}

/// Returns the value of a future that finishes without waiting, otherwise a promise. Promises and
/// the guard of the entry cost more than a response from a cache.
pub fn run_until_wait(
    work: impl Future<Output = HostResult<JsValue>> + 'static,
) -> Result<JsValue, JsValue> {
    let mut work: BoxedFuture = Box::pin(async move { Ok(work.await?) });
    // The promise polls the future again, with its own waker.
    match work.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(result) => result,
        Poll::Pending => Ok(future_to_promise(work).into()),
    }
}

#[derive(Clone)]
pub struct SharedTask<T> {
    promise: Promise,
    result: Rc<RefCell<Option<T>>>,
}

impl<T: Clone + 'static> SharedTask<T> {
    /// Starts a task that finishes even if no caller is waiting.
    pub fn spawn(state: &State, work: impl Future<Output = T> + 'static) -> HostResult<Self> {
        let result = Rc::new(RefCell::new(None));
        let slot = Rc::clone(&result);
        let promise = into_promise(async move {
            let value = work.await;
            *slot.borrow_mut() = Some(value);
            Ok(JsValue::UNDEFINED)
        });
        state.as_raw().wait_until(&promise)?;
        Ok(Self { promise, result })
    }

    pub fn is_running(&self) -> bool {
        self.result.borrow().is_none()
    }

    pub async fn wait(self) -> HostResult<T> {
        JsFuture::from(self.promise).await?;
        let result = self.result.borrow().clone();
        result.ok_or_else(|| HostError::new("the work ended without a result"))
    }
}
