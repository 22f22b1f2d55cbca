//! Searches in prompts.

mod turns;

use quillgate::Millis;
use quillgate_worker::jobs::search::{
    BLOCK_ROWS, Candidate, Found, MAX_CANDIDATES, RowRange, Search, Step, block_mark,
    plan_indexing, searched_part,
};

use crate::fixtures::NOW;

const STEPS_PER_REQUEST: usize = 16;

fn range(first: u64, last: u64, backlog: u64) -> RowRange {
    RowRange {
        first,
        last,
        backlog,
    }
}

/// Runs a search to its end. `candidates` returns whether the index proposes a job, and `matches`
/// whether the job matches. Returns the page of matching jobs, and the number of jobs compared in
/// each step.
fn run(
    mut search: Search,
    jobs: RowRange,
    candidates: impl Fn(u64) -> bool,
    matches: impl Fn(u64) -> bool,
) -> (Found, Vec<usize>) {
    let mut compared = Vec::new();
    while let Some(step) = search.next_step() {
        let (below, is_lookup) = (step.below, step.expression.is_some());
        let block = (below - 1) / BLOCK_ROWS;
        let rows: Vec<_> = (jobs.first..below)
            .rev()
            .filter(|row| !is_lookup || (row / BLOCK_ROWS == block && candidates(*row)))
            .filter(|row| !is_lookup || *row > jobs.backlog)
            .take(usize::try_from(MAX_CANDIDATES).unwrap())
            .map(|row| Candidate {
                row,
                is_match: matches(row),
            })
            .collect();
        compared.push(rows.len());
        search.on_examined(&rows);
    }
    (search.finish(), compared)
}

#[test]
fn rare_string_in_216_000_jobs_is_found_with_one_request() {
    let jobs = range(1, 216_000, 0);
    let search = Search::new("needle", jobs, None, 20);
    let (found, compared) = run(search, jobs, |row| row == 7, |row| row == 7);
    let expected = Found {
        rows: vec![7],
        next: None,
    };
    assert_eq!(found, expected);
    assert!(compared.len() <= STEPS_PER_REQUEST);
    assert_eq!(compared.iter().sum::<usize>(), 1);
}

#[test]
fn request_compares_a_bounded_number_of_jobs() {
    for (text, backlog) in [("needle", 0), ("needle", 1_000_000), ("ui", 0)] {
        let jobs = range(1, 1_000_000, backlog);
        let (found, compared) = run(Search::new(text, jobs, None, 20), jobs, |_| true, |_| false);
        let most = STEPS_PER_REQUEST * usize::try_from(MAX_CANDIDATES).unwrap();
        let total: usize = compared.iter().sum();
        assert!(total <= most, "{text}: {total}");
        assert!(compared.len() <= STEPS_PER_REQUEST, "{text}");
        let next = 1_000_001 - u64::try_from(total).unwrap();
        assert_eq!((found.rows, found.next), (vec![], Some(next)), "{text}");
    }
}

#[test]
fn pages_contain_each_match_once_and_in_order() {
    let matches = |row: u64| row.is_multiple_of(1_234);
    for (text, backlog) in [
        ("needle", 0),
        ("needle", 30_000),
        ("needle", 60_000),
        ("ui", 0),
    ] {
        let jobs = range(500, 60_000, backlog);
        let mut all = Vec::new();
        let mut below = None;
        loop {
            let search = Search::new(text, jobs, below, 3);
            let (found, _) = run(search, jobs, |row: u64| row.is_multiple_of(2), matches);
            assert!(found.rows.len() <= 3, "{text} with a backlog of {backlog}");
            all.extend(found.rows);
            below = found.next;
            if below.is_none() {
                break;
            }
        }
        let expected: Vec<_> = (500..=60_000).rev().filter(|row| matches(*row)).collect();
        assert_eq!(all, expected, "{text} with a backlog of {backlog}");
    }
}

#[test]
fn full_last_page_has_no_next_page() {
    let jobs = range(1, 3, 0);
    let (found, _) = run(
        Search::new("needle", jobs, None, 3),
        jobs,
        |_| true,
        |_| true,
    );
    let expected = Found {
        rows: vec![3, 2, 1],
        next: None,
    };
    assert_eq!(found, expected);
}

#[test]
fn lookup_names_one_block_and_quoted_trigrams() {
    let search = Search::new("a\"bc", range(1, 20_000, 0), None, 20);
    let expected = Step {
        below: 20_001,
        expression: Some(format!(
            "\"{}\" AND \"a\"\"b\" AND \"\"\"bc\"",
            block_mark(20_000)
        )),
    };
    assert_eq!(search.next_step(), Some(expected));
}

#[test]
fn lookup_of_a_long_string_has_at_most_eight_trigrams() {
    let text: String = ('a'..='z').cycle().take(200).collect();
    let search = Search::new(&text, range(1, 9, 0), None, 20);
    let expression = search.next_step().unwrap().expression.unwrap();
    assert_eq!(expression.split(" AND ").count(), 9);
    assert!(expression.contains("\"abc\"") && expression.ends_with("\"pqr\""));
}

#[test]
fn indexing_is_not_postponed_by_calls_in_quick_succession() {
    let mut alarm = None;
    let expected = plan_indexing(alarm, NOW);
    for milliseconds in 0..1_000 {
        alarm = Some(plan_indexing(alarm, NOW.plus(Millis(milliseconds))));
        assert_eq!(alarm, Some(expected), "after {milliseconds} ms");
    }
}

#[test]
fn blocks_have_different_marks_of_three_characters() {
    let rows = [0, BLOCK_ROWS, 2 * BLOCK_ROWS, 40_000 * BLOCK_ROWS];
    let marks: std::collections::BTreeSet<_> = rows.map(block_mark).into();
    assert_eq!(marks.len(), rows.len());
    assert!(marks.iter().all(|mark| mark.chars().count() == 3));
    assert_eq!(block_mark(BLOCK_ROWS - 1), block_mark(0));
}

#[test]
fn only_the_first_characters_are_searched() {
    assert_eq!(searched_part("short"), "short");
    assert_eq!(searched_part(&"ä".repeat(5_000)).chars().count(), 4_096);
}
