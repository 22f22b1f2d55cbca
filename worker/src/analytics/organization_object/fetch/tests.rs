#![expect(
    clippy::unwrap_used,
    reason = "a test that unwraps a missing value fails right there"
)]

use futures_util::future::join;
use js_sys::{Array, Function};
use quillgate::{Millis, Operation, RateLimitPolicy};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_test::wasm_bindgen_test;
use worker::worker_sys::DurableObjectState;
use worker::{Env, State};

use super::*;
use crate::http::problem_kind::ProblemKind;
use crate::upstream::permits::ConnectionClass;
use crate::upstream::request::RequestIds;

/// Its storage cannot change the time of a reservation. Also returns the list of ids of the
/// deleted reservations.
fn open_organization() -> (Organization, Array) {
    let script = "let id = 0;
      const deleted = [];
      const exec = (query, ...values) => {
        if (query.startsWith('UPDATE reservation')) throw new Error('no storage');
        if (query === 'DELETE FROM reservation WHERE id = ?') deleted.push(values[0]);
        const rows = query.startsWith('INSERT INTO reservation') ? [{ id: (id += 1) }] : [];
        return { toArray: () => rows };
      };
      const storage = { sql: { exec }, transactionSync: (run) => run() };
      const env = {
        ADMIN_API_KEY: 'mint_key',
        ACCESS_TOKEN_SECRET: 'a-secret-of-the-gateway-of-40-characters',
      };
      return { state: { storage }, env, deleted };";
    let host = Function::new_no_args(script).call0(&JsValue::UNDEFINED);
    let property = |name| js_sys::Reflect::get(host.as_ref().unwrap(), &JsValue::from(name));
    let state = property("state").unwrap();
    let state = State::from(state.unchecked_into::<DurableObjectState>());
    let env: Env = property("env").unwrap().unchecked_into();
    let deleted = property("deleted").unwrap().unchecked_into();
    (Organization::open(state, &env).unwrap(), deleted)
}

fn budget_request() -> BudgetRequest {
    BudgetRequest {
        policy: RateLimitPolicy::Analytics,
        caller: "alice".to_owned(),
        quota: None,
        ceilings: Vec::new(),
    }
}

#[wasm_bindgen_test]
fn a_retry_that_is_not_sent_leaves_the_reservation_of_the_first_attempt() {
    let (organization, _) = open_organization();
    let budget = budget_request();
    let Ok(Ok(first)) = organization.reserve(&budget) else {
        panic!("no reservation");
    };
    let reservation = RefCell::new(first.clone());
    assert!(!organization.pay_again(&budget, &reservation));
    assert_eq!(reservation.borrow().id, first.id);
}

#[wasm_bindgen_test]
async fn a_page_that_cannot_be_postponed_releases_its_reservation() {
    let (organization, deleted) = open_organization();
    let budget = budget_request();
    let Ok(Ok(reservation)) = organization.reserve(&budget) else {
        panic!("no reservation");
    };
    let mut permits = Vec::new();
    for _ in 0..ConnectionClass::ReadPage.limit() {
        let acquired = organization
            .connections
            .acquire(ConnectionClass::ReadPage, Millis::from_seconds(60));
        permits.push(acquired.await.ok());
    }
    let request = UpstreamRequest {
        operation: Operation::ListPageViews,
        ids: &RequestIds::begin("c0ffee".to_owned(), "acme"),
        target: "/v1/analytics/acme/views",
        body: None,
    };
    let sending = organization.send_page(&budget, &request, reservation);
    // The request is queued first. The permits then become free.
    let (sent, ()) = join(sending, async { drop(permits) }).await;
    let (exchange, reservation) = sent.ok().unwrap();
    let failure = exchange.outcome.err().unwrap();
    assert_eq!(failure.problem.kind, ProblemKind::ObjectUnavailable);
    assert_eq!(deleted.at(-1).as_f64(), Some(1.0));
    assert_eq!(reservation.id, 1);
}
