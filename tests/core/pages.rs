use quillgate::error::Error;
use quillgate::pages::Pages;
use quillgate::pages::{MAX_EMPTY_PAGES, Totals};
use quillgate::{Millis, Operation, PageError, PageInfo, Rule};
use serde_json::{Value, json};

use crate::call::call;

fn views(params: &Value) -> Pages {
    Pages::new(call(Operation::ListPageViews, params))
}

pub fn page(rows: u64, has_more: bool) -> PageInfo<'static> {
    PageInfo {
        rows,
        has_more: Some(has_more),
        ..PageInfo::default()
    }
}

fn next(pages: &Pages) -> Option<u64> {
    pages.next().and_then(|call| call.integer("offset"))
}

#[track_caller]
fn assert_decode_error(result: Result<(), PageError>, at: &str, what: &str) {
    match result.map_err(Error::from) {
        Err(Error::Decode(error)) => {
            assert_eq!((error.at.as_str(), error.what.as_str()), (at, what));
        }
        other => panic!("expected a decode error, found {other:?}"),
    }
}

#[test]
fn paging_begins_at_the_given_offset() {
    for start in [0, 1, 999, (1 << 53) - 1] {
        let pages = views(&json!({ "offset": start, "limit": 250 }));
        assert_eq!(next(&pages), Some(start));
        assert_eq!(pages.next().unwrap().integer("limit"), Some(250));
    }
}

#[test]
fn the_offset_advances_by_the_limit_even_after_a_short_page() {
    let mut pages = views(&json!({ "offset": 7, "limit": 50 }));
    for (rows, offset) in [(50, 57), (1, 107), (0, 157), (49, 207)] {
        pages.advance(&page(rows, true)).unwrap();
        assert_eq!(next(&pages), Some(offset));
    }
}

#[test]
fn a_page_without_more_ends_paging_whatever_its_row_count() {
    for rows in [0, 1, 50] {
        let mut pages = views(&json!({}));
        pages.advance(&page(rows, false)).unwrap();
        assert_eq!(pages.next(), None);
    }
}

#[test]
fn more_rows_than_requested_are_an_error_that_ends_paging() {
    for has_more in [true, false] {
        let mut pages = views(&json!({ "limit": 50 }));
        let result = pages.advance(&page(51, has_more));
        assert_decode_error(result, "views", "has more rows than requested");
        assert_eq!(pages.next(), None);
        pages.advance(&page(50, true)).unwrap();
        assert_eq!(pages.next(), None);
    }
}

#[test]
fn the_fifth_empty_page_in_a_row_is_an_error() {
    assert_eq!(MAX_EMPTY_PAGES, 5);
    let mut pages = views(&json!({}));
    for number in 1..5 {
        pages.advance(&page(0, true)).unwrap();
        assert_eq!(next(&pages), Some(number * 50));
    }
    let what = "is set after 5 empty pages in a row";
    assert_decode_error(pages.advance(&page(0, true)), "hasMore", what);
    assert_eq!(pages.next(), None);
}

#[test]
fn a_list_of_jobs_continues_after_any_number_of_empty_pages() {
    for filter in [
        json!({ "text": "a" }),
        json!({ "author": "a" }),
        json!({ "state": "failed" }),
    ] {
        let mut pages = jobs(&filter);
        for number in 0..100 {
            let cursor = number.to_string();
            pages.advance(&job_page(0, Some(&cursor))).unwrap();
            assert!(pages.next().is_some());
        }
        pages.advance(&PageInfo::default()).unwrap();
        assert_eq!(pages.next(), None);
    }
}

#[test]
fn a_fifth_empty_page_without_more_ends_paging_normally() {
    let mut pages = views(&json!({}));
    for _ in 0..4 {
        pages.advance(&page(0, true)).unwrap();
    }
    pages.advance(&page(0, false)).unwrap();
    assert_eq!(pages.next(), None);
}

#[test]
fn a_page_with_rows_resets_the_count_of_empty_pages() {
    let mut pages = views(&json!({}));
    for _ in 0..10 {
        for _ in 0..4 {
            pages.advance(&page(0, true)).unwrap();
        }
        pages.advance(&page(1, true)).unwrap();
    }
    assert_eq!(next(&pages), Some(50 * 50));
}

#[test]
fn paging_beyond_the_maximum_offset_is_an_error_that_ends_paging() {
    let mut pages = views(&json!({ "offset": (1_u64 << 53) - 250, "limit": 250 }));
    match pages.advance(&page(250, true)).map_err(Error::from) {
        Err(Error::Validation(error)) => {
            assert_eq!((error.field.as_ref(), error.rule), ("offset", Rule::OFFSET));
        }
        other => panic!("expected a validation error, found {other:?}"),
    }
    assert_eq!(pages.next(), None);
}

#[test]
fn paging_through_everything_requests_maximum_pages_of_one_range() {
    let list = call(Operation::ListPageViews, &json!({}));
    let mut pages = Pages::through_everything(list, Millis(1_704_067_200_000)).unwrap();
    let mut requests = 0;
    while let Some(call) = pages.next() {
        assert_eq!(call.text("dateTo"), Some("2024-01-01T00:00:00.000Z"));
        assert_eq!(call.integer("limit"), Some(250));
        requests += 1;
        let has_more = call.integer("offset").unwrap() + 250 < 4000;
        pages.advance(&page(250, has_more)).unwrap();
    }
    assert_eq!(requests, 16);
}

fn jobs(params: &Value) -> Pages {
    Pages::new(call(Operation::ListAgentJobs, params))
}

pub fn job_page(rows: u64, next_cursor: Option<&str>) -> PageInfo<'_> {
    PageInfo {
        rows,
        next_cursor,
        ..PageInfo::default()
    }
}

fn cursor(pages: &Pages) -> Option<&str> {
    pages.next().and_then(|call| call.text("cursor"))
}

#[test]
fn each_page_by_cursor_begins_at_the_cursor_of_the_previous_page() {
    let mut pages = jobs(&json!({ "limit": 2 }));
    assert!(pages.next().is_some() && cursor(&pages).is_none());
    pages.advance(&job_page(2, Some("b"))).unwrap();
    assert_eq!(cursor(&pages), Some("b"));
    assert_eq!(pages.next().unwrap().integer("limit"), Some(2));
    pages.advance(&job_page(2, Some("c"))).unwrap();
    assert_eq!(cursor(&pages), Some("c"));
    pages.advance(&job_page(1, None)).unwrap();
    assert_eq!(pages.next(), None);
}

#[test]
fn a_repeated_cursor_is_an_error_that_ends_paging() {
    for trail in [vec!["a"], vec!["b", "b"], vec!["b", "c", "d", "b"]] {
        let mut pages = jobs(&json!({ "cursor": "a" }));
        let (last, before) = trail.split_last().unwrap();
        for cursor in before {
            pages.advance(&job_page(2, Some(cursor))).unwrap();
        }
        let what = format!("repeats an earlier cursor: {last:?}");
        assert_decode_error(pages.advance(&job_page(2, Some(last))), "nextCursor", &what);
        assert_eq!(pages.next(), None);
    }
}

#[test]
fn a_cursor_may_be_a_url_or_a_query() {
    let feedback = "https://api.mintlify.com/v1/analytics/a/feedback?limit=9&cursor=b%2Fc%3D";
    let empty = "https://api.mintlify.com/?cursor=";
    for (sent, read) in [
        (feedback, "b/c="),
        ("/v1/analytics/a/feedback?cursor=b+c#end", "b+c"),
        ("?cursor=%E2%82%AC&dateFrom=2024-01-01", "€"),
        ("cursor=b&limit=9", "b"),
        // Not a URL with a cursor, or not decodable.
        ("bm90IGE/dXJs==", "bm90IGE/dXJs=="),
        (empty, empty),
        ("?cursor=%FF", "?cursor=%FF"),
        ("?cursor=100%", "100%"),
    ] {
        let mut pages = jobs(&json!({}));
        pages.advance(&job_page(2, Some(sent))).unwrap();
        assert_eq!(cursor(&pages), Some(read), "{sent}");
        let from_url = jobs(&json!({ "cursor": sent }));
        assert_eq!(cursor(&from_url), Some(read), "{sent}");
    }
    let ulid = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
    let list = json!({ "cursor": format!("/v1/x?cursor={ulid}") });
    let turns = Pages::new(call(Operation::ListConversations, &list));
    assert_eq!(cursor(&turns), Some(ulid));
}

#[test]
fn a_cursor_repeated_in_another_url_is_an_error() {
    let mut pages = jobs(&json!({}));
    pages.advance(&job_page(2, Some("b"))).unwrap();
    let long = "x".repeat(40);
    let result = pages.advance(&job_page(2, Some("/jobs?cursor=b")));
    assert_decode_error(result, "nextCursor", "repeats an earlier cursor: \"b\"");
    let mut pages = jobs(&json!({ "cursor": long }));
    let what = format!("repeats an earlier cursor: \"{}…\"", &long[..32]);
    let result = pages.advance(&job_page(2, Some(&long)));
    assert_decode_error(result, "nextCursor", &what);
}

#[test]
fn paging_through_everything_requests_pages_of_the_maximum_size() {
    for (operation, limit) in [
        (Operation::ListPageViews, 250),
        (Operation::ListFeedback, 100),
        (Operation::ListSearches, 100),
        (Operation::ListConversations, 1000),
    ] {
        let pages = Pages::through_everything(call(operation, &json!({})), Millis(0)).unwrap();
        assert_eq!(pages.next().unwrap().integer("limit"), Some(limit));
    }
}

#[test]
fn a_position_has_only_a_limit_that_the_caller_set() {
    for (params, limit) in [
        (json!({}), None),
        (json!({ "page": 2 }), None),
        (json!({ "limit": 50 }), Some(50)),
        (json!({ "page": 2, "limit": 50 }), Some(50)),
    ] {
        let list = || call(Operation::ListPageViews, &params);
        let all = Pages::through_everything(list(), Millis(0)).unwrap();
        let sent = all.next().unwrap().integer("limit");
        assert_eq!(sent, limit.or(Some(250)), "{params}");
        for mut pages in [Pages::new(list()), all] {
            for _ in 0..2 {
                let position = pages.position().unwrap();
                assert_eq!(position.integer("limit"), limit, "{params}");
                let rows = pages.next().unwrap().integer("limit").unwrap();
                pages.advance(&page(rows, true)).unwrap();
            }
        }
    }
    let list = call(Operation::ListFeedback, &json!({}));
    let pages = Pages::through_everything(list, Millis(0)).unwrap();
    assert_eq!(pages.position().unwrap().text("limit"), None);
}

#[test]
fn has_more_false_ends_paging_despite_a_cursor() {
    let mut pages = jobs(&json!({}));
    let last = PageInfo {
        has_more: Some(false),
        ..job_page(2, Some("b"))
    };
    pages.advance(&last).unwrap();
    assert_eq!(pages.next(), None);
}

#[test]
fn has_more_without_a_cursor_is_an_error() {
    let mut pages = jobs(&json!({}));
    let lost = PageInfo {
        has_more: Some(true),
        ..job_page(2, None)
    };
    let what = "is missing although hasMore is true";
    assert_decode_error(pages.advance(&lost), "nextCursor", what);
    assert_eq!(pages.next(), None);
}

#[test]
fn pages_whose_totals_change_are_mixed() {
    let with = |totals: Option<&str>, has_more| PageInfo {
        totals: totals.map(Totals::of),
        ..page(50, has_more)
    };
    for (totals, is_mixed) in [
        ([Some("1"), Some("1"), Some("1")], false),
        ([None, Some("1"), None], false),
        ([Some("1"), Some("2"), Some("1")], true),
        ([None, Some("1"), Some("2")], true),
    ] {
        let mut pages = views(&json!({}));
        for (totals, has_more) in totals.into_iter().zip([true, true, false]) {
            pages.advance(&with(totals, has_more)).unwrap();
        }
        assert_eq!(pages.is_mixed(), is_mixed, "{totals:?}");
    }
}
