//! The order of searches. One caller cannot delay the others.

use quillgate_worker::jobs::search::turns::Turns;

#[test]
fn search_of_another_caller_waits_for_one_search() {
    let mut turns = Turns::default();
    assert!(turns.begin());
    for number in 0..100 {
        assert!(!turns.begin());
        turns.wait("ana", ("ana", number));
    }
    turns.wait("ben", ("ben", 0));
    turns.wait("cy", ("cy", 0));
    let order: Vec<_> = std::iter::from_fn(|| turns.finish()).collect();
    assert_eq!(order.len(), 102);
    assert_eq!(
        order[..4],
        [("ana", 99), ("ben", 0), ("cy", 0), ("ana", 98)]
    );
    assert!(turns.begin());
}

#[test]
fn newest_search_of_a_caller_comes_first() {
    let mut turns = Turns::default();
    assert!(turns.begin());
    for typed in ["d", "do", "doc"] {
        turns.wait("ana", typed);
    }
    assert_eq!(turns.finish(), Some("doc"));
    turns.wait("ana", "docs");
    assert_eq!(
        [turns.finish(), turns.finish(), turns.finish()],
        [Some("docs"), Some("do"), Some("d")]
    );
    assert_eq!(turns.finish(), None);
    assert_eq!(turns.finish(), None);
}
