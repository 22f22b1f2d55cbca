//! Fair shares: slots that are owed to other callers.

use proptest::prelude::*;
use quillgate_worker::budget::{Ask, Verdict, reserve};

use super::{HOUR, ask, claims, expect_grant, expect_refusal, retry_after, used};

#[test]
fn slot_is_owed_to_others_by_shares_and_claims() {
    // Alice requests the last of 10 slots.
    for (what, alice, others, waiting, given) in [
        ("no caller is waiting", 9, vec![], vec![], true),
        (
            "no caller is waiting, another holds some",
            5,
            vec![("bob", 4)],
            vec![],
            true,
        ),
        (
            "bob waits and holds nothing",
            9,
            vec![],
            vec![("bob", 1)],
            false,
        ),
        (
            "bob waits and holds less than half",
            5,
            vec![("bob", 4)],
            vec![("bob", 1)],
            false,
        ),
        (
            "bob waits and has his half",
            4,
            vec![("bob", 5)],
            vec![("bob", 9)],
            true,
        ),
        (
            "bob waits and has more",
            3,
            vec![("bob", 6)],
            vec![("bob", 9)],
            true,
        ),
        ("alice waits herself", 9, vec![], vec![("alice", 9)], true),
        (
            "both wait",
            9,
            vec![],
            vec![("alice", 9), ("bob", 1)],
            false,
        ),
        (
            "alice is below her share",
            3,
            vec![("bob", 6)],
            vec![("carol", 9)],
            false,
        ),
        (
            "alice is below her share of 3",
            2,
            vec![("bob", 7)],
            vec![("carol", 9)],
            true,
        ),
        (
            "an empty claim counts for nothing",
            9,
            vec![],
            vec![("bob", 0)],
            true,
        ),
    ] {
        let ask = Ask {
            limit: 10,
            used: [("alice", alice)]
                .iter()
                .chain(&others)
                .map(|(who, count)| used(who, *count, 1))
                .collect(),
            claims: waiting
                .iter()
                .map(|(who, count)| claims(who, *count))
                .collect(),
            ..ask()
        };
        assert_eq!(
            matches!(reserve(&ask), Verdict::Granted(_)),
            given,
            "{what}"
        );
    }
}

#[test]
fn claims_never_hold_more_than_the_share() {
    // Two callers are active, so Bob is owed 5 of 10 after any number of rejections.
    for (held, given) in [(4, true), (5, false), (9, false)] {
        let ask = Ask {
            limit: 10,
            used: vec![used("alice", held, 1)],
            claims: vec![claims("bob", 1000)],
            ..ask()
        };
        assert_eq!(
            matches!(reserve(&ask), Verdict::Granted(_)),
            given,
            "{held}"
        );
    }
}

#[test]
fn remainder_slot_is_free_for_any_caller() {
    for (alice, bob, given) in [(5, 5, true), (5, 0, true), (6, 0, false), (6, 4, false)] {
        let mut ask = Ask {
            limit: 11,
            used: vec![used("alice", alice, 1)],
            claims: vec![claims("bob", 9)],
            ..ask()
        };
        if bob > 0 {
            ask.used.push(used("bob", bob, 1));
        }
        let found = matches!(reserve(&ask), Verdict::Granted(_));
        assert_eq!(found, given, "{alice} {bob}");
    }
}

#[test]
fn share_is_one_with_more_callers_than_slots() {
    let ask = Ask {
        limit: 2,
        used: vec![used("alice", 1, 1)],
        claims: ["bob", "carol", "dan"].map(|who| claims(who, 1)).into(),
        ..ask()
    };
    assert_eq!(retry_after(&expect_refusal(&ask)), 3600);
    for caller in ["bob", "erin"] {
        expect_grant(&Ask {
            caller: caller.to_owned(),
            ..ask.clone()
        });
    }
}

proptest! {
    #[test]
    fn sole_caller_can_always_use_the_whole_limit(
        limit in 1..50_u32,
        ages in prop::collection::vec(0..HOUR, 0..50),
        own_claims in 0..50_u32,
    ) {
        let held = u32::try_from(ages.len()).unwrap().min(limit);
        let mut ask = Ask { limit, claims: vec![claims("alice", own_claims)], ..ask() };
        let oldest = ages.iter().take(held as usize).max().copied().unwrap_or_default();
        for count in held..limit {
            if count > 0 {
                ask.used = vec![used("alice", count, oldest)];
            }
            prop_assert_eq!(expect_grant(&ask).left, limit - count - 1);
        }
        ask.used = vec![used("alice", limit, oldest)];
        expect_refusal(&ask);
    }
}
