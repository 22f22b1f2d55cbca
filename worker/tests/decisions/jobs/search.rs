//! Searches in prompts.

use quillgate_worker::jobs::records::Position;
use quillgate_worker::jobs::search::{Found, MAX_SCANNED, SEARCH_BATCH, Scan, searched_part};

const fn position(row: u64) -> Position {
    Position { created: 7, row }
}

/// Scans the jobs 1 to `count` below `before` for one page. Returns the page and the number of
/// scanned jobs.
fn scan(
    count: u64,
    before: Position,
    limit: usize,
    is_match: impl Fn(u64) -> bool,
) -> (Found, usize) {
    let mut scan = Scan::new(before, limit, SEARCH_BATCH);
    let mut scanned = 0;
    while let Some(before) = scan.next_batch() {
        let batch: Vec<_> = (1..=count.min(before.row - 1))
            .rev()
            .take(SEARCH_BATCH)
            .map(|row| (position(row), is_match(row)))
            .collect();
        scanned += batch.len();
        scan.on_batch(&batch);
    }
    (scan.finish(), scanned)
}

#[test]
fn request_scans_a_bounded_number_of_jobs() {
    let (found, scanned) = scan(1_000_000, Position::NEWEST, 20, |_| false);
    let expected = Found {
        jobs: vec![],
        next: Some(position(1_000_001 - MAX_SCANNED as u64)),
    };
    assert_eq!((found, scanned), (expected, MAX_SCANNED));
}

#[test]
fn full_page_ends_the_scan() {
    let (found, scanned) = scan(1_000_000, Position::NEWEST, 3, |_| true);
    assert_eq!(found.next, Some(position(999_998)));
    assert_eq!((found.jobs.len(), scanned), (3, SEARCH_BATCH));
}

#[test]
fn pages_contain_each_match_once_and_in_order() {
    for every in [1, 2, 99, 100, 101, 1_234, 1_999, 2_000, 2_001, 7_000] {
        let is_match = |row: u64| row.is_multiple_of(every);
        let mut before = Some(Position::NEWEST);
        let mut all = Vec::new();
        while let Some(start) = before {
            let (found, _) = scan(6_000, start, 30, is_match);
            assert!(found.jobs.len() <= 30, "every {every}");
            all.extend(found.jobs);
            before = found.next;
        }
        let expected: Vec<_> = (1..=6_000).rev().filter(|row| is_match(*row)).collect();
        assert_eq!(
            all,
            expected.into_iter().map(position).collect::<Vec<_>>(),
            "every {every}"
        );
    }
}

#[test]
fn full_last_page_has_no_next_page() {
    let (found, _) = scan(3, Position::NEWEST, 3, |_| true);
    let expected = Found {
        jobs: [3, 2, 1].map(position).to_vec(),
        next: None,
    };
    assert_eq!(found, expected);
}

#[test]
fn only_the_first_characters_are_searched() {
    assert_eq!(searched_part("short"), "short");
    assert_eq!(searched_part(&"ä".repeat(5_000)).chars().count(), 4_096);
}
