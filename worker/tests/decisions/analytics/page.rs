use quillgate::Millis;
use quillgate::pages::Totals;
use quillgate_worker::analytics::page::{
    CacheStatus, FetchReason, Freshness, PAGE_ROWS, PageHead, PageSlice, ReportHead, STALE_FOR,
    has_more, is_no_cache, is_outdated, matches_etag, page_key, slice_pages,
};

use crate::fixtures::{DAY, NOW, Predicate, at};

fn slice(number: u64, from: u64, to: u64) -> PageSlice {
    PageSlice { number, from, to }
}

/// Returns a page of 250 rows. The page was fetched at [`NOW`], and is fresh for five minutes.
fn page() -> PageHead {
    PageHead {
        tag: "a-tag".to_owned(),
        rows: PAGE_ROWS,
        has_more: true,
        totals: Some(Totals::of("1")),
        freshness: Freshness {
            fetched: NOW,
            until: at(300),
        },
    }
}

#[test]
fn rows_map_to_the_pages_that_contain_them() {
    for (offset, limit, expected) in [
        (0, 250, vec![slice(0, 0, 250)]),
        (0, 50, vec![slice(0, 0, 50)]),
        (50, 50, vec![slice(0, 50, 100)]),
        (200, 50, vec![slice(0, 200, 250)]),
        (249, 1, vec![slice(0, 249, 250)]),
        (250, 1, vec![slice(1, 0, 1)]),
        (250, 250, vec![slice(1, 0, 250)]),
        (249, 2, vec![slice(0, 249, 250), slice(1, 0, 1)]),
        (225, 50, vec![slice(0, 225, 250), slice(1, 0, 25)]),
        (1, 250, vec![slice(0, 1, 250), slice(1, 0, 1)]),
        (25_000, 25, vec![slice(100, 0, 25)]),
        (7, 0, vec![]),
    ] {
        assert_eq!(slice_pages(offset, limit), expected, "{offset} {limit}");
    }
}

#[test]
fn more_rows_can_be_on_the_page_or_after_it() {
    for (rows, page_has_more, to, expected) in [
        (250, true, 250, true),
        (250, true, 50, true),
        (250, false, 250, false),
        (250, false, 249, true),
        (30, false, 50, false),
        (30, false, 30, false),
        (30, false, 29, true),
        (0, false, 250, false),
        (0, true, 250, true),
    ] {
        let page = PageHead {
            rows,
            has_more: page_has_more,
            ..page()
        };
        assert_eq!(has_more(&page, &slice(0, 0, to)), expected, "{rows} {to}");
    }
}

#[test]
fn expired_page_stays_usable_for_one_day() {
    assert_eq!(STALE_FOR, Millis::from_seconds(DAY));
    for (now, fresh, usable) in [
        (NOW, true, true),
        (Millis(at(300).0 - 1), true, true),
        (at(300), false, true),
        (Millis(at(300 + DAY).0 - 1), false, true),
        (at(300 + DAY), false, false),
    ] {
        let freshness = page().freshness;
        assert_eq!(freshness.is_fresh(now), fresh, "{now:?}");
        assert_eq!(now < freshness.usable_until(), usable, "{now:?}");
    }
}

#[test]
fn cache_status_follows_rfc_9211() {
    use FetchReason::{Missing, Request, Stale};
    let failed = |reason, status, ttl| CacheStatus::UpstreamFailed {
        reason,
        status,
        ttl,
    };
    let (hit, spent) = (
        CacheStatus::Hit { ttl: 7 },
        CacheStatus::BudgetSpent { ttl: -61 },
    );
    let (fetched, ttl) = (CacheStatus::Fetched, Some(-3));
    for (status, expected) in [
        (hit, "hit; ttl=7"),
        (spent, "hit; ttl=-61; detail=quota-exceeded"),
        (fetched(Missing), "fwd=uri-miss; stored"),
        (fetched(Stale), "fwd=stale; stored"),
        (fetched(Request), "fwd=request; stored"),
        (CacheStatus::Collapsed(Stale), "fwd=stale; collapsed"),
        (fetched(Missing).collapsed(), "fwd=uri-miss; collapsed"),
        (
            failed(Stale, Some(503), ttl),
            "fwd=stale; fwd-status=503; ttl=-3; detail=stale",
        ),
        (failed(Stale, None, ttl), "fwd=stale; ttl=-3; detail=stale"),
        (failed(Request, None, ttl), "fwd=request; ttl=-3"),
        (failed(Stale, None, None), "fwd=stale; detail=stale"),
    ] {
        assert_eq!(status.describe(), expected);
    }
}

#[test]
fn page_has_a_remaining_freshness_until_it_is_stale() {
    for (now, ttl) in [
        (NOW, 300),
        (Millis(NOW.0 + 1), 299),
        (at(299), 1),
        (Millis(at(300).0 - 1), 0),
        (at(300), 0),
        (Millis(at(300).0 + 1), -1),
        (at(361), -61),
    ] {
        assert_eq!(page().freshness.ttl(now), ttl, "{now:?}");
    }
    let failed =
        |now, status| CacheStatus::upstream_failed(page().freshness, status, now).describe();
    let expected = "fwd=stale; fwd-status=502; ttl=-1; detail=stale";
    assert_eq!(failed(at(301), Some(502)), expected);
    assert_eq!(failed(at(1), None), "fwd=request; ttl=299");
}

#[test]
fn cache_status_is_that_of_the_last_of_the_worst_pages() {
    let hit = |ttl| CacheStatus::Hit { ttl };
    let fetched = CacheStatus::Fetched(FetchReason::Missing);
    let refreshed = CacheStatus::upstream_failed(page().freshness, None, NOW);
    let stale = CacheStatus::upstream_failed(page().freshness, None, at(300));
    let spent = CacheStatus::BudgetSpent { ttl: 1 };
    let worst = |first: &CacheStatus, last: &CacheStatus| {
        CacheStatus::worst(vec![first.clone(), last.clone()]).unwrap()
    };
    for (better, worse) in [
        (hit(1), fetched.clone()),
        (hit(1), refreshed.clone()),
        (hit(1), stale.clone()),
        (hit(1), spent.clone()),
        (fetched.clone(), stale.clone()),
        (refreshed.clone(), spent.clone()),
    ] {
        assert_eq!(worst(&better, &worse), worse);
        assert_eq!(worst(&worse, &better), worse);
    }
    for (first, last) in [(hit(1), hit(2)), (fetched, refreshed), (stale, spent)] {
        assert_eq!(worst(&first, &last), last);
        assert_eq!(worst(&last, &first), first);
    }
}

fn views_head(pages: &[(PageHead, PageSlice)]) -> Option<ReportHead> {
    let pages: Vec<_> = pages.iter().map(|(page, slice)| (page, *slice)).collect();
    ReportHead::from_pages(&pages)
}

fn with_totals(totals: Option<&str>) -> PageHead {
    PageHead {
        totals: totals.map(Totals::of),
        ..page()
    }
}

#[test]
fn etag_depends_on_pages_and_rows() {
    for (pages, etag) in [
        (&[("abc", slice(0, 0, 250))][..], "\"abc\""),
        (&[("abc", slice(3, 0, 250))], "\"abc\""),
        (&[("abc", slice(0, 0, 50))], "\"abc.0.50\""),
        (&[("abc", slice(0, 50, 250))], "\"abc.50.250\""),
        (
            &[("abc", slice(0, 225, 250)), ("d-_", slice(1, 0, 25))],
            "\"abc.225.250+d-_.0.25\"",
        ),
        (
            &[("a", slice(0, 0, 250)), ("b", slice(1, 0, 250))],
            "\"a+b\"",
        ),
    ] {
        let tagged = |(tag, slice): &(&str, PageSlice)| {
            let tag = (*tag).to_owned();
            (PageHead { tag, ..page() }, *slice)
        };
        let pages: Vec<_> = pages.iter().map(tagged).collect();
        assert_eq!(views_head(&pages).unwrap().etag, etag);
    }
    assert_eq!(views_head(&[]), None);
}

#[test]
fn a_report_of_pages_with_other_totals_is_marked_as_mixed() {
    let (grown, unknown) = (with_totals(Some("2")), with_totals(None));
    for (second, is_mixed) in [(page(), false), (unknown, false), (grown, true)] {
        let head = views_head(&[(page(), slice(0, 225, 250)), (second, slice(1, 0, 25))]).unwrap();
        let headers = head.headers("hit; ttl=300", NOW);
        let cache = headers.get("cache-status").unwrap();
        assert_eq!(cache.ends_with("; mixed"), is_mixed, "{cache}");
        let cache_control = headers.get("cache-control").unwrap();
        assert_eq!(cache_control == "private, no-cache", is_mixed);
    }
}

#[test]
fn a_later_page_with_other_totals_outdates_the_pages_of_its_list() {
    let mut latest = with_totals(Some("2"));
    latest.freshness.fetched = at(1);
    let list = "/views?dateTo=2024-01-01";
    let key = page_key(list, 7);
    assert!(is_outdated(&key, &page(), list, &latest));
    assert!(!is_outdated(&key, &page(), "/views", &latest), "other list");
    assert!(!is_outdated(&key, &latest, list, &page()), "fetched later");
    let same = with_totals(Some("2"));
    assert!(!is_outdated(&key, &same, list, &latest), "equal totals");
    let unknown = PageHead {
        totals: None,
        ..latest
    };
    assert!(!is_outdated(&key, &page(), list, &unknown), "no totals");
}

#[test]
fn response_is_as_old_as_its_oldest_page_and_fresh_while_all_pages_are() {
    let older = PageHead {
        freshness: Freshness {
            fetched: Millis(NOW.0 - 5_000),
            until: at(400),
        },
        ..page()
    };
    let pages = [(older, slice(0, 0, 250)), (page(), slice(1, 0, 1))];
    let freshness = views_head(&pages).unwrap().freshness;
    assert_eq!(freshness.fetched, Millis(NOW.0 - 5_000));
    assert_eq!(freshness.until, at(300));
    assert!(freshness.is_fresh(at(299)) && !freshness.is_fresh(at(300)));
    let ttl = |now| freshness.ttl(now);
    assert_eq!((ttl(NOW), ttl(at(299)), ttl(at(301))), (300, 1, -1));
    assert_eq!(ttl(Millis(at(300).0 + 1)), -1);
}

#[test]
fn response_has_freshness_header_fields() {
    let head = views_head(&[(page(), slice(0, 0, 50))]).unwrap();
    for (now, age, cache_control) in [
        (NOW, "0", "private, max-age=300"),
        (Millis(NOW.0 + 1_999), "1", "private, max-age=300"),
        (Millis(at(300).0 - 1), "299", "private, max-age=300"),
        (at(300), "300", "private, no-cache"),
        (at(9_000), "9000", "private, no-cache"),
        // The clock moved backwards.
        (Millis(NOW.0 - 1), "0", "private, max-age=300"),
    ] {
        let headers = head.headers("hit; ttl=7", now);
        let expected = [
            ("age", age),
            ("cache-control", cache_control),
            ("cache-status", "quillgate; hit; ttl=7"),
            ("content-type", "application/json"),
            ("etag", "\"a-tag.0.50\""),
            ("vary", "Origin, Authorization"),
        ];
        assert_eq!(headers.iter().collect::<Vec<_>>(), expected, "{now:?}");
    }
}

#[test]
fn etags_are_compared_weakly() {
    let etag = "\"abc.0.50\"";
    let matches = |value: &str| matches_etag(Some(value), etag);
    matches.accepts(&[
        "\"abc.0.50\"",
        "W/\"abc.0.50\"",
        "\"x\", \"abc.0.50\"",
        "W/\"x\" ,W/\"abc.0.50\",",
        "*",
    ]);
    matches.rejects(&[
        "",
        "abc.0.50",
        "\"ABC.0.50\"",
        "w/\"abc.0.50\"",
        "\"abc.0.50\" \"x\"",
        "*, \"x\"",
    ]);
    assert!(!matches_etag(None, etag));
}

#[test]
fn no_cache_is_found_among_other_directives() {
    let finds = |value: &str| is_no_cache(Some(value));
    finds.accepts(&[
        "no-cache",
        "No-Cache",
        "no-cache,max-age=0",
        "\tno-cache\t,",
    ]);
    finds.rejects(&[
        "",
        "max-age=0",
        "no-cache=\"set-cookie\"",
        "x-no-cache",
        "\"no-cache\"",
    ]);
    assert!(!is_no_cache(None));
}
