use std::cell::RefCell;
use std::collections::BTreeMap;
use std::pin::Pin;

use quillgate::Millis;
use wasm_bindgen::JsValue;
use wasm_bindgen_futures::JsFuture;
use worker::worker_sys::Context;

use crate::runtime::context::now;
use crate::runtime::error::HostResult;
use crate::runtime::task::into_promise;
use crate::runtime::timer::{Wake, wait};

/// The runtime can cancel a fetch, which then never ends.
pub const MAX_FETCH_TIME: Millis = Millis::from_seconds(20);

struct Fetch {
    began: Millis,
    waiting: Vec<Wake>,
}

thread_local! {
    static FETCHES: RefCell<BTreeMap<String, Fetch>> = const { RefCell::new(BTreeMap::new()) };
}

/// `fetch` stores its own result.
pub async fn share_fetch(
    execution: &Context,
    name: String,
    fetch: Pin<Box<dyn Future<Output = ()>>>,
) -> HostResult<()> {
    let began = now();
    let is_running = FETCHES.with_borrow_mut(|all| {
        all.retain(|_, fetch| began.since(fetch.began) < MAX_FETCH_TIME);
        all.contains_key(&name)
    });
    if is_running {
        // Not the other request's promise, which never settles if the runtime cancels that request.
        wait(MAX_FETCH_TIME, |wake| {
            FETCHES.with_borrow_mut(|all| {
                if let Some(fetch) = all.get_mut(&name) {
                    fetch.waiting.push(wake);
                }
            });
        })
        .await;
        return Ok(());
    }
    let waiting = Vec::new();
    FETCHES.with_borrow_mut(|all| all.insert(name.clone(), Fetch { began, waiting }));
    let promise = into_promise(async move {
        fetch.await;
        let ended = FETCHES.with_borrow_mut(|all| all.remove(&name));
        for wake in ended.into_iter().flat_map(|fetch| fetch.waiting) {
            wake.wake();
        }
        Ok(JsValue::UNDEFINED)
    });
    // Other requests may wait for the fetch after this client disconnects.
    execution.wait_until(&promise)?;
    JsFuture::from(promise).await?;
    Ok(())
}

#[cfg(test)]
mod tests;
