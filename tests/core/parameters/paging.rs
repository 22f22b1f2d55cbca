//! Validation of limits and offsets.

use quillgate::{Endpoint, ListPageViews, Offset, PageSize, Rule};
use serde_json::json;

use super::{Host, INEXACT_NUMBER, LIMIT, OFFSET, assert_rejected, host, query, rejection};

#[test]
fn a_limit_in_a_url_is_plain_digits_from_1_to_250() {
    for (text, rows) in [("1", 1), ("50", 50), ("250", 250), ("0007", 7)] {
        let list = ListPageViews::parse(&query(&[("limit", text)])).unwrap();
        assert_eq!(list.limit.map(PageSize::get), Some(rows));
    }
    for (text, found) in [
        ("0", "0"),
        ("251", "251"),
        ("9007199254740992", "9007199254740992"),
        ("10abc", "\"10abc\""),
        ("-1", "\"-1\""),
        ("+1", "\"+1\""),
        ("1e2", "\"1e2\""),
        ("10.0", "\"10.0\""),
        ("١", "\"١\""),
        ("", "\"\""),
        ("00000000000000005", "\"00000000000000005\""),
    ] {
        let error = rejection::<ListPageViews>(&query(&[("limit", text)]));
        assert_rejected(
            &error,
            "limit",
            Rule::PAGE_SIZE,
            &format!("limit {LIMIT}, found {found}"),
        );
    }
}

#[test]
fn a_limit_in_json_is_an_integer_from_1_to_250() {
    for (value, rows) in [
        (json!(1), 1),
        (json!(250), 250),
        (json!(10.0), 10),
        (json!(1e2), 100),
    ] {
        let list = ListPageViews::parse(&json!({ "limit": value })).unwrap();
        assert_eq!(list.limit.map(PageSize::get), Some(rows));
    }
    for (value, found) in [
        (json!(0), "0"),
        (json!(251), "251"),
        (json!(-1), "-1"),
        (json!(10.5), INEXACT_NUMBER),
        (json!(9_007_199_254_740_992_u64), INEXACT_NUMBER),
        (json!("50"), "a string"),
        (json!(true), "a boolean"),
        (json!([50]), "an array"),
        (json!({"valueOf": 50}), "an object"),
    ] {
        let error = rejection::<ListPageViews>(&json!({ "limit": value }));
        assert_rejected(
            &error,
            "limit",
            Rule::PAGE_SIZE,
            &format!("limit {LIMIT}, found {found}"),
        );
    }
}

#[test]
fn an_offset_in_a_url_is_plain_digits_up_to_the_maximum_safe_integer() {
    for (text, rows) in [
        ("0", 0),
        ("1", 1),
        ("9007199254740991", 9_007_199_254_740_991),
    ] {
        let list = ListPageViews::parse(&query(&[("offset", text)])).unwrap();
        assert_eq!(list.offset.map(Offset::get), Some(rows), "{text:?}");
    }
    for (text, found) in [
        ("9007199254740992", "9007199254740992"),
        ("-1", "\"-1\""),
        ("10abc", "\"10abc\""),
        ("1e2", "\"1e2\""),
        ("", "\"\""),
        ("90071992547409910", "\"90071992547409910\""),
    ] {
        let error = rejection::<ListPageViews>(&query(&[("offset", text)]));
        assert_rejected(
            &error,
            "offset",
            Rule::OFFSET,
            &format!("offset {OFFSET}, found {found}"),
        );
    }
}

#[test]
fn an_offset_in_json_is_an_integer_up_to_the_maximum_safe_integer() {
    for (value, rows) in [
        (json!(0), 0),
        (json!(-0.0), 0),
        (json!(9_007_199_254_740_991_u64), 9_007_199_254_740_991),
    ] {
        let list = ListPageViews::parse(&json!({ "offset": value })).unwrap();
        assert_eq!(list.offset.map(Offset::get), Some(rows));
    }
    for (value, found) in [
        (json!(-1), "-1"),
        (json!(-9_007_199_254_740_991_i64), "-9007199254740991"),
        (json!(i64::MIN), INEXACT_NUMBER),
        (json!(10.5), INEXACT_NUMBER),
        (json!(-0.5), INEXACT_NUMBER),
        (json!(9_007_199_254_740_992_u64), INEXACT_NUMBER),
        (json!("0"), "a string"),
        (json!(false), "a boolean"),
    ] {
        let error = rejection::<ListPageViews>(&json!({ "offset": value }));
        assert_rejected(
            &error,
            "offset",
            Rule::OFFSET,
            &format!("offset {OFFSET}, found {found}"),
        );
    }
}

#[test]
fn numbers_from_the_host_that_are_not_exact_integers_are_rejected() {
    for number in [
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::MIN_POSITIVE,
        f64::MAX,
    ] {
        let found = INEXACT_NUMBER;
        let error = rejection::<ListPageViews>(&host("limit", Host::Number(number)));
        assert_rejected(
            &error,
            "limit",
            Rule::PAGE_SIZE,
            &format!("limit {LIMIT}, found {found}"),
        );
        let error = rejection::<ListPageViews>(&host("offset", Host::Number(number)));
        assert_rejected(
            &error,
            "offset",
            Rule::OFFSET,
            &format!("offset {OFFSET}, found {found}"),
        );
    }
}

#[test]
fn a_page_number_converts_to_the_offset_after_all_earlier_pages() {
    for (page, size, offset) in [
        (1, 50, 0),
        (2, 50, 50),
        (17, 250, 4000),
        (1 << 53, 1, (1 << 53) - 1),
    ] {
        assert_eq!(
            Offset::of_page(page, size).unwrap().get(),
            offset,
            "{page:?}"
        );
    }
    for page in [0, u64::MAX] {
        let error = Offset::of_page(page, 250).unwrap_err();
        let message = format!("offset {OFFSET}, found a page out of range");
        assert_rejected(&error, "offset", Rule::OFFSET, &message);
    }
    let past = Offset::of_page((1 << 53) + 1, 1).unwrap_err();
    assert_rejected(
        &past,
        "offset",
        Rule::OFFSET,
        &format!("offset {OFFSET}, found 9007199254740992"),
    );
}
