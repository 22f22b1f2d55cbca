//! Slots that are taken for several requests at once.

use quillgate_worker::budget::{Ask, SharedUse, reserve_ahead};

use super::{ask, claims, used};

#[test]
fn no_more_is_taken_ahead_than_a_small_part_of_what_is_left() {
    for (held, most, expected) in [(0, 100, 6), (0, 4, 4), (36, 100, 4), (67, 100, 2)] {
        let ask = Ask {
            used: vec![used("bob", held, 1)],
            ..ask()
        };
        assert_eq!(reserve_ahead(ask, most).len(), expected, "{held} held");
    }
}

#[test]
fn one_slot_is_asked_for_by_itself() {
    assert!(reserve_ahead(ask(), 1).is_empty());
    let nearly_spent = Ask {
        used: vec![used("bob", 69, 1)],
        ..ask()
    };
    assert!(reserve_ahead(nearly_spent, 100).is_empty());
}

#[test]
fn nothing_is_taken_ahead_while_somebody_waits_or_the_upstream_refuses() {
    let waited_for = Ask {
        claims: vec![claims("bob", 1)],
        ..ask()
    };
    assert!(reserve_ahead(waited_for, 4).is_empty());
    let closed = Ask {
        closed_until: Some(ask().now + 1),
        ..ask()
    };
    assert!(reserve_ahead(closed, 4).is_empty());
}

#[test]
fn each_slot_counts_for_the_next_one() {
    let left = |ask: Ask| {
        let granted = reserve_ahead(ask, 6).into_iter();
        granted.map(|granted| granted.left).collect::<Vec<_>>()
    };
    assert_eq!(left(ask()), [99, 98, 97, 96, 95, 94]);
    let own = Ask {
        used: vec![used("alice", 2, 1)],
        quota: Some(5),
        ..ask()
    };
    assert_eq!(left(own), [97, 96, 95], "the caller's quota");
    let shared = Ask {
        shared: vec![SharedUse {
            most: 10,
            count: 8,
            oldest: None,
        }],
        ..ask()
    };
    assert_eq!(left(shared), [99, 98], "a ceiling shared with others");
}
