//! Which page comes next.

use quillgate::paginate::MOST_EMPTY_PAGES;
use quillgate::{Error, Offset, OffsetPages, PageSize, Rule};

fn offset(rows: u64) -> Offset {
    Offset::new(rows).unwrap()
}

fn run(size: u64) -> OffsetPages {
    OffsetPages::new(Offset::default(), PageSize::new(size).unwrap())
}

#[track_caller]
fn assert_decode_error(result: Result<(), Error>, at: &str, what: &str) {
    match result {
        Err(Error::Decode(error)) => {
            assert_eq!((error.at.as_str(), error.what.as_str()), (at, what));
        }
        other => panic!("no decode error but {other:?}"),
    }
}

#[test]
fn a_run_begins_at_the_offset_it_is_given() {
    for start in [0, 1, 999, (1 << 53) - 1] {
        let pages = OffsetPages::new(offset(start), PageSize::MAX);
        assert_eq!(pages.next(), Some(offset(start)));
        assert_eq!(pages.size(), PageSize::MAX);
    }
}

#[test]
fn the_next_page_begins_a_whole_page_later_even_after_a_short_one() {
    let mut pages = OffsetPages::new(offset(7), PageSize::new(50).unwrap());
    for (rows, next) in [(50, 57), (1, 107), (0, 157), (49, 207)] {
        pages.advance(rows, true).unwrap();
        assert_eq!(pages.next(), Some(offset(next)));
    }
}

#[test]
fn asking_for_the_next_page_twice_does_not_move_the_run_on() {
    let pages = run(50);
    assert_eq!(pages.next(), pages.next());
    assert_eq!(pages, run(50));
}

#[test]
fn a_page_without_more_ends_the_run_however_many_rows_it_has() {
    for rows in [0, 1, 50] {
        let mut pages = run(50);
        pages.advance(rows, false).unwrap();
        assert_eq!(pages.next(), None);
    }
}

#[test]
fn a_run_that_is_over_stays_over() {
    let mut pages = run(50);
    pages.advance(50, false).unwrap();
    let over = pages.clone();
    for (rows, has_more) in [(50, true), (0, true), (251, true), (0, false)] {
        pages.advance(rows, has_more).unwrap();
        assert_eq!(pages, over);
    }
}

#[test]
fn more_rows_than_were_asked_for_are_an_error_that_ends_the_run() {
    for has_more in [true, false] {
        let mut pages = run(50);
        let result = pages.advance(51, has_more);
        assert_decode_error(result, "views", "has more rows than were asked for");
        assert_eq!(pages.next(), None);
        pages.advance(50, true).unwrap();
        assert_eq!(pages.next(), None);
    }
}

#[test]
fn empty_pages_are_gone_through_up_to_the_fifth_in_a_row() {
    assert_eq!(MOST_EMPTY_PAGES, 5);
    let mut pages = run(50);
    for page in 1..5 {
        pages.advance(0, true).unwrap();
        assert_eq!(pages.next(), Some(offset(page * 50)));
    }
    let what = "says that there is more, after 5 empty pages in a row";
    assert_decode_error(pages.advance(0, true), "hasMore", what);
    assert_eq!(pages.next(), None);
}

#[test]
fn a_fifth_empty_page_without_more_is_an_end_like_any_other() {
    let mut pages = run(50);
    for _ in 0..4 {
        pages.advance(0, true).unwrap();
    }
    pages.advance(0, false).unwrap();
    assert_eq!(pages.next(), None);
}

#[test]
fn a_page_with_rows_starts_the_count_of_empty_pages_again() {
    let mut pages = run(50);
    for _ in 0..10 {
        for _ in 0..4 {
            pages.advance(0, true).unwrap();
        }
        pages.advance(1, true).unwrap();
    }
    assert_eq!(pages.next(), Some(offset(50 * 50)));
}

#[test]
fn a_run_past_the_last_countable_row_is_an_error_that_ends_it() {
    let mut pages = OffsetPages::new(offset((1 << 53) - 250), PageSize::MAX);
    match pages.advance(250, true) {
        Err(Error::Validation(error)) => {
            assert_eq!((error.field.as_ref(), error.rule), ("offset", Rule::Offset));
        }
        other => panic!("no validation error but {other:?}"),
    }
    assert_eq!(pages.next(), None);
}

#[test]
fn the_last_countable_row_can_be_the_last_page() {
    let mut pages = OffsetPages::new(offset((1 << 53) - 2), PageSize::new(1).unwrap());
    pages.advance(1, true).unwrap();
    assert_eq!(pages.next(), Some(offset((1 << 53) - 1)));
    pages.advance(1, false).unwrap();
    assert_eq!(pages.next(), None);
}

#[test]
fn four_thousand_rows_take_sixteen_pages_of_the_largest_size() {
    let mut pages = run(250);
    let mut requests = 0;
    while let Some(at) = pages.next() {
        requests += 1;
        pages.advance(250, at.get() + 250 < 4000).unwrap();
    }
    assert_eq!(requests, 16);
}
