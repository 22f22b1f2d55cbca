#![expect(
    clippy::unwrap_used,
    reason = "a failed unwrap fails the test at its line"
)]

use js_sys::Object;
use wasm_bindgen::JsValue;
use wasm_bindgen_test::wasm_bindgen_test;

use super::*;
use crate::http::response::HeaderFields;
use crate::runtime::tests::{fake_database, property};

const TIMEOUT: Millis = Millis::from_seconds(30);

fn open_budget(rows: &JsValue, exec: &str) -> BudgetStore {
    let limits = Limits::read(&|_| None).unwrap();
    BudgetStore::open(fake_database(rows, exec), limits, TIMEOUT).unwrap()
}

fn reservation(probed: Option<UpstreamBlock>) -> Reservation {
    Reservation {
        id: 1,
        policy: RateLimitPolicy::CreateJob,
        probed,
        fields: HeaderFields::default(),
        left: 0,
    }
}

#[wasm_bindgen_test]
fn a_probe_ends_only_the_block_that_it_probed() {
    // The fake table contains one row: the block. A `DELETE` removes the row if every value of
    // the statement matches.
    let block = Object::new();
    let exec = "(query, ...values) => {
      if (query.startsWith('INSERT OR REPLACE INTO closed')) argument.row = values;
      if (query.startsWith('DELETE FROM closed')) {
        if (values.every((value) => argument.row.includes(value))) argument.row = undefined;
      }
      return { toArray: () => [] };
    }";
    let budget = open_budget(&block, exec);
    let policy = RateLimitPolicy::CreateJob;
    let probed = UpstreamBlock::new(Millis(60_000), Millis(1_000), Millis(0));
    // A 429 in the same millisecond extends the block, and leaves the time of the next probe
    // unchanged.
    let extended = UpstreamBlock {
        until: Millis(90_000),
        ..probed
    };
    for (stored, remains) in [(probed, false), (extended, true)] {
        budget.store_block(policy, stored).unwrap();
        let succeeded = ReservationOutcome::Succeeded;
        budget
            .conclude(&reservation(Some(probed)), succeeded)
            .unwrap();
        assert_eq!(!property(&block, "row").is_undefined(), remains);
    }
}

#[wasm_bindgen_test]
fn a_postponed_reservation_counts_from_the_timeout_after_now() {
    let times = Object::new();
    let exec = "(query, ...values) => {
      if (query.startsWith('UPDATE reservation')) argument[values[1]] = values[0];
      return { toArray: () => [] };
    }";
    let budget = open_budget(&times, exec);
    let earliest = now().plus(TIMEOUT);
    budget.postpone(7).unwrap();
    let at: Millis = serde_wasm_bindgen::from_value(property(&times, "7")).unwrap();
    assert!((earliest..=now().plus(TIMEOUT)).contains(&at));
}

#[wasm_bindgen_test]
fn a_block_is_undone_with_its_transaction() {
    // This database stores nothing, like a database after a rollback.
    let budget = open_budget(&JsValue::NULL, "() => ({ toArray: () => [] })");
    let reservation = reservation(None);
    let blocked = ReservationOutcome::Blocked(Millis::from_seconds(60));
    let undone: HostResult<()> = budget.database.transaction(|| {
        budget.conclude(&reservation, blocked)?;
        Err(HostError::new("a later statement failed"))
    });
    assert!(undone.is_err());
    let health = budget.health(RateLimitPolicy::CreateJob).unwrap();
    assert_eq!(health.blocked_until, None);
}
