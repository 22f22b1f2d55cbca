//! Exports that wait for the budget.

use quillgate::Millis;
use quillgate_worker::analytics::waiting_exports::{
    RENEWAL_INTERVAL, WaitingExports, WaitingLimits,
};

const LEASE: Millis = Millis::from_seconds(25);
const NOW: Millis = Millis(1_000_000);
const LIMITS: WaitingLimits = WaitingLimits {
    per_caller: 2,
    per_organization: 3,
};

fn hold(exports: &mut WaitingExports, export: &str, caller: &str, now: Millis) -> String {
    match exports.hold(export, caller, LIMITS, now) {
        Ok(()) => "held".to_owned(),
        Err(problem) => format!("{} {}", problem.status, problem.detail),
    }
}

#[test]
fn a_caller_and_the_organization_have_a_limited_number_of_places() {
    let mut exports = WaitingExports::default();
    assert_eq!(hold(&mut exports, "1", "alice", NOW), "held");
    assert_eq!(hold(&mut exports, "2", "alice", NOW), "held");
    let refused = hold(&mut exports, "3", "alice", NOW);
    assert!(refused.starts_with("429 the caller has 2 "), "{refused}");
    assert_eq!(hold(&mut exports, "4", "bob", NOW), "held");
    let refused = hold(&mut exports, "5", "carol", NOW);
    assert!(
        refused.starts_with("429 the organization has 3 "),
        "{refused}"
    );
    assert_eq!(hold(&mut exports, "2", "alice", NOW), "held", "it renews");
}

#[test]
fn a_place_is_free_again_after_its_release_or_its_lease() {
    let mut exports = WaitingExports::default();
    for export in ["1", "2"] {
        assert_eq!(hold(&mut exports, export, "alice", NOW), "held");
    }
    exports.release("1");
    assert_eq!(hold(&mut exports, "3", "alice", NOW), "held");
    let later = NOW.plus(RENEWAL_INTERVAL);
    assert_eq!(hold(&mut exports, "3", "alice", later), "held", "it renews");
    let later = NOW.plus(LEASE);
    assert_eq!(hold(&mut exports, "4", "alice", later), "held");
    assert_ne!(hold(&mut exports, "5", "alice", later), "held");
}
