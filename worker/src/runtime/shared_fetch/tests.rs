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
