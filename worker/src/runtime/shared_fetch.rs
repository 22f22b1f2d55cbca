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
mod tests {
    use std::cell::Cell;
    use std::rc::Rc;

    use futures_util::future::join;
    use wasm_bindgen_test::wasm_bindgen_test;

    use super::*;
    use crate::runtime::tests::run_js;
    use crate::runtime::timer::yield_now;

    #[wasm_bindgen_test]
    async fn concurrent_requests_share_a_fetch_until_it_ends() {
        let script = "return { waitUntil() {} };";
        let execution: Context = run_js(&JsValue::NULL, script);
        let count = Rc::new(Cell::new(0));
        let share = |name: &str| {
            let count = Rc::clone(&count);
            let fetch = Box::pin(async move {
                yield_now().await;
                count.set(count.get() + 1);
            });
            share_fetch(&execution, name.to_owned(), fetch)
        };
        let (first, second) = join(share("a"), share("a")).await;
        assert_eq!((first, second, count.get()), (Ok(()), Ok(()), 1));
        let (first, other) = join(share("a"), share("b")).await;
        assert_eq!((first, other, count.get()), (Ok(()), Ok(()), 3));
    }

    #[wasm_bindgen_test]
    async fn an_abandoned_fetch_is_repeated() {
        let script = "return { waitUntil() { throw new Error('cancelled'); } };";
        let execution: Context = run_js(&JsValue::NULL, script);
        let abandoned = Fetch {
            began: now().since(MAX_FETCH_TIME),
            waiting: Vec::new(),
        };
        FETCHES.with_borrow_mut(|all| all.insert("c".to_owned(), abandoned));
        let fetch = Box::pin(std::future::pending());
        // Only a new fetch is registered with the runtime.
        assert!(
            share_fetch(&execution, "c".to_owned(), fetch)
                .await
                .is_err()
        );
    }
}
